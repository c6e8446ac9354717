"""Scores by frequency of words and by length as a report."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import plotly.graph_objects as go

from augury.analysis.buckets import TESTED, Bucket, Buckets
from augury.analysis.system import System
from augury.reporting.analyses.report import Part, Report, of_systems, where
from augury.reporting.figures import Figure, chart, error_bars
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, probability
from augury.reporting.tables import Cell, Table, table
from augury.scoring.significance import holm

KINDS = {
    "frequency": ("F-measure by frequency", "words", "count in the training target", "F-measure", 100.0),
    "length": ("BLEU by length", "sentences", "words of the reference", "BLEU", 1.0),
}


def report(results: Sequence[Buckets], systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of `buckets`."""
    legend = tuple((look(index), result.system) for index, result in enumerate(results))
    parts = [
        Part(KINDS[kind][0], _table(kind, results, settings), (_chart(kind, results, settings),), legend)
        for kind in KINDS
    ]
    return of_systems(
        "buckets",
        "Scores by frequency and length",
        answer(results, systems),
        parts,
        systems,
        [asdict(result) for result in results],
        settings,
    )


def answer(results: Sequence[Buckets], systems: Sequence[System]) -> str:
    """Say where systems differ from the first, or how the first does on rare words."""
    first, *others = results
    if not others:
        rare, frequent = first.frequency[0], first.frequency[-1]
        return (
            f"On {where(systems)}, {first.system} has F {100 * rare.value:.1f} on words that occur {rare.bucket} "
            f"times in training, and {100 * frequent.value:.1f} on those that occur {frequent.bucket} times."
        )
    summary = [_differences(kind, result, first) for result in others for kind in KINDS]
    return f"On {where(systems)}, {'; '.join(summary)} (paired bootstrap, p < 0.05 corrected for the buckets)."


def _differences(kind: str, result: Buckets, first: Buckets) -> str:
    """Say in how many buckets two systems differ, and in which most."""
    score, what, size = KINDS[kind][3], KINDS[kind][2], KINDS[kind][4]
    tested = _real(getattr(result, kind))
    real = [
        (size * bucket.against_first.value, bucket) for bucket, is_real in tested if is_real and bucket.against_first
    ]
    if not real:
        return f"no difference of {result.system} to {first.system} in {score} by {what} is real"
    most, bucket = max(real, key=lambda entry: abs(entry[0]))
    return (
        f"{result.system} differs from {first.system} in {score} in {len(real)} of {len(tested)} buckets by {what}, "
        f"most ({most:+.1f}) at {bucket.bucket}"
    )


def _real(buckets: Sequence[Bucket]) -> list[tuple[Bucket, bool]]:
    """The buckets that are tested, and whether their difference is real, corrected for their number."""
    tested = [(bucket, bucket.against_first.p_value) for bucket in buckets if bucket.against_first]
    corrected = holm([p_value for _, p_value in tested])
    return [(bucket, p_value < 0.05) for (bucket, _), p_value in zip(tested, corrected, strict=True)]


def _table(kind: str, results: Sequence[Buckets], settings: Mapping[str, Any]) -> Table:
    heading, unit, axis, score, size = KINDS[kind]
    names = [bucket.bucket for bucket in getattr(results[0], kind)]
    by_name = [{bucket.bucket: bucket for bucket in getattr(result, kind)} for result in results]
    rows = []
    for name in names:
        row: list[Any] = [Cell(name, names.index(name)), Cell(f"{by_name[0][name].size:,}", by_name[0][name].size)]
        for index, buckets in enumerate(by_name):
            bucket = buckets[name]
            row.append(
                Cell(
                    f"{size * bucket.value:.1f} [{size * bucket.interval.low:.1f}, {size * bucket.interval.high:.1f}]",
                    bucket.value,
                    hint=""
                    if bucket.recall is None or bucket.precision is None
                    else f"precision {bucket.precision:.1%}, recall {bucket.recall:.1%}",
                )
            )
            if index:
                test = bucket.against_first
                row += (
                    [MISSING, MISSING]
                    if test is None
                    else [
                        f"{size * test.value:+.1f} [{size * test.low:+.1f}, {size * test.high:+.1f}]",
                        probability(test.p_value),
                    ]
                )
        rows.append(row)
    columns = [_axis(kind, settings), unit, results[0].system]
    for result in results[1:]:
        columns += [result.system, "difference [95 %]", "p"]
    notes_of: dict[str, tuple[str, ...]] = {
        "frequency": (
            "F1 × 100 of words, matched within a sentence; a word is in the bucket of its own count, the words of "
            "references, and of outputs that match none, too (compare-mt). Words as sacreBLEU's tokeniser has them.",
        ),
        "length": ("Corpus BLEU of the sentences of a bucket, as in compare-mt.",),
    }
    notes = notes_of[kind]
    if len(results) > 1:
        notes += (
            f"p: paired bootstrap over sentences, of one bucket, not corrected for their number; buckets of fewer than "
            f"{TESTED} sentences are not tested.",
        )
    return table(columns, rows, title=heading, notes=notes)


def _chart(kind: str, results: Sequence[Buckets], settings: Mapping[str, Any]) -> Figure:
    heading, _, _, score, size = KINDS[kind]
    traces = []
    for index, result in enumerate(results):
        buckets: Sequence[Bucket] = getattr(result, kind)
        drawn, name = look(index), html.escape(result.system)
        ends = [tuple(size * end for end in (b.value, b.interval.low, b.interval.high)) for b in buckets]
        traces.append(
            go.Bar(
                name=name,
                x=[bucket.bucket for bucket in buckets],
                y=[value for value, _, _ in ends],
                error_y=error_bars(ends),
                marker={"color": drawn.colour},
                hovertemplate=f"{name}, %{{x}}: %{{y:.1f}}<extra></extra>",
            )
        )
    drawing = chart(traces, _axis(kind, settings), score)
    drawing.update_xaxes(type="category")
    summary = "; ".join(
        f"{result.system}: " + ", ".join(f"{b.bucket} {size * b.value:.1f}" for b in getattr(result, kind))
        for result in results
    )
    return Figure(kind, heading, f"{heading}: {summary}", drawing)


def _axis(kind: str, settings: Mapping[str, Any]) -> str:
    if kind == "frequency" and settings["counted_in"] == "references":
        return "count in the references"
    return KINDS[kind][2]
