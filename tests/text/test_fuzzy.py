"""Similar sentences: golden similarities, and all that a comparison of all with all finds."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from augury.text.fuzzy import FuzzyIndex, Limit, Norm

GOLDEN = [
    ("i love this movie so much", "i love this film so much", "0.8333", "0.8333", "0.8333"),
    ("i love this movie so much", "i love this movie", "0.5000", "0.6667", "0.6667"),
    ("i love this movie so much", "so much this i love movie", "0.1667", "0.1667", "1.0000"),
    ("i love this film so much", "i love this movie", "0.2500", "0.5000", "0.5000"),
]
"""Two sentences, 1 - ED/min, 1 - ED/max, and the share of common tokens."""


@pytest.mark.parametrize(("first", "second", "shorter", "longer", "common"), GOLDEN)
def test_golden_similarities(
    first: str, second: str, shorter: str, longer: str, common: str
) -> None:
    """A threshold just below a similarity is reached, and one just above it is not."""
    index, query = FuzzyIndex([first.split()]), [second.split()]
    for norm, similarity in (("min", shorter), ("max", longer)):
        below = float(similarity) - 0.0001
        assert len(index.similar(query, Limit(below, norm)).queries) == 1
        assert not len(index.similar(query, Limit(below + 0.0002, norm)).queries)
    pairs, shares = index.overlapping(query, 0.4)
    assert [f"{share:.4f}" for share in shares] == [common]


def test_a_threshold_is_taken_as_it_is_written() -> None:
    """In floating point, 10 * (1 - 0.7) is more than 3."""
    assert [Limit(0.7, "min").edits(10, 12), Limit(0.7, "max").edits(8, 10)] == [2, 3]


def brute_force(
    sentences: list[list[str]], queries: list[list[str]], limit: Limit
) -> set[tuple[int, int]]:
    """All pairs, each compared."""
    return {
        (number, place)
        for number, query in enumerate(queries)
        for place, sentence in enumerate(sentences)
        if query
        and sentence
        and 0 < Levenshtein.distance(query, sentence) <= limit.edits(len(query), len(sentence))
    }


token = st.sampled_from("abcdefgh")
sentences = st.lists(st.lists(token, max_size=9), max_size=25)


@given(
    sentences,
    sentences,
    st.sampled_from([0.2, 0.34, 0.5, 0.6, 0.75]),
    st.sampled_from(["min", "max"]),
)
def test_all_similar_sentences_are_found(
    known: list[list[str]], queries: list[list[str]], threshold: float, norm: Norm
) -> None:
    limit = Limit(threshold, norm)
    pairs = FuzzyIndex(known).similar([[*query] for query in queries], limit)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == sorted(
        brute_force(known, queries, limit)
    )


@given(sentences, sentences, st.sampled_from([0.3, 0.5, 0.8]))
def test_all_sentences_with_enough_common_tokens_are_found(
    known: list[list[str]], queries: list[list[str]], share: float
) -> None:
    pairs, shares = FuzzyIndex(known).overlapping(queries, share)
    common = {
        (number, place): len({*query} & {*sentence}) / max(len({*query}), len({*sentence}))
        for number, query in enumerate(queries)
        for place, sentence in enumerate(known)
        if query and sentence
    }
    expected = {pair: value for pair, value in common.items() if value >= share}
    matches = zip(*map(np.ndarray.tolist, pairs), strict=True)
    assert dict(zip(matches, shares.tolist(), strict=True)) == expected


def compared(tokens: list[list[str]], limit: Limit) -> np.ndarray:
    """All pairs of different and similar sentences (2, pairs), as `rapidfuzz` finds them over
    all pairs."""
    codes: dict[str, str] = {}
    encoded = [
        "".join(codes.setdefault(word, chr(len(codes))) for word in words) for words in tokens
    ]
    lengths = np.array([*map(len, tokens)])
    most = np.array(
        [[limit.edits(a, b) for b in range(lengths.max() + 1)] for a in range(lengths.max() + 1)]
    )
    distances = cdist(encoded, encoded, scorer=Levenshtein.distance, dtype=np.uint8)
    return np.stack(np.nonzero((distances > 0) & (distances <= most[lengths[:, None], lengths])))


def test_real_text_as_by_comparing_all(data: Path) -> None:
    with gzip.open(data / "tatoeba" / "tatoeba.de-en.tsv.gz", "rt", encoding="utf-8") as file:
        texts = dict.fromkeys(line.split("\t")[0] for line in file)
    tokens, limit = [text.split() for text in [*texts][1::50]], Limit(0.5, "min")
    expected = compared(tokens, limit)
    assert np.array_equal(np.stack(FuzzyIndex(tokens).similar(tokens, limit)), expected)
    assert expected.shape[1] > 100
