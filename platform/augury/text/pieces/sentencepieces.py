"""Lossless BPE models of sentencepiece, which neither normalise nor skip text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers.models import BPE

from augury.text.pieces.settings import SPACE

# Sentencepiece skips training texts with this character. As the unknown piece, it lets `<unk>` be
# ordinary text.
UNCOVERED = "▅"
"""Sentencepiece's symbol for characters that are not covered (U+2585), which is in no piece."""

_SETTINGS: dict[str, Any] = {
    "model_type": "bpe",
    # The default normalisation (nmt_nfkc: `ª` to `a`) and merging of spaces are not invertible.
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "add_dummy_prefix": True,
    "split_by_unicode_script": True,
    "byte_fallback": False,
    "unk_id": 0,
    "unk_piece": UNCOVERED,
    "bos_id": -1,
    "eos_id": -1,
    "pad_id": -1,
    "max_sentence_length": 2**30,  # maximum in bytes; longer texts would be skipped
    "num_threads": 16,  # written to the model, whose bytes must be reproducible
    "minloglevel": 2,
}


class SizeError(ValueError):
    """The text does not allow a model of the given size; `limit` is the nearest possible size."""

    def __init__(self, limit: int, too_large: bool):
        super().__init__(f"at {'most' if too_large else 'least'} {limit} pieces")
        self.limit, self.too_large = limit, too_large


def learn(texts: Iterable[str], size: int, character_coverage: float = 1.0) -> bytes:
    """Train a model with exactly `size` pieces, not counting the unknown piece (id 0), in one pass
    over `texts`.

    The bytes of the model are reproducible and do not depend on the order of texts. Raises
    SizeError, and the exceptions of `texts`.
    """
    failures: list[BaseException] = []

    def sentences() -> Iterator[str]:
        try:
            for text in texts:
                yield text.replace(UNCOVERED, " ")
        except BaseException as error:  # sentencepiece would replace it by a RuntimeError
            failures.append(error)
            raise

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=sentences(),
            model_writer=model,
            vocab_size=size + 1,
            character_coverage=character_coverage,
            **_SETTINGS,
        )
    except RuntimeError as error:
        if failures:
            raise failures[0] from None
        if match := re.search(r"Vocabulary size too high .* value <= (\d+)", str(error)):
            raise SizeError(int(match[1]) - 1, too_large=True) from error
        if match := re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error)):
            raise SizeError(int(match[1]) - 1, too_large=False) from error
        raise
    return model.getvalue()


def load(model: bytes) -> SentencePieceProcessor:
    """Return a model that encodes text."""
    return SentencePieceProcessor(model_proto=model)


def pieces(model: SentencePieceProcessor) -> list[str]:
    """Return the pieces in the order of their ids, from 1 (0 is the unknown piece)."""
    return list(model.id_to_piece(list(range(1, model.get_piece_size()))))


def merges(pieces: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the merges of a model by priority: all splits of the first piece, then of the next."""
    vocabulary = set(pieces)
    for piece in pieces:
        for position in range(1, len(piece)):
            if piece[:position] in vocabulary and piece[position:] in vocabulary:
                yield piece[:position], piece[position:]


def bpe(learned: Sequence[str], ids: Mapping[str, int], unknown: str) -> BPE:
    """Return the model of `tokenizers` with the pieces of one, which segments text alike."""
    return BPE(dict(ids), list(merges(learned)), unk_token=unknown, fuse_unk=True)


def encode(
    model: SentencePieceProcessor, texts: Sequence[str]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the concatenated ids of all texts, with 0 for unknown, and their n + 1 offsets."""
    rows = model.encode(list(texts), num_threads=1)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.fromiter(chain.from_iterable(rows), np.int32, offsets[-1]), offsets


def join(row: Iterable[str]) -> str:
    """Return the text of a row of pieces."""
    return "".join(row).removeprefix(SPACE).replace(SPACE, " ")
