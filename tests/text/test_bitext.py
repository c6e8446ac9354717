from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.text.bitext import Bitext, Direction, Lexicon, encode

sentences = st.lists(st.lists(st.sampled_from(["a", "B", "b", "ç", ","]), max_size=4), min_size=8, max_size=8)


def pairs_of(lexicon: Lexicon, places: np.ndarray) -> np.ndarray:
    """(word, word) at each place."""
    sources, targets = lexicon.words_of_pairs()
    words = np.array([
        lexicon.source_words.to_numpy(zero_copy_only=False)[sources],
        lexicon.target_words.to_numpy(zero_copy_only=False)[targets],
    ])  # fmt: skip
    return words[:, places]


@settings(max_examples=60, deadline=None)
@given(sentences, sentences, st.sampled_from(["forward", "reverse"]))
def test_every_cell_knows_its_words(sources: list[list[str]], targets: list[list[str]], direction: Direction) -> None:
    bitext, lexicon = encode(sources, targets)
    filled = [row for row in range(8) if sources[row] and targets[row]]
    assert sorted(bitext.rows.tolist()) == filled
    assert bitext.shapes[:, 2].sum() == len(filled) and bitext.shapes.prod(axis=1).sum() == len(bitext.cells)
    side, words = (targets, lexicon.target_words) if direction == "forward" else (sources, lexicon.source_words)
    for group in bitext.groups(direction):
        cells, generated = group.cells(bitext.cells), group.words(bitext.generated(direction))
        for k, row in enumerate(group.rows):
            assert [words[int(word)].as_py() for word in generated[:, k]] == [word.lower() for word in side[row]]
            seen = pairs_of(lexicon, cells[:, :, k] if direction == "forward" else cells[:, :, k].T)
            assert seen[0].tolist() == [[word.lower()] * len(targets[row]) for word in sources[row]]
            assert seen[1].tolist() == [[word.lower() for word in targets[row]]] * len(sources[row])


def test_a_lexicon_is_sorted_and_has_what_co_occurs() -> None:
    lexicon = encode([["Das", "Haus"], ["das"], []], [["the", "house"], ["The"], ["lost"]])[1]
    assert lexicon.source_words.to_pylist() == ["das", "haus"]
    assert lexicon.target_words.to_pylist() == ["house", "lost", "the"]
    assert lexicon.pairs.tolist() == [0, 2, 3, 5]
    assert [words.tolist() for words in lexicon.words_of_pairs()] == [[0, 0, 1, 1], [0, 2, 0, 2]]


def test_a_union_has_the_words_and_pairs_of_all() -> None:
    parts = [encode([["b", "c"]], [["y"]])[1], encode([["a", "b"]], [["z", "y"]])[1], encode([], [])[1]]
    union = Lexicon.union(parts)
    assert union.source_words.to_pylist() == ["a", "b", "c"] and union.target_words.to_pylist() == ["y", "z"]
    assert pairs_of(union, np.arange(5)).T.tolist() == [
        ["a", "y"], ["a", "z"], ["b", "y"], ["b", "z"], ["c", "y"],
    ]  # fmt: skip
    places = union.places(parts[0])
    assert [part.tolist() for part in places] == [[2, 4], [1, 2], [0]]
    strange = union.places(encode([["b", "d"], ["c"]], [["y"], ["z"]])[1])
    assert [part.tolist() for part in strange] == [[2, -1, -1], [1, 2, -1], [0, 1]]
    assert encode([], [])[1].places(parts[0]).pairs.tolist() == [-1, -1]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    bitext = encode([["a", "b"], ["c"], ["b", "a"]], [["x"], ["y", "z"], ["z"]])[0]
    bitext.write(Folder(str(tmp_path), "scratch"), "shard")
    read = Bitext.read(Folder(str(tmp_path), "scratch"), "shard")
    for name in ("rows", "shapes", "source", "target", "cells"):
        assert np.array_equal(getattr(read, name), getattr(bitext, name))
    assert read.shapes.tolist() == [[1, 2, 1], [2, 1, 2]]


def test_documents_are_refused() -> None:
    with pytest.raises(UserError, match=r"a line of 2,001 words beside one of 2,000 .*'a a a a a a a a \.\.\.'"):
        encode([["b"], ["a"] * 2001], [["c"], ["d"] * 2000])
