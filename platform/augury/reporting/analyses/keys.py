"""The report on the choice of a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from augury.analysis.keys import RARE, KeyRanking, KeyResult
from augury.reporting.analyses.analysis import report_of
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.numbers import MISSING, interval, p_text, share
from augury.reporting.report import Charts, Report, section
from augury.reporting.styles import system_style
from augury.reporting.tables import Cell, Table, cell, records

UNTESTED = (
    "Whether a key whose segmentation is less like the plain one trains a better model has not "
    "been shown: take this for a choice among keys of which nothing else is known, and train more "
    "than one where it matters."
)


def report(result: KeyRanking, corpus: str, settings: Mapping[str, Any]) -> Report:
    """Return the report of `analyse_keys` for the corpus with this name."""
    shown = section(
        "Keys, the least like plain text first", Charts([_chart(result)]), _table(result)
    )
    content = {"corpus": corpus, "settings": dict(settings), "results": asdict(result)}
    return report_of(f"Choice of a key: {corpus}", answer(result), [shown], content, [UNTESTED])


def answer(result: KeyRanking) -> str:
    """Return the key to take, and how certain that is: for these vocabularies, and for other
    text."""
    (first, *others), test = result.keys, result.to_next
    if not others or test is None:
        return (
            f"Key {first.key} has shared information {first.shared:.3f} with plain text; one key "
            "is no choice."
        )
    certainty = "which is real" if test.p_value < 0.05 else "which may be chance"
    return (
        f"Key {first.key} would be taken: of {len(result.keys)} keys, its pieces end least where "
        f"those of the plain text do (normalised mutual information {first.shared:.3f}); the next, "
        f"key {others[0].key}, has {test.value:.3f} more [{test.low:+.3f}, {test.high:+.3f}], "
        f"{certainty} ({p_text(test.p_value)}) for these vocabularies. {_stability(result)}"
    )


def _stability(result: KeyRanking) -> str:
    """Return whether the halves of the text rank the keys alike."""
    if result.ranks is None:
        return (
            "The halves of the text are too small for vocabularies of this size: nothing is known "
            "of other text."
        )
    first, second = map(_ordinal, result.ranks)
    places = f"{first} and {second} of {len(result.keys)}"
    ranks = f"from either half of the text, key {result.keys[0].key} comes {places}"
    agreement = result.halves_agree
    if agreement is None:
        return f"Learned {ranks}."
    agree = "agree" if agreement > 0.7 else "agree in part" if agreement > 0.3 else "do not agree"
    return (
        f"Learned {ranks}: the halves {agree} on the order of keys (rank correlation "
        f"{agreement:.2f})."
    )


def _ordinal(rank: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    teens = rank % 100 in (11, 12, 13)
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _table(result: KeyRanking) -> Table:
    rows = []
    for key in result.keys:
        plain, pieces = key.plain, key.enciphered
        mean = f"{pieces.pieces_per_sentence:.1f} ({plain.pieces_per_sentence:.1f})"
        row = {
            "key": key.key,
            "shared information [95 %]": Cell(interval(*_ends(key), ".3f"), key.shared),
            "of halves": f"{key.halves[0]:.3f} / {key.halves[1]:.3f}" if key.halves else MISSING,
            "cut in one alone": cell(key.differing, share),
            "pieces in common": cell(key.overlap, share),
            "rare pieces": cell(pieces.rare, share, hint=f"plain {share(plain.rare)}"),
            "rarest (plain)": Cell(f"{pieces.rarest:g} ({plain.rarest:g})", pieces.rarest),
            "pieces a sentence (plain)": Cell(mean, pieces.pieces_per_sentence),
            "vocabulary": cell(key.entries, ","),
        }
        rows.append(row)
    notes = [
        "For each key the joint vocabulary is learned that training with this key alone would "
        f"learn, from all {result.rows:,} sentences; boundaries are compared in "
        f"{result.sentences:,}.",
        "Shared information: mutual information of whether a piece ends between two neighbouring "
        "letters, in plain and in enciphered text, over the mean of both entropies: 1 where both "
        "are cut at the same places, 0 where one says nothing of the other. Intervals: bootstrap "
        "over sentences, the vocabulary held fixed. Of halves: the same with vocabularies learned "
        "from every other sentence, and from the others.",
        f"Rare pieces: the share of the pieces of the enciphered text that it has under {RARE} "
        "times. Rarest: the count of a sentence's rarest piece, median. Pieces in common: of two "
        "letters and more, of those that any of the two texts has.",
    ]
    if left_out := max(key.left_out for key in result.keys):
        notes.append(
            f"Up to {left_out:,} sentences of a key are left out whose pieces do not spell them."
        )
    title = "Keys, the least like plain text first"
    return records(rows, title=title, parts=(5,), notes=tuple(notes))


def _ends(key: KeyResult) -> tuple[float, float, float]:
    """Return the shared information of a key, and the ends of its interval."""
    return key.shared, key.interval.low, key.interval.high


def _chart(result: KeyRanking) -> Figure:
    keys = sorted(result.keys, key=lambda key: key.key)
    points = trace(
        "shared information",
        system_style(1),
        [key.key for key in keys],
        [key.shared for key in keys],
        ", key %{x}: %{y:.3f}",
        mode="markers",
        size=9,
        ends=list(map(_ends, keys)),
    )
    axis = {"dtick": 1 if len(keys) <= 30 else 5, "rangemode": "normal"}
    y = "shared information of boundaries"
    drawing = chart([points], "key", y, xaxis=axis, yaxis_rangemode="normal")
    summary = ", ".join(f"{key.key} {key.shared:.3f}" for key in keys)
    title = "Shared information of boundaries by key; less is less like plain text"
    return Figure("keys", title, f"{title}: {summary}", drawing)
