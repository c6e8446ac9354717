"""The rarest subword of a sentence in every view: do enciphered sentences have fewer rare pieces?

Section 4.3 and figures 3, 7 and 8 of CipherDAug. Counts are those in the training source of the
view: over all views and the target, an enciphered piece would also be counted in text of another
language that happens to contain it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from augury.analysis.analysis import Analysis, certainty, test_label
from augury.analysis.paired import Mean, PairedDifference, mean, paired_difference
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.decoding.settings import PLAIN
from augury.reporting.numbers import MISSING, interval, probability, signed
from augury.reporting.report import Section, section
from augury.reporting.tables import Cell, Table, cell, records, table
from augury.scoring.significance import holm


@dataclass(frozen=True)
class Piece:
    """A subword of a sentence, and how often the training source of its view has it."""

    text: str
    count: int


@dataclass(frozen=True)
class ViewCounts:
    """The rarest subword of every sentence in one view."""

    view: str
    rarest: tuple[int, ...]
    """Its count in training, by sentence; 0 where training has not seen it."""
    mean: Mean
    median: float
    unseen: int
    """The number of sentences with a piece that the training source of the view does not have."""
    against_plain: PairedDifference | None
    """Against the plain source of the same sentences; None for that itself."""
    p_corrected: float | None
    """The p-value of the sign test, corrected for the number of views (Holm)."""


@dataclass(frozen=True)
class RareSubwords:
    """The rarest subwords of one system's views."""

    system: str
    views: tuple[ViewCounts, ...]
    texts: Mapping[str, Mapping[str, tuple[Piece, ...]]]
    """The sentences that were given, and their pieces by view."""


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


def rarest_piece(pieces: Sequence[Piece]) -> Piece:
    """Return the piece with the least count, the first one of equals."""
    return min(pieces, key=lambda piece: piece.count)


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

    def compute(self, systems: Sequence[System]) -> list[RareSubwords]:
        """Return the rarest subwords of the test sentences in every view of every system, and the
        pieces of `texts`; UserError for a text without pieces."""
        results = []
        for system in systems:
            least = {view: rarest(system.counts(view), system.ids(view)) for view in system.views}
            tests = {
                view: paired_difference(least[PLAIN], counts)
                for view, counts in least.items()
                if view != PLAIN
            }
            p_values = holm([test.p_sign for test in tests.values()])
            corrected = dict(zip(tests, p_values, strict=True))
            views = [
                ViewCounts(
                    view,
                    tuple(counts.tolist()),
                    mean(counts),
                    float(np.median(counts)),
                    int((counts == 0).sum()),
                    tests.get(view),
                    corrected.get(view),
                )
                for view, counts in least.items()
            ]
            texts = {text: pieces_by_view(system, text) for text in self.texts}
            results.append(RareSubwords(system.name, tuple(views), texts))
        return results

    def answer(self, results: Sequence[RareSubwords], systems: Sequence[System]) -> str:
        """Return the views whose rarest subword is more frequent, and how certain that is."""
        said = []
        for result in results:
            plain, *others = result.views
            found = [f"{result.system}: plain {plain.mean.value:.1f} (median {plain.median:g})"]
            for view in others:
                test, p_value = view.against_plain, view.p_corrected
                assert test is not None and p_value is not None
                found.append(
                    f"{view.view} {view.mean.value:.1f}, more often in {test.more:,} sentences and "
                    f"less often in {test.fewer:,} ({certainty(p_value)})"
                )
            said.append("; ".join(found))
        return (
            f"On {test_label(systems)}, the mean times that training has seen the rarest subword "
            f"of a sentence: {'. '.join(said)}."
        )

    def sections(self, results: Sequence[RareSubwords], systems: Sequence[System]) -> list[Section]:
        """Return the counts of the rarest subwords, and the given sentences with their pieces
        (CipherDAug, figures 7 and 8)."""
        shown = [section("The rarest subword of a sentence", _table(results))]
        rows = []
        for result in results:
            for text, views in result.texts.items():
                for view, pieces in views.items():
                    least = rarest_piece(pieces)
                    counts = " ".join(f"{piece.text} {piece.count:,}" for piece in pieces)
                    name = f"{result.system}, {view}: {text}"
                    rows.append([name, least.text, cell(least.count, ","), counts])
        columns = ("sentence", "rarest subword", "count in training", "pieces with counts")
        title = "Pieces of sentences"
        if rows:
            shown.append(section(title, table(columns, rows, title=title, kind="words")))
        return shown


def _table(results: Sequence[RareSubwords]) -> Table:
    rows = []
    for result in results:
        for view in result.views:
            mean, test = view.mean, view.against_plain
            difference = interval(test.value, test.low, test.high, signed) if test else MISSING
            row = {
                "view": f"{result.system}, {view.view}",
                "mean count [95 %]": Cell(interval(mean.value, mean.low, mean.high), mean.value),
                "median": cell(view.median, "g"),
                "with an unseen piece": cell(view.unseen, ","),
                "mean − plain [95 %]": Cell(difference, test.value if test else None),
                "p, bootstrap": cell(test.p_value if test else None, probability),
                "more / less often": f"{test.more:,} / {test.fewer:,}" if test else MISSING,
                "p, signs": cell(view.p_corrected, probability),
            }
            rows.append(row)
    notes = (
        "Counted in the training source of the view itself; a piece that training has not seen "
        "counts 0.",
        "Counts are skewed, and a few sentences make the mean: the test of signs asks in how many "
        "sentences that of the view is the more frequent; its p is corrected for the views.",
    )
    return records(rows, title="Count of the rarest subword of a sentence", notes=notes)


ANALYSIS = RareSubwordAnalysis
