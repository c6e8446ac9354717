"""The report of the rarest subwords."""

from __future__ import annotations

import html
from types import SimpleNamespace
from typing import Any

from augury.analysis.paired import mean
from augury.analysis.rare_subwords import Piece, RareSubwords, ViewCounts
from augury.reporting.analyses.rare_subwords import RareSubwordAnalysis
from augury.reporting.report import Report
from augury.reporting.tables import Table


def drawn(*pieces: Piece) -> Any:
    """The chart of a sentence with these pieces."""
    counts = ViewCounts("plain", (0,), mean([0.0]), 0.0, 1, None, None)
    result = RareSubwords("one", (counts,), ((0, {"plain": pieces}),))
    system: Any = SimpleNamespace(name="one", sources=["AB"], rows=[0])
    shown = RareSubwordAnalysis().sections([result], [system])
    return Report(title="", answer="", sections=shown).figures[-1].chart


def test_sentences_that_are_given_have_their_rarest_piece_by_view() -> None:
    counts = ViewCounts("plain", (3,), mean([3.0]), 3.0, 0, None, None)
    views = {
        "plain": (Piece("▁hey", 2), Piece(",", 900)),
        "rot-1": (Piece("▁if", 26), Piece("z,", 30)),
    }
    result = RareSubwords("one", (counts,), (), (("hey,", views),))
    system: Any = SimpleNamespace(name="one", sources=["ab"], rows=[0])
    _, given, drawings = RareSubwordAnalysis().sections([result], [system])
    (shown,) = given.blocks
    assert isinstance(shown, Table)
    assert shown.lines()[1:] == [
        ["hey,", "one", "plain", "▁hey", "2"],
        ["hey,", "one", "rot-1", "▁if", "26"],
    ]
    assert [figure.name for figure in Report(title="", answer="", sections=[drawings]).figures] == [
        "distribution-0",
        "sentence-0-0",
    ]


def test_a_sentence_without_any_seen_piece_is_drawn() -> None:
    low, high = drawn(Piece("▁<unk>", 0)).layout.yaxis.range
    assert low < high


def test_the_letters_of_a_chart_are_those_of_the_pieces() -> None:
    """Which preprocessing has changed: here a marker stands for the case of the word."""
    shown = drawn(Piece("▁<upper>", 1), Piece("ab", 2)).layout.xaxis.ticktext
    assert "".join(map(html.unescape, shown)) == "<upper>ab"
