"""Beam search through CTranslate2, several times as fast on CPU as `generate` at equal output."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import ctranslate2

from augury.decoding.search import Hypothesis, Sources
from augury.decoding.settings import Decoding

Device = Literal["cpu", "cuda"]
BATCH_TOKENS = 2048  # that are decoded together, padding included


class CTranslateDecoder:
    """A model in CTranslate2's format, ready to translate ids to ids."""

    def __init__(
        self,
        directory: str | Path,
        never: Collection[int] = (),
        first: Sequence[int] = (),
        *,
        threads: int = 1,
        device: Device = "cpu",
    ):
        """Load what `to_ctranslate2` wrote.

        The pad and the ids of `never` are not produced; all hypotheses begin with those of `first`.
        On a CPU, each of `threads` decodes batches of its own, which is faster than sharing one.
        """
        directory = Path(directory)
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        vocabulary = (directory / "shared_vocabulary.json").read_text(encoding="utf-8")
        self._vocabulary: list[str] = json.loads(vocabulary)
        self._ids = {subword: index for index, subword in enumerate(self._vocabulary)}
        self._eos: str = config["eos_token"]
        self._first = self._subwords(first)
        self._never = [[config["pad_token"]], *(self._subwords([index]) for index in never)]
        self._translator = ctranslate2.Translator(
            str(directory),
            device=device,
            compute_type="float32",
            inter_threads=threads if device == "cpu" else 1,
            intra_threads=1,
        )

    def search(self, sources: Sources, decoding: Decoding) -> list[Hypothesis]:
        """Return the best hypothesis of each source.

        Sources are ids without the end of sentence, which is added, and no longer than the model's
        positions; a leading tag is one of the ids. An empty source has the empty hypothesis.
        """
        results = self._translator.translate_batch(
            [self._subwords(source) for source in sources],
            target_prefix=[self._first] * len(sources) if self._first else None,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            beam_size=decoding.beam,
            length_penalty=decoding.length_penalty,
            min_decoding_length=len(self._first) + 1,  # no hypothesis is empty
            max_decoding_length=decoding.max_length,
            max_input_length=0,  # otherwise longer sources are cut silently
            suppress_sequences=self._never,
            # Without it, some versions leave it out of the length that scores are divided by.
            return_end_token=True,
        )
        return [self._hypothesis(result.hypotheses[0]) for result in results]

    def _subwords(self, ids: Sequence[int]) -> list[str]:
        return [self._vocabulary[index] for index in ids]

    def _hypothesis(self, subwords: list[str]) -> Hypothesis:
        end = -1 if subwords and subwords[-1] == self._eos else len(subwords)
        return tuple(self._ids[subword] for subword in subwords[:end])
