"""BPE models of sentencepiece that change no text and skip no text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from augury.text.vocabulary_settings import SPACE

# Sentencepiece skips every training text that holds one. As the name of the unknown piece it leaves `<unk>`, written
# out in a text, to be ordinary.
UNCOVERED = "▅"
"""What sentencepiece writes for characters that it does not cover (U+2585): no piece has it."""

_SETTINGS: dict[str, Any] = {
    "model_type": "bpe",
    # Folding (the default, nmt_nfkc: `ª` to `a`) and squeezing of spaces break the bijection of a cipher.
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
    "max_sentence_length": 2**30,  # bytes, the largest allowed; longer texts would be skipped
    "num_threads": 16,  # changes no piece, but is written into the model: a constant keeps its bytes equal
    "minloglevel": 2,
}


class SizeError(ValueError):
    """No model of this size can be learned from the text; `limit` is the nearest size that can."""

    def __init__(self, limit: int, too_large: bool):
        super().__init__(f"at {'most' if too_large else 'least'} {limit} pieces")
        self.limit, self.too_large = limit, too_large


def learn(texts: Iterable[str], size: int, character_coverage: float = 1.0) -> bytes:
    """Learn a model of exactly `size` pieces, the unknown piece (id 0) not counted, from one pass over `texts`.

    The bytes depend on the arguments alone, and not on the order of the texts. Raises SizeError, and whatever
    `texts` raises.
    """
    failures: list[BaseException] = []

    def passing() -> Iterator[str]:
        try:
            for text in texts:
                yield text.replace(UNCOVERED, " ")
        except BaseException as error:  # sentencepiece would turn it into a RuntimeError of its own
            failures.append(error)
            raise

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=passing(),
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


def characters(model: bytes) -> int:
    """Return the number of pieces of one character, which a model of any size has."""
    return sum(_is_character(piece) for piece in _parsed(model).pieces[1:])


def truncated(model: bytes, size: int) -> bytes:
    """Return the model of `size` pieces that the same text gives, from a larger one of `learn`.

    BPE merges are learned one after the other: a smaller model has the first of them, and the same characters.
    """
    whole = _parsed(model)
    unknown, learned = whole.pieces[0], whole.pieces[1:]
    single = [piece for piece in learned if _is_character(piece)]
    merges = [piece for piece in learned if not _is_character(piece)]
    assert len(single) <= size <= len(learned)
    pieces = [unknown, *merges[: size - len(single)], *single]
    del whole.pieces[:]
    whole.pieces.extend(pieces)
    whole.trainer_spec.vocab_size = size + 1
    return bytes(whole.SerializeToString())


def _parsed(model: bytes) -> ModelProto:
    parsed = ModelProto()
    parsed.ParseFromString(model)
    return parsed


def _is_character(piece: ModelProto.SentencePiece) -> bool:
    return len(piece.piece) == 1


def pieces(model: SentencePieceProcessor) -> list[str]:
    """Return the pieces in the order of their ids, which start at 1 (0 is the unknown piece)."""
    return list(model.id_to_piece(list(range(1, model.get_piece_size()))))


def encode(
    model: SentencePieceProcessor, texts: Sequence[str], num_threads: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the ids of all texts end to end, unknown is 0, and the n + 1 offsets between which each text lies."""
    rows = model.encode(list(texts), num_threads=num_threads)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.fromiter(chain.from_iterable(rows), np.int32, offsets[-1]), offsets


def join(row: Iterable[str]) -> str:
    """Return the text whose pieces, written as they are, make up `row`."""
    return "".join(row).removeprefix(SPACE).replace(SPACE, " ")
