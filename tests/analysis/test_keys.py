"""Boundaries of pieces in plain and in enciphered text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.analysis.keys import analyse_keys, boundary_table, information, normalised_information
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.graph import Graph
from tests import tiny

SMALL = {"size": 90, "size_per_key": 20}


def test_positions_are_between_letters_alone() -> None:
    # ▁ab|c. d against ▁a|bc.| d: full stop and space are no letters, so that two positions remain.
    table, left_out = boundary_table(["abc. d"], [[[3, 1, 1, 2]], [[2, 2, 1, 2]]])
    assert (table.tolist(), left_out) == ([[0, 1, 1, 0]], 0)


def test_texts_that_pieces_do_not_spell_are_counted() -> None:
    table, left_out = boundary_table(["ab", "ab", ""], [[[3], [2], [1]], [[2, 1], [3], [1]]])
    assert (table.tolist(), left_out) == ([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], 1)


def test_information_by_hand() -> None:
    assert information([2, 0, 0, 2]) == (1, 1, 1)
    assert information([1, 1, 1, 1]) == (0, 1, 1)
    # I = H(1/4) + H(1/2) - H(1/2, 1/4, 1/4), in bits.
    assert information([2, 1, 0, 1])[0] == pytest.approx(0.811278 + 1 - 1.5, abs=1e-6)
    assert normalised_information([5, 0, 0, 0]) == 1


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_likeness_is_a_share_and_symmetric(table: list[int]) -> None:
    neither, second, first, both = table
    value = normalised_information(table)
    assert -1e-9 <= value <= 1 + 1e-9
    assert value == pytest.approx(normalised_information([neither, first, second, both]))
    if not first and not second:
        assert value == pytest.approx(1)


def test_keys_are_ranked_with_the_vocabularies_that_training_finds(tmp_path: Path) -> None:
    experiment, store = tiny.experiment("nmt", tmp_path, vocabulary=SMALL), Store(tmp_path)
    result = analyse_keys(experiment, store, [1, 3])
    assert sorted(key.key for key in result.keys) == [1, 3]
    first, second = result.keys
    assert first.shared <= second.shared and result.to_next is not None
    assert result.to_next.value == pytest.approx(second.shared - first.shared)
    assert all(0 < key.shared < 1 and key.positions > 0 and not key.left_out for key in result.keys)
    assert result.rows == result.sentences == 60
    ciphered = tiny.experiment(
        "nmt",
        tmp_path,
        vocabulary=SMALL,
        augment=[{"operator": "cipher", "keys": [3]}],
        regime="multi_source",
    )
    run = Graph(store).plan(ciphered)
    assert run.tokenizer.folder.complete


def test_invalid_keys_are_refused(tmp_path: Path) -> None:
    experiment, store = tiny.experiment("nmt", tmp_path), Store(tmp_path)
    with pytest.raises(UserError, match="leaves|unchanged|stay"):
        analyse_keys(experiment, store, [0])
    with pytest.raises(UserError, match="reads"):
        analyse_keys(tiny.experiment("nli", tmp_path), store)
    with pytest.raises(UserError, match="vocabulary.tokenise=none"):
        analyse_keys(
            tiny.experiment("nmt", tmp_path, vocabulary={"size": 200, "casing": "inline"}), store
        )


def test_halves_of_the_text_say_how_far_it_decides(tmp_path: Path) -> None:
    small = {"size": 70, "size_per_key": 10}
    experiment = tiny.experiment("nmt", tmp_path, vocabulary=small)
    result = analyse_keys(experiment, Store(tmp_path), [1, 2, 3])
    assert all(key.halves is not None for key in result.keys)
    assert result.ranks is not None and set(result.ranks) <= {1, 2, 3}
    assert result.halves_agree is not None and -1 <= result.halves_agree <= 1
