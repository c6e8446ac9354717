from __future__ import annotations

import pytest
from sentencepiece import SentencePieceProcessor

from augury.text.pieces.sentencepieces import learn, pieces


def model(texts: list[str], size: int, character_coverage: float = 1.0) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_proto=learn(texts, size, character_coverage))


def test_the_pieces_are_the_merges_by_frequency_then_the_characters() -> None:
    assert pieces(model(["abcab"], 8)) == ["ab", "abc", "▁abc", "▁abcab", "a", "b", "c", "▁"]


@pytest.mark.parametrize("text", ["é" * 5000 + " q", "q ▅ é"])
def test_long_texts_and_texts_with_the_reserved_character_are_not_skipped(text: str) -> None:
    assert {"é", "q"} <= set(pieces(model(["ab ab", text], 8)))
