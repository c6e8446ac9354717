from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.text.alignment.bitext import Bitext, Lexicon, _unique_numbers, encode
from augury.text.alignment.symmetrise import Direction

sentences = st.lists(
    st.lists(st.sampled_from(["a", "B", "b", "ç", ","]), max_size=4), min_size=8, max_size=8
)


def pairs_of(lexicon: Lexicon, indices: np.ndarray) -> np.ndarray:
    """(word, word) at each index."""
    sources, targets = lexicon.words_of_pairs()
    words = np.array(
        [
            lexicon.source_words.to_numpy(zero_copy_only=False)[sources],
            lexicon.target_words.to_numpy(zero_copy_only=False)[targets],
        ]
    )
    return words[:, indices]


@settings(max_examples=60, deadline=None)
@given(sentences, sentences, st.sampled_from(["forward", "reverse"]))
def test_every_cell_knows_its_words(
    sources: list[list[str]], targets: list[list[str]], direction: Direction
) -> None:
    bitext, lexicon = encode(sources, targets)
    filled = [row for row in range(8) if sources[row] and targets[row]]
    assert bitext.rows.tolist() == filled
    assert bitext.lengths.tolist() == [[len(sources[row]), len(targets[row])] for row in filled]
    side, generating = (targets, sources) if direction == "forward" else (sources, targets)
    cells, generated = bitext.cells_of(bitext.cells, direction), bitext.generated(direction)
    seen = set()
    for bucket in bitext.buckets(direction):
        words = bucket.words_by_position(generated[bucket.words])
        blocks = bucket.cells_by_position(cells[bucket.cells])
        for rank, row in enumerate(bitext.rows[bucket.pairs].tolist()):
            seen.add(row)
            assert bucket.lengths[rank] == len(side[row]) and bucket.generating == len(
                generating[row]
            )
            for position, word in enumerate(side[row]):
                assert (
                    lexicon.generated(direction)[int(words[position][rank])].as_py() == word.lower()
                )
                pair = pairs_of(lexicon, blocks[position][:, rank])[
                    :: 1 if direction == "forward" else -1
                ]
                assert pair.tolist() == [
                    [other.lower() for other in generating[row]],
                    [word.lower()] * len(generating[row]),
                ]
    assert sorted(seen) == filled
    assert bitext.forward_cells(cells, direction).tolist() == bitext.cells.tolist()


def test_numbers_too_large_to_sort_with_their_places_are_numbered_alike() -> None:
    numbers = np.array([7, 3, 7, 0, 3])
    for larger in (0, 1 << 61):
        distinct, order, indices = _unique_numbers(numbers + larger)
        assert distinct.tolist() == [larger + 7, larger + 3, larger]
        assert distinct[order].tolist() == [larger, larger + 3, larger + 7]
        assert indices.tolist() == [0, 1, 0, 2, 1]


def test_a_lexicon_has_what_co_occurs_in_order_of_appearance() -> None:
    lexicon = encode([["Das", "Haus"], ["das"], []], [["the", "house"], ["The"], ["lost"]])[1]
    assert lexicon.source_words.to_pylist() == ["das", "haus"]
    assert lexicon.target_words.to_pylist() == ["house", "lost", "the"]
    assert lexicon.pairs.tolist() == [2, 5, 0, 3]
    assert lexicon.pairs[lexicon.order].tolist() == [0, 2, 3, 5]
    assert [words.tolist() for words in lexicon.words_of_pairs()] == [[0, 1, 0, 1], [2, 2, 0, 0]]


def test_a_union_has_the_words_and_pairs_of_all() -> None:
    parts = [
        encode([["b", "c"]], [["y"]])[1],
        encode([["a", "b"]], [["z", "y"]])[1],
        encode([], [])[1],
    ]
    union, indices = Lexicon.union(parts)
    assert union.source_words.to_pylist() == ["a", "b", "c"] and union.target_words.to_pylist() == [
        "y",
        "z",
    ]
    pairs = pairs_of(union, np.arange(5)).T.tolist()
    assert sorted(pairs) == [["a", "y"], ["a", "z"], ["b", "y"], ["b", "z"], ["c", "y"]]
    for lexicon, of_part in zip(parts, indices, strict=True):
        own = pairs_of(lexicon, np.arange(len(lexicon.pairs))).T.tolist()
        assert [pairs[index] for index in of_part.pairs] == own
        searched = union.indices_of(lexicon)
        assert [found.tolist() for found in searched] == [known.tolist() for known in of_part]
    assert [words.tolist() for words in indices[0][1:]] == [[1, 2], [0]]
    strange = union.indices_of(encode([["b", "d"], ["c"]], [["y"], ["z"]])[1])
    assert [None if index < 0 else pairs[index] for index in strange.pairs] == [
        None,
        ["b", "y"],
        None,
    ]
    assert [words.tolist() for words in strange[1:]] == [[1, 2, -1], [0, 1]]
    assert encode([], [])[1].indices_of(parts[0]).pairs.tolist() == [-1, -1]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    bitext = encode([["a", "b"], ["c"], ["b", "a"]], [["x"], ["y", "z"], ["z"]])[0]
    bitext.write(Folder(str(tmp_path), "scratch"), "shard")
    read = Bitext.read(Folder(str(tmp_path), "scratch"), "shard")
    for name in ("rows", "lengths", "source", "target", "cells", "transposed"):
        assert np.array_equal(getattr(read, name), getattr(bitext, name))


def test_documents_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"a pair of 2,001 and 2,000 words .*'a a a a a a a a \.\.\.'"
    ):
        encode([["b"], ["a"] * 2001], [["c"], ["d"] * 2000])
