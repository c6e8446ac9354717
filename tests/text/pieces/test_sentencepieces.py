from __future__ import annotations

from collections.abc import Iterator

import pytest
from sentencepiece import SentencePieceProcessor

from augury.text.pieces.sentencepieces import encode, learn, pieces


def model(texts: list[str], size: int, character_coverage: float = 1.0) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_proto=learn(texts, size, character_coverage))


def test_the_pieces_are_the_merges_by_frequency_then_the_characters() -> None:
    assert pieces(model(["abcab"], 8)) == ["ab", "abc", "▁abc", "▁abcab", "a", "b", "c", "▁"]


def test_texts_are_read_once_and_their_error_comes_through() -> None:
    class Damaged(OSError):
        pass

    read = []

    def texts() -> Iterator[str]:
        for text in ["ab", "cd"]:
            read.append(text)
            yield text
        raise Damaged("shard")

    with pytest.raises(Damaged, match="shard"):
        learn(texts(), 8)
    assert read == ["ab", "cd"]


@pytest.mark.parametrize("text", ["é" * 5000 + " q", "q ▅ é"])
def test_long_texts_and_texts_with_the_reserved_character_are_not_skipped(text: str) -> None:
    assert {"é", "q"} <= set(pieces(model(["ab ab", text], 8)))


def test_coverage_below_one_leaves_the_rarest_characters_unknown() -> None:
    texts = ["ab" * 200, "q"]
    ids, _ = encode(model(texts, 8), ["q"])
    assert 0 not in ids.tolist()
    ids, _ = encode(model(texts, 8, 0.99), ["q"])
    assert 0 in ids.tolist()
