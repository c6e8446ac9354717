"""Beam search through CTranslate2, several times as fast on CPU as `generate` at equal output."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import ctranslate2

from augury.core.errors import UserError
from augury.decoding.search import Hypothesis, check_lengths
from augury.decoding.settings import Decoding

Device = Literal["cpu", "cuda"]


class CTranslateDecoder:
    """A model in CTranslate2's format, ready to translate ids to ids."""

    def __init__(self, directory: str | Path, *, threads: int = 1, device: Device = "cpu"):
        """Load what `to_ctranslate2` wrote; UserError where there is none.

        On a CPU, each of `threads` decodes batches of its own, which is faster than sharing one.
        """
        directory = Path(directory)
        file = directory / "config.json"
        config = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        if not ctranslate2.contains_model(str(directory)) or "max_positions" not in config:
            raise UserError(
                f"'{directory}' holds no model written by to_ctranslate2: export one there first"
            )
        vocabulary = (directory / "shared_vocabulary.json").read_text(encoding="utf-8")
        self._vocabulary: list[str] = json.loads(vocabulary)
        self._ids = {subword: index for index, subword in enumerate(self._vocabulary)}
        self._eos: str = config["eos_token"]
        self._pad: str = config["pad_token"]
        self._positions: int = config["max_positions"]
        self._translator = ctranslate2.Translator(
            str(directory),
            device=device,
            compute_type="float32",
            inter_threads=threads if device == "cpu" else 1,
            intra_threads=1,
        )

    def n_best(
        self,
        sources: Sequence[Sequence[int]],
        decoding: Decoding,
        suppress: Collection[int] = (),
        count: int = 1,
        prefix: Sequence[int] = (),
    ) -> list[list[Hypothesis]]:
        """Return the `count` best hypotheses of each source, at most `decoding.beam`, best first.

        Sources are ids without the end of sentence, which is added; a leading tag is one of the
        ids. An empty source has the empty hypothesis. The pad and the ids of
        `suppress` are never produced; all hypotheses begin with those of `prefix`.
        """
        assert count <= decoding.beam
        check_lengths(sources, decoding, self._positions)
        results = self._translator.translate_batch(
            [self._subwords(source) for source in sources],
            target_prefix=[self._subwords(prefix)] * len(sources) if prefix else None,
            max_batch_size=decoding.batch_tokens,
            batch_type="tokens",
            beam_size=decoding.beam,
            num_hypotheses=count,
            length_penalty=decoding.length_penalty,
            min_decoding_length=len(prefix) + 1,  # no hypothesis is empty
            max_decoding_length=decoding.max_length,
            max_input_length=0,  # otherwise longer sources are cut silently
            suppress_sequences=[[self._pad], *(self._subwords([index]) for index in suppress)],
            # Without it, some versions leave it out of the length that scores are divided by.
            return_end_token=True,
        )
        return [list(map(self._hypothesis, result.hypotheses)) for result in results]

    def _subwords(self, ids: Sequence[int]) -> list[str]:
        return [self._vocabulary[index] for index in ids]

    def _hypothesis(self, subwords: list[str]) -> Hypothesis:
        end = -1 if subwords and subwords[-1] == self._eos else len(subwords)
        return tuple(self._ids[subword] for subword in subwords[:end])
