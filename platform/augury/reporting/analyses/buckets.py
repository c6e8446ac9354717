"""The report of scores by frequency of words and by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from augury.analysis.buckets import TESTED, Bucket, Buckets, CountedIn, buckets
from augury.analysis.system import System
from augury.reporting.analyses.analysis import Analysis, difference_cells, test_label
from augury.reporting.figures import Figure, IntervalEnds, chart, system_traces
from augury.reporting.numbers import interval
from augury.reporting.report import Charts, Section, section
from augury.reporting.styles import legend
from augury.reporting.tables import Cell, Table, cell, table
from augury.scoring.significance import holm


class BucketKind(NamedTuple):
    """A division of words or sentences into buckets, and their score."""

    name: str
    """The field of `Buckets`."""
    title: str
    unit: str
    axis: str
    score: str
    scale: float
    """The factor between scores and displayed ones."""
    note: str

    def of(self, result: Buckets) -> Mapping[str, Bucket]:
        """Return the buckets of a system by name."""
        buckets: Sequence[Bucket] = getattr(result, self.name)
        return {bucket.bucket: bucket for bucket in buckets}

    def ends(self, bucket: Bucket) -> IntervalEnds:
        """Return the displayed score, and the ends of its interval, None where it has none."""
        value, between = self.scale * bucket.value, bucket.interval
        if between is None:
            return value, None, None
        return value, self.scale * between.low, self.scale * between.high


FREQUENCY = BucketKind(
    "frequency",
    "F-measure by frequency",
    "words",
    "count",
    "F-measure",
    100.0,
    "F1 × 100 of words, matched within a sentence; a word is in the bucket of its own count, the "
    "words of references, and of outputs that match none, too (compare-mt). Words as sacreBLEU's "
    "tokeniser has them.",
)
SENTENCES = "Corpus BLEU of the sentences of a bucket, as in compare-mt."
LENGTH = BucketKind(
    "length", "BLEU by length", "sentences", "words of the reference", "BLEU", 1.0, SENTENCES
)


class BucketAnalysis(Analysis):
    """Scores by the frequency of words and by the length of sentences."""

    TITLE = "Scores by frequency and length"

    analysis: str = "buckets"
    counted_in: CountedIn = "train"
    """Frequencies in the training target (train) or in the test set's references."""

    def compute(self, systems: Sequence[System]) -> Sequence[Buckets]:
        """Return the results."""
        return buckets(systems, counted_in=self.counted_in)

    def answer(self, results: Sequence[Buckets], systems: Sequence[System]) -> str:
        """Return where systems differ from the first.

        For a single one, its scores on rare and frequent words.
        """
        first, *others = results
        if not others:
            rare, frequent = first.frequency[0], first.frequency[-1]
            return (
                f"On {test_label(systems)}, {first.system} has F {100 * rare.value:.1f} on words "
                f"that occur {rare.bucket} times in {_counted(first)}, and "
                f"{100 * frequent.value:.1f} on those that occur {frequent.bucket} times."
            )
        summary = "; ".join(
            _differences(kind, result, first) for result in others for kind in _kinds(first)
        )
        test = "paired bootstrap, p < 0.05 corrected for the buckets"
        return f"On {test_label(systems)}, {summary} ({test})."

    def sections(self, results: Sequence[Buckets], systems: Sequence[System]) -> list[Section]:
        """Return a table and a chart for every kind of buckets."""
        names = [result.system for result in results]
        shown = []
        for kind in _kinds(results[0]):
            charts = Charts([_chart(kind, results)], legend(names))
            shown.append(section(kind.title, charts, _table(kind, results)))
        return shown


def _kinds(result: Buckets) -> tuple[BucketKind, BucketKind]:
    return FREQUENCY._replace(axis=f"count in {_counted(result)}"), LENGTH


def _counted(result: Buckets) -> str:
    return "the references" if result.counted_in == "references" else "the training target"


def _differences(kind: BucketKind, result: Buckets, first: Buckets) -> str:
    """Return the number of buckets in which two systems differ, and the bucket with the largest
    difference."""
    tested = {
        name: bucket.against_first
        for name, bucket in kind.of(result).items()
        if bucket.against_first
    }
    corrected = holm([test.p_value for test in tested.values()])
    real = [
        (kind.scale * test.value, name)
        for (name, test), p_value in zip(tested.items(), corrected, strict=True)
        if p_value < 0.05
    ]
    if not real:
        pair = f"{result.system} to {first.system}"
        return f"no difference of {pair} in {kind.score} by {kind.axis} is real"
    most, bucket = max(real, key=lambda entry: abs(entry[0]))
    return (
        f"{result.system} differs from {first.system} in {kind.score} in {len(real)} of "
        f"{len(tested)} buckets by {kind.axis}, most ({most:+.1f}) at {bucket}"
    )


def _table(kind: BucketKind, results: Sequence[Buckets]) -> Table:
    by_system = [kind.of(result) for result in results]
    rows = []
    for index, (name, first) in enumerate(by_system[0].items()):
        row = [Cell(name, index), cell(first.size, ",")]
        for place, buckets_of in enumerate(by_system):
            bucket = buckets_of[name]
            hint = ""
            if bucket.precision is not None:
                hint = f"precision {bucket.precision:.1%}, recall {bucket.recall:.1%}"
            row.append(Cell(interval(*kind.ends(bucket)), bucket.value, hint=hint))
            row += difference_cells(bucket.against_first, kind.scale) if place else []
        rows.append(row)
    columns = [kind.axis, kind.unit, results[0].system]
    notes = [kind.note, f"Buckets of fewer than {TESTED} sentences have no interval and no test."]
    for result in results[1:]:
        columns += [result.system, "difference [95 %]", "p"]
    if len(results) > 1:
        notes.append(
            "p: paired bootstrap over sentences, of one bucket, not corrected for their number. "
            f"Counts in training are those of {results[0].system}."
        )
    return table(columns, rows, title=kind.title, notes=tuple(notes))


def _chart(kind: BucketKind, results: Sequence[Buckets]) -> Figure:
    series, summary = {}, []
    for result in results:
        ends = {name: kind.ends(bucket) for name, bucket in kind.of(result).items()}
        scores = ", ".join(f"{name} {value:.1f}" for name, (value, *_) in ends.items())
        series[result.system] = ends
        summary.append(f"{result.system}: {scores}")
    traces = system_traces(series, ", %{x}: %{y:.1f}", mode="bars")
    drawing = chart(traces, kind.axis, kind.score, xaxis_type="category")
    return Figure(kind.name, kind.title, f"{kind.title}: {'; '.join(summary)}", drawing)


ANALYSIS = BucketAnalysis
