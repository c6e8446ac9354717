"""The rarest subword of a sentence in every view: do enciphered sentences have fewer rare pieces?

Section 4.3 and figures 3, 7 and 8 of CipherDAug. Counts are those in the training source of the
view: over all views and the target, an enciphered piece would also be counted in text of another
language that happens to contain it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from augury.analysis.paired import Mean, PairedDifference, mean, paired_difference
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.scoring.significance import holm

EXAMPLES = 3


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
    examples: tuple[tuple[int, Mapping[str, tuple[Piece, ...]]], ...]
    """A random sample of sentences: their index, and their pieces by view."""
    texts: tuple[tuple[str, Mapping[str, tuple[Piece, ...]]], ...] = ()
    """Further sentences that were given, and their pieces by view."""


def rare_subwords(
    systems: Sequence[System],
    *,
    pooled: bool = False,
    examples: int = EXAMPLES,
    texts: Sequence[str] | None = None,
) -> list[RareSubwords]:
    """Return the rarest subwords of the test sentences in every view of every system, and the
    pieces of `texts`.

    With `pooled`, counts are over all views instead of the view's own text. UserError for a text
    without pieces.
    """
    return [_analyse_system(system, pooled, examples, texts or ()) for system in systems]


def pieces_by_view(
    system: System, text: str, *, pooled: bool = False
) -> dict[str, tuple[Piece, ...]]:
    """Return the pieces of a source text in every view, with their counts in training; UserError
    if it has none."""
    ids = {view: system.encode([text], view)[0] for view in system.views}
    if not all(ids.values()):
        raise UserError(
            f"the text {text!r} has no subwords: give a sentence of the source language"
        )
    counts = _counts(system, pooled)
    return {view: _pieces(system, counts[view], of_view) for view, of_view in ids.items()}


def rarest_piece(pieces: Sequence[Piece]) -> Piece:
    """Return the piece with the least count, the first one of equals."""
    return min(pieces, key=lambda piece: piece.count)


def rarest(
    counts: npt.NDArray[np.integer], sentences: Sequence[Sequence[int]]
) -> npt.NDArray[np.int64]:
    """Return the minimum count of each sentence's pieces, (sentences,); `counts` are by id,
    missing ids count 0."""
    rarest = np.zeros(len(sentences), np.int64)
    for row, pieces in enumerate(sentences):
        rarest[row] = min((_count(counts, piece) for piece in pieces), default=0)
    return rarest


def _counts(system: System, pooled: bool) -> dict[str, npt.NDArray[np.int64]]:
    """Return the counts of every piece in the training source of every view, or of all together."""
    counts = {view: system.counts(view) for view in system.views}
    return dict.fromkeys(counts, np.asarray(sum(counts.values()))) if pooled else counts


def _pieces(system: System, counts: npt.NDArray[np.int64], ids: Sequence[int]) -> tuple[Piece, ...]:
    return tuple(Piece(system.pieces[piece], _count(counts, piece)) for piece in ids)


def _analyse_system(
    system: System, pooled: bool, examples: int, texts: Sequence[str]
) -> RareSubwords:
    counts = _counts(system, pooled)
    least = {view: rarest(counts[view], system.ids(view)) for view in system.views}
    views = [
        _view_counts(view, least[view], None if view == PLAIN else least[PLAIN])
        for view in system.views
    ]
    tested = [view.against_plain.p_sign for view in views if view.against_plain]
    corrected = iter(holm(tested))
    count = min(examples, len(system.sources))
    rows = generator("rare subwords", system.test, len(system.sources)).choice(
        len(system.sources), count, False
    )
    shown = []
    for row in sorted(rows.tolist()):
        pieces = {
            view: _pieces(system, counts[view], system.ids(view)[row]) for view in system.views
        }
        shown.append((row, pieces))
    return RareSubwords(
        system.name,
        tuple(
            replace(view, p_corrected=next(corrected)) if view.against_plain else view
            for view in views
        ),
        tuple(shown),
        tuple((text, pieces_by_view(system, text, pooled=pooled)) for text in texts),
    )


def _view_counts(
    view: str, least: npt.NDArray[np.int64], plain: npt.NDArray[np.int64] | None
) -> ViewCounts:
    return ViewCounts(
        view,
        tuple(least.tolist()),
        mean(least),
        float(np.median(least)),
        int((least == 0).sum()),
        None if plain is None else paired_difference(plain, least),
        None,
    )


def _count(counts: npt.NDArray[np.integer], piece: int) -> int:
    return int(counts[piece]) if piece < len(counts) else 0
