"""The choice of a key as a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import plotly.graph_objects as go

from augury.analysis.keys import RARE, Keys
from augury.reporting.analyses.report import Part, Report, p_of, share
from augury.reporting.figures import Figure, chart, error_bars
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING
from augury.reporting.tables import Cell, Table, table

UNTESTED = (
    "Whether a key whose segmentation is less like the plain one trains a better model has not been shown: take this "
    "for a choice among keys of which nothing else is known, and train more than one where it matters."
)


def report(result: Keys, corpus: str, settings: Mapping[str, Any]) -> Report:
    """Return the report of `analyse_keys` on a corpus called `corpus`."""
    return Report(
        "keys",
        f"Choice of a key: {corpus}",
        answer(result),
        (Part("Keys, the least like plain text first", _table(result), (_chart(result),)),),
        {"corpus": corpus, "settings": dict(settings), "results": asdict(result)},
        (UNTESTED,),
    )


def answer(result: Keys) -> str:
    """Say which key would be taken, and how sure that is: for these vocabularies, and for other text."""
    first, *others = result.keys
    head = (
        f"Key {first.key} would be taken: of {len(result.keys)} keys, its pieces end least where those of the plain "
        f"text do (normalised mutual information {first.shared:.3f})"
        if others
        else f"Key {first.key} has shared information {first.shared:.3f} with plain text; one key is no choice"
    )
    if not others or result.to_next is None:
        return f"{head}."
    test = result.to_next
    sure = "which is real" if test.p_value < 0.05 else "which may be chance"
    return (
        f"{head}; the next, key {others[0].key}, has {test.value:.3f} more [{test.low:+.3f}, {test.high:+.3f}], {sure} "
        f"({p_of(test.p_value)}) for these vocabularies. {_stability(result)}"
    )


def _stability(result: Keys) -> str:
    """Say whether the halves of the text rank the keys alike."""
    first = result.keys[0].key
    if result.ranks is None:
        return "The halves of the text are too small for vocabularies of this size: nothing is known of other text."
    one, other = map(_ordinal, result.ranks)
    ranks = f"Learned from either half of the text, key {first} comes {one} and {other}"
    count = len(result.keys)
    if result.halves_agree is None:
        return f"{ranks} of {count}."
    agreed = "agree" if result.halves_agree > 0.7 else "agree in part" if result.halves_agree > 0.3 else "do not agree"
    return f"{ranks} of {count}: the halves {agreed} on the order of keys (rank correlation {result.halves_agree:.2f})."


def _ordinal(rank: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _table(result: Keys) -> Table:
    rows = [
        [
            f"{key.key}",
            Cell(f"{key.shared:.3f} [{key.interval.low:.3f}, {key.interval.high:.3f}]", key.shared),
            MISSING if key.halves is None else f"{key.halves[0]:.3f} / {key.halves[1]:.3f}",
            Cell(share(key.differing), key.differing),
            Cell(share(key.overlap), key.overlap),
            Cell(share(key.enciphered.rare), key.enciphered.rare, hint=f"plain {share(key.plain.rare)}"),
            Cell(f"{key.enciphered.rarest:g} ({key.plain.rarest:g})", key.enciphered.rarest),
            Cell(
                f"{key.enciphered.pieces_per_sentence:.1f} ({key.plain.pieces_per_sentence:.1f})",
                key.enciphered.pieces_per_sentence,
            ),
            Cell(f"{key.entries:,}", key.entries),
        ]
        for key in result.keys
    ]
    left_out = sum(key.left_out for key in result.keys)
    return table(
        [
            "key",
            "shared information [95 %]",
            "of halves",
            "cut in one alone",
            "pieces in common",
            "rare pieces",
            "rarest (plain)",
            "pieces a sentence (plain)",
            "vocabulary",
        ],
        rows,
        title="Keys, the least like plain text first",
        parts=(5,),
        notes=(
            "For each key the joint vocabulary is learned that training with this key alone would learn, from all "
            f"{result.rows:,} sentences; boundaries are compared in {result.sentences:,}.",
            "Shared information: mutual information of whether a piece ends between two neighbouring letters, in plain "
            "and in enciphered text, over the mean of both entropies: 1 where both are cut at the same places, 0 where "
            "one says nothing of the other. Intervals: bootstrap over sentences, the vocabulary held fixed. Of halves: "
            "the same with vocabularies learned from every other sentence, and from the others.",
            f"Rare pieces: the share of the pieces of the enciphered text that it has under {RARE} times. Rarest: the "
            "count of a sentence's rarest piece, median. Pieces in common: of two letters and more, of those that any "
            "of the two texts has.",
            *([f"{left_out:,} sentences are left out whose pieces do not spell them."] if left_out else []),
        ),
    )


def _chart(result: Keys) -> Figure:
    keys = sorted(result.keys, key=lambda key: key.key)
    drawn = look(1)
    points = go.Scatter(
        mode="markers",
        name="shared information",
        x=[key.key for key in keys],
        y=[key.shared for key in keys],
        error_y=error_bars([(key.shared, key.interval.low, key.interval.high) for key in keys]),
        marker={"color": drawn.colour, "symbol": drawn.symbol, "size": 9},
        hovertemplate="key %{x}: %{y:.3f}<extra></extra>",
    )
    drawing = chart([points], "key", "shared information of boundaries")
    drawing.update_layout(
        xaxis={"dtick": 1 if len(keys) <= 30 else 5, "rangemode": "normal"}, yaxis={"rangemode": "normal"}
    )
    summary = ", ".join(f"{key.key} {key.shared:.3f}" for key in keys)
    title = "Shared information of boundaries by key; less is less like plain text"
    return Figure("keys", title, f"{title}: {summary}", drawing)
