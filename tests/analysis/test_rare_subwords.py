"""The rarest subword of a sentence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from augury.analysis.rare_subwords import (
    Piece,
    RareSubwordAnalysis,
    pieces_by_view,
    rarest,
)
from augury.core.errors import UserError
from augury.reporting.tables import plain_records


def test_the_rarest_subword_of_the_specification_and_of_unseen_ones() -> None:
    hey = {"▁hey": 2, ",": 900, "▁warum": 300, "▁nicht": 2000, "?": 700}  # of figure 7
    assert rarest(np.array(list(hey.values())), [range(5)]).tolist() == [2]
    assert rarest(np.array([5, 0, 7]), [[0, 2], [0, 1], []]).tolist() == [5, 0, 0]


def system(counts: dict[str, list[int]]) -> Any:
    """Four sentences of one piece each, pieces 0 to 3."""
    return SimpleNamespace(
        name="cipher",
        test="test",
        views=tuple(counts),
        pieces=["a", "b", "c", "d"],
        sources=["a", "b", "c", "d"],
        rows=range(4),
        ids=lambda view: [[0], [1], [2], [3]],
        counts=lambda view: np.array(counts[view]),
        encode=lambda texts, view: [["abcd".index(letter) for letter in text] for text in texts],
    )


def test_views_are_compared_sentence_by_sentence() -> None:
    counts = {"plain": [1, 2, 3, 0], "rot-1": [5, 5, 2, 4], "rot-2": [1, 2, 3, 0]}
    results = RareSubwordAnalysis().compute([system(counts)])
    plain, first, second = plain_records(results)
    assert [plain[name] for name in ("value", "median", "unseen", "p")] == [1.5, 1.5, 1, None]
    assert (first["more"], first["fewer"], first["difference"]) == (3, 1, 2.5)
    assert first["p_sign"] == pytest.approx(10 / 16)  # 3 of 4, by hand
    assert second["p_sign"] == first["p_corrected"] == 1.0


def test_a_text_that_is_given_has_its_pieces_by_view() -> None:
    cipher = system({"plain": [1, 2, 3, 0], "rot-1": [5, 5, 2, 4]})
    views = {
        "plain": (Piece("c", 3), Piece("a", 1), Piece("b", 2)),
        "rot-1": (Piece("c", 2), Piece("a", 5), Piece("b", 5)),
    }
    assert pieces_by_view(cipher, "cab") == views
    with pytest.raises(UserError, match="no subwords"):
        pieces_by_view(cipher, "")
