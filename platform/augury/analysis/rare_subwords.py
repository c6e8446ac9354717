"""The rarest subword of a sentence in every view: do enciphered sentences have fewer rare pieces?

Section 4.3 and figures 3, 7 and 8 of CipherDAug. Counts are those in the training source of the
view: over all views and the target, an enciphered piece would also be counted in text of another
language that happens to contain it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from augury.analysis.analysis import Analysis, certainty, result_table, test_label
from augury.analysis.paired import difference, estimate, means, signs
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.decoding.settings import PLAIN
from augury.reporting.numbers import number
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns, cell, plain_records, table
from augury.scoring.significance import holm

COLUMNS: Columns = {
    "mean count [95 %]": ("value", "score"),
    "median": ("median", "count"),
    "with an unseen piece": ("unseen", "count"),
    "mean − plain [95 %]": ("difference", "difference"),
    "p, bootstrap": ("p", "p"),
    "more often": ("more", "count"),
    "less often": ("fewer", "count"),
    "p, signs": ("p_corrected", "p"),
}


@dataclass(frozen=True)
class Piece:
    """A subword of a sentence, and how often the training source of its view has it."""

    text: str
    count: int


def pieces_by_view(system: System, text: str) -> dict[str, tuple[Piece, ...]]:
    """Return the pieces of a source text in every view, with their counts in training; UserError
    if it has none."""
    pieces = {}
    for view in system.views:
        ids, counts = system.encode([text], view)[0], system.counts(view)
        if not ids:
            raise UserError(
                f"the text {text!r} has no subwords: give a sentence of the source language"
            )
        pieces[view] = tuple(Piece(system.pieces[piece], int(counts[piece])) for piece in ids)
    return pieces


def rarest(
    counts: npt.NDArray[np.integer], sentences: Sequence[Sequence[int]]
) -> npt.NDArray[np.int64]:
    """Return the minimum count of each sentence's pieces, (sentences,); `counts` are by id."""
    least = [min((counts[piece] for piece in pieces), default=0) for pieces in sentences]
    return np.array(least, np.int64)


class RareSubwordAnalysis(Analysis):
    """How often training has seen the rarest subword of a sentence, by view."""

    TITLE = "Rarest subwords"

    analysis: str = "rare_subwords"
    texts: tuple[str, ...] = ()
    """Source sentences whose pieces are shown too."""

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return, for every view of every system, how often training has seen the rarest subword of
        each test sentence (0: never): all counts, their mean and median, the number of unseen ones,
        and their difference to those of the plain view, tested by bootstrap and by signs, of which
        `p_corrected` is corrected for the number of views (Holm)."""
        rows = []
        for system in systems:
            least = {view: rarest(system.counts(view), system.ids(view)) for view in system.views}
            tests = {view: signs(least[PLAIN], least[view]) for view in least if view != PLAIN}
            corrected = holm([test["p_sign"] for test in tests.values()])
            for test, p_value in zip(tests.values(), corrected, strict=True):
                test["p_corrected"] = p_value
            for view, counts in least.items():
                row = {"system": system.name, "view": view, **estimate(means(counts))}
                row |= {"median": float(np.median(counts)), "unseen": int((counts == 0).sum())}
                if view in tests:
                    row |= difference(means(least[PLAIN]), means(counts)) | tests[view]
                rows.append(row | {"rarest": counts.tolist()})
        return pd.DataFrame(rows)

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return the views whose rarest subword is more frequent, and how certain that is."""
        said = []
        for name, of_system in results.groupby("system", sort=False):
            plain, *others = plain_records(of_system)
            middle = number(plain["median"], "count")
            found = [f"{name}: plain {number(plain['value'])} (median {middle})"]
            for view in others:
                found.append(
                    f"{view['view']} {number(view['value'])}, more often in "
                    f"{number(view['more'], 'count')} sentences and less often in "
                    f"{number(view['fewer'], 'count')} ({certainty(view['p_corrected'])})"
                )
            said.append("; ".join(found))
        return (
            f"On {test_label(systems)}, the mean times that training has seen the rarest subword "
            f"of a sentence: {'. '.join(said)}."
        )

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the counts of the rarest subwords, and the given sentences with their pieces
        (CipherDAug, figures 7 and 8)."""
        notes = (
            "Counted in the training source of the view itself; a piece that training has not seen "
            "counts 0.",
            "Counts are skewed, and a few sentences make the mean: the test of signs asks in how "
            "many sentences that of the view is the more frequent; its p is corrected for the "
            "views.",
        )
        title, rows = "Count of the rarest subword of a sentence", []
        counts = result_table(results, COLUMNS, ("system", "view"), title=title, notes=notes)
        for system in systems:
            for text in self.texts:
                for view, pieces in pieces_by_view(system, text).items():
                    least = min(pieces, key=lambda piece: piece.count)
                    listed = [f"{piece.text} {number(piece.count, 'count')}" for piece in pieces]
                    name = f"{system.name}, {view}: {text}"
                    rows.append([name, least.text, cell(least.count, "count"), " ".join(listed)])
        shown = [section("The rarest subword of a sentence", counts)]
        columns = ("sentence", "rarest subword", "count in training", "pieces with counts")
        title = "Pieces of sentences"
        if rows:
            shown.append(section(title, table(columns, rows, title=title, kind="words")))
        return shown


ANALYSIS = RareSubwordAnalysis
