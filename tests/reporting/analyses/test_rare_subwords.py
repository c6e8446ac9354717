"""The report of the rarest subwords."""

from __future__ import annotations

import html
from types import SimpleNamespace
from typing import Any

from augury.analysis.paired import mean
from augury.analysis.rare_subwords import Piece, RareSubwords, ViewCounts
from augury.reporting.analyses.rare_subwords import parts


def drawn(*pieces: Piece) -> Any:
    """The chart of a sentence with these pieces."""
    counts = ViewCounts("plain", (0,), mean([0.0]), 0.0, 1, None, None)
    result = RareSubwords("one", (counts,), ((0, {"plain": pieces}),))
    system: Any = SimpleNamespace(name="one", sources=["AB"], rows=[0])
    return parts([result], [system], {"pooled": False})[-1].figures[-1].chart


def test_a_sentence_without_any_seen_piece_is_drawn() -> None:
    low, high = drawn(Piece("▁<unk>", 0)).layout.yaxis.range
    assert low < high


def test_the_letters_of_a_chart_are_those_of_the_pieces() -> None:
    """Which preprocessing has changed: here a marker stands for the case of the word."""
    shown = drawn(Piece("▁<upper>", 1), Piece("ab", 2)).layout.xaxis.ticktext
    assert "".join(map(html.unescape, shown)) == "<upper>ab"
