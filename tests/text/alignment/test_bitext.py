from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.text.alignment.bitext import (
    Bitext,
    Direction,
    Lexicon,
    Sentences,
    distinct_words,
    encode,
)

sentences = st.lists(
    st.lists(st.sampled_from(["a", "B", "b", "ç", ","]), max_size=4), min_size=8, max_size=8
)
NONE = pa.array([], pa.string())


def encoded(sources: Sentences, targets: Sentences) -> tuple[Bitext, pa.Array, pa.Array]:
    """Return a bitext whose cells are numbers of pairs, and the words of both sides."""
    words = distinct_words(sources, NONE), distinct_words(targets, NONE)
    return encode(sources, targets, *words), *words


@settings(max_examples=60, deadline=None)
@given(sentences, sentences, st.sampled_from(["forward", "reverse"]))
def test_every_cell_knows_its_words(
    sources: list[list[str]], targets: list[list[str]], direction: Direction
) -> None:
    bitext, source_words, target_words = encoded(sources, targets)
    filled = [row for row in range(8) if sources[row] and targets[row]]
    assert bitext.rows.tolist() == filled
    assert bitext.lengths.tolist() == [[len(sources[row]), len(targets[row])] for row in filled]
    side, generating = (targets, sources) if direction == "forward" else (sources, targets)
    known = target_words if direction == "forward" else source_words
    cells, generated = bitext.cells_of(bitext.cells, direction), bitext.generated(direction)
    seen = set()
    for bucket in bitext.buckets(direction):
        words = bucket.words_by_position(generated[bucket.words])
        blocks = bucket.cells_by_position(cells[bucket.cells])
        for rank, row in enumerate(bitext.rows[bucket.pairs].tolist()):
            seen.add(row)
            assert bucket.lengths[rank] == len(side[row])
            for position, word in enumerate(side[row]):
                assert known[int(words[position][rank])].as_py() == word.lower()
                numbers = np.divmod(blocks[position][:, rank], len(target_words) + 1)
                pairs = zip(
                    source_words.take(numbers[0]).to_pylist(),
                    target_words.take(numbers[1]).to_pylist(),
                    strict=True,
                )
                others = [other.lower() for other in generating[row]]
                expected = [(other, word.lower()) for other in others]
                if direction == "reverse":
                    expected = [(word.lower(), other) for other in others]
                assert list(pairs) == expected
    assert sorted(seen) == filled
    assert bitext.forward_cells(cells, direction).tolist() == bitext.cells.tolist()


def test_a_lexicon_knows_pairs_by_their_numbers() -> None:
    bitext, *words = encoded([["Das", "Haus"], ["das"], []], [["the", "house"], ["The"], ["lost"]])
    assert [side.to_pylist() for side in words] == [["das", "haus"], ["house", "lost", "the"]]
    lexicon = Lexicon(*words, np.unique(bitext.cells))
    assert lexicon.pairs.tolist() == [0, 2, 4, 6]
    assert lexicon.generating("forward").tolist() == [0, 0, 1, 1]
    assert lexicon.generating("reverse").tolist() == [0, 2, 0, 2]
    assert lexicon.places(np.array([6, 0, 3, 99, 2])).tolist() == [3, 0, 4, 4, 1]
    strange = encode([["das", "Maus"]], [["the"]], *words)
    assert lexicon.places(strange.cells).tolist() == [1, 4]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    bitext = encoded([["a", "b"], ["c"], ["b", "a"]], [["x"], ["y", "z"], ["z"]])[0]
    bitext.write(tmp_path / "part.npz")
    read = Bitext.read(tmp_path / "part.npz")
    assert all(np.array_equal(getattr(read, name), kept) for name, kept in vars(bitext).items())


def test_documents_are_refused() -> None:
    with pytest.raises(UserError, match="a pair of 2,001 and 2,000 words"):
        encoded([["b"], ["a"] * 2001], [["c"], ["d"] * 2000])
