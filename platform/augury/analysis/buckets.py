"""Scores by bucket: F-measure of words by their frequency in training, BLEU by the length of the
reference.

As in compare-mt (Neubig et al., 2019) and figure 4 of CipherDAug, except for the counts: compare-mt
takes them from the references of the test set by default, here they come from the training target.
Words are those of sacreBLEU's tokeniser.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from augury.analysis.analysis import Analysis, difference_cells, test_label
from augury.analysis.system import System
from augury.reporting.figures import Figure, IntervalEnds, chart, system_traces
from augury.reporting.numbers import interval as interval_text
from augury.reporting.report import Charts, Section, section
from augury.reporting.styles import legend
from augury.reporting.tables import Cell, Table, cell, table
from augury.scoring.bootstrap import SAMPLES, Resampled, Value, resample
from augury.scoring.sacre import Bleu, bleu_counts
from augury.scoring.significance import Difference, Interval, compare, holm, interval

FREQUENCIES = (1, 2, 3, 4, 5, 10, 100, 1000)
LENGTHS = (10, 20, 30, 40, 50, 60)
"""A bucket ends below its cutoff; the last one has none."""

WORDS = 3
"""The number of counts of a sentence: words matched, of the reference, of the output."""
TESTED = 20
"""The minimum number of sentences in a bucket for an interval or a test: many resamples of fewer
have none of them."""

CountedIn = Literal["train", "references"]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Bucket:
    """The score of a system in one bucket."""

    bucket: str
    size: int
    """Words of the references, or sentences."""
    value: float
    """F-measure (0 to 1) or BLEU (0 to 100)."""
    interval: Interval | None
    """None below `TESTED` sentences."""
    against_first: Difference | None
    """Against the first system (paired bootstrap over sentences); None for that itself and below
    `TESTED` sentences."""
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True)
class Buckets:
    """The buckets of one system that are not empty."""

    system: str
    counted_in: CountedIn
    """The text in which words were counted: the training target of the first system, or the
    references."""
    frequency: tuple[Bucket, ...]
    length: tuple[Bucket, ...]


def _resampled(
    cutoffs: Sequence[int], statistics: npt.NDArray[np.int64], value: Value
) -> dict[str, Resampled]:
    """Return the scores on resampled sentences by bucket, without buckets that have no words of
    a reference."""
    return {
        bucket_name(cutoffs, index): resample([counts], value, samples=SAMPLES)
        for index, counts in enumerate(statistics)
        if _size(counts)
    }


def _bucket(name: str, resampled: Resampled, first: Resampled) -> Bucket:
    (counts,) = resampled.statistics
    enough = counts.any(1).sum() >= TESTED
    difference = compare(first, resampled) if enough and resampled is not first else None
    precision = recall = None
    if counts.shape[1] == WORDS:
        matched, expected, output = counts.sum(0).tolist()
        precision, recall = matched / max(1, output), matched / max(1, expected)
    bounds = interval(resampled) if enough else None
    return Bucket(name, _size(counts), resampled.value, bounds, difference, precision, recall)


def _size(counts: npt.NDArray[np.int64]) -> int:
    """Return the number of words of references, or of sentences, in a bucket."""
    return int(counts[:, 1].sum() if counts.shape[1] == WORDS else counts.any(1).sum())


def frequency_statistics(
    outputs: Sequence[Words], references: Sequence[Words], counts: Mapping[str, int]
) -> npt.NDArray[np.int64]:
    """Count matched words, words of references and words of outputs, (buckets, sentences, 3).

    Words match within a sentence as multisets; a word belongs to the bucket of its own count.
    """
    table = np.zeros((len(FREQUENCIES) + 1, len(references), WORDS), np.int64)
    for row, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        sides = Counter(output) & Counter(reference), Counter(reference), Counter(output)
        for column, words in enumerate(sides):
            for word, times in words.items():
                table[bisect.bisect(FREQUENCIES, counts.get(word, 0)), row, column] += times
    return table


def f_measure(sums: Sequence[float]) -> float:
    """Return F1 from matched words, words of references and words of outputs; 0 where none
    matches."""
    matched, expected, output = sums
    return 2 * matched / (expected + output) if matched else 0.0


def length_statistics(
    outputs: Sequence[Words], references: Sequence[Words]
) -> npt.NDArray[np.int64]:
    """Return the ten statistics of BLEU, zero for sentences in other buckets, (buckets,
    sentences, 10)."""
    table = np.zeros((len(LENGTHS) + 1, len(references), 10), np.int64)
    for row, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        table[bisect.bisect(LENGTHS, len(reference)), row] = bleu_counts(output, reference)
    return table


def bucket_name(cutoffs: Sequence[int], index: int) -> str:
    """Return the name of a bucket: `0`, `5–9`, `1,000 and more`."""
    first = cutoffs[index - 1] if index else 0
    if index == len(cutoffs):
        return f"{first:,} and more"
    last = cutoffs[index] - 1
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


class Kind(NamedTuple):
    """How the buckets of a field of `Buckets` are shown."""

    field: str
    title: str
    unit: str
    axis: str
    score: str
    scale: float
    """The factor between scores and displayed ones."""
    note: str

    def of(self, result: Buckets) -> dict[str, Bucket]:
        """Return the buckets of a system by name."""
        return {bucket.bucket: bucket for bucket in getattr(result, self.field)}

    def ends(self, bucket: Bucket) -> IntervalEnds:
        """Return the displayed score with the ends of its interval, None where it has none."""
        value, between = self.scale * bucket.value, bucket.interval
        if between is None:
            return value, None, None
        return value, self.scale * between.low, self.scale * between.high


FREQUENCY = Kind(
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
LENGTH = Kind(
    "length",
    "BLEU by length",
    "sentences",
    "words of the reference",
    "BLEU",
    1.0,
    "Corpus BLEU of the sentences of a bucket, as in compare-mt.",
)


class BucketAnalysis(Analysis):
    """Scores by the frequency of words and by the length of sentences."""

    TITLE = "Scores by frequency and length"

    analysis: str = "buckets"
    counted_in: CountedIn = "train"
    """Frequencies in the training target (train) or in the test set's references."""

    @property
    def _text(self) -> str:
        return "the references" if self.counted_in == "references" else "the training target"

    @property
    def _kinds(self) -> tuple[Kind, Kind]:
        return FREQUENCY._replace(axis=f"count in {self._text}"), LENGTH

    def compute(self, systems: Sequence[System]) -> list[Buckets]:
        """Return F-measure by frequency and BLEU by length of every system's translations of the
        plain source."""
        metric = Bleu("bleu", systems[0].language)
        references = [tuple(metric.prepare(line).split()) for line in systems[0].references]
        counts: Counter[str] = Counter()
        if self.counted_in == "references":
            for line in references:
                counts.update(line)
        else:
            for block in systems[0].run.corpus("train").blocks(["target"]):
                for text in block.column("target").to_pylist():
                    counts.update(metric.prepare(text).split())
        results: list[Buckets] = []
        first: list[dict[str, Resampled]] = []
        for system in systems:
            outputs = [tuple(metric.prepare(line).split()) for line in system.outputs()]
            words = frequency_statistics(outputs, references, counts)
            sentences = length_statistics(outputs, references)
            scored = [
                _resampled(FREQUENCIES, words, f_measure),
                _resampled(LENGTHS, sentences, Bleu.value),
            ]
            first = first or scored
            frequency, length = (
                tuple(_bucket(name, own[name], base[name]) for name in own if name in base)
                for own, base in zip(scored, first, strict=True)
            )
            results.append(Buckets(system.name, self.counted_in, frequency, length))
        return results

    def answer(self, results: Sequence[Buckets], systems: Sequence[System]) -> str:
        """Return where systems differ from the first; of a single one, its scores on rare and
        frequent words."""
        first, *others = results
        if not others:
            rare, frequent = first.frequency[0], first.frequency[-1]
            return (
                f"On {test_label(systems)}, {first.system} has F {100 * rare.value:.1f} on words "
                f"that occur {rare.bucket} times in {self._text}, and {100 * frequent.value:.1f} "
                f"on those that occur {frequent.bucket} times."
            )
        found = [_differences(kind, of, first) for of in others for kind in self._kinds]
        test = "paired bootstrap, p < 0.05 corrected for the buckets"
        return f"On {test_label(systems)}, {'; '.join(found)} ({test})."

    def sections(self, results: Sequence[Buckets], systems: Sequence[System]) -> list[Section]:
        """Return a table and a chart for every kind of buckets."""
        styles, shown = legend(result.system for result in results), []
        for kind in self._kinds:
            series = {
                result.system: {name: kind.ends(bucket) for name, bucket in kind.of(result).items()}
                for result in results
            }
            traces = system_traces(series, ", %{x}: %{y:.1f}", mode="bars")
            drawing = chart(traces, kind.axis, kind.score, xaxis_type="category")
            figure = Figure(kind.field, kind.title, f"{kind.title}, as in the table below", drawing)
            shown.append(section(kind.title, Charts([figure], styles), _table(kind, results)))
        return shown


def _differences(kind: Kind, result: Buckets, first: Buckets) -> str:
    """Return the number of buckets in which two systems differ, and the bucket with the largest
    difference."""
    pairs = [(of.bucket, of.against_first) for of in kind.of(result).values() if of.against_first]
    corrected = holm([test.p_value for _, test in pairs])
    real = [
        (kind.scale * test.value, name)
        for (name, test), p_value in zip(pairs, corrected, strict=True)
        if p_value < 0.05
    ]
    if not real:
        pair = f"{result.system} to {first.system}"
        return f"no difference of {pair} in {kind.score} by {kind.axis} is real"
    most, bucket = max(real, key=lambda entry: abs(entry[0]))
    return (
        f"{result.system} differs from {first.system} in {kind.score} in {len(real)} of "
        f"{len(pairs)} buckets by {kind.axis}, most ({most:+.1f}) at {bucket}"
    )


def _table(kind: Kind, results: Sequence[Buckets]) -> Table:
    columns = [kind.axis, kind.unit, results[0].system]
    notes = [kind.note, f"Buckets of fewer than {TESTED} sentences have no interval and no test."]
    for result in results[1:]:
        columns += [result.system, "difference [95 %]", "p"]
    if len(results) > 1:
        notes.append(
            "p: paired bootstrap over sentences, of one bucket, not corrected for their number. "
            f"Counts in training are those of {results[0].system}."
        )
    by_system = [kind.of(result) for result in results]
    rows = []
    for index, (name, first) in enumerate(by_system[0].items()):
        row = [Cell(name, index), cell(first.size, ",")]
        for place, named in enumerate(by_system):
            bucket = named[name]
            hint = ""
            if bucket.precision is not None:
                hint = f"precision {bucket.precision:.1%}, recall {bucket.recall:.1%}"
            row.append(Cell(interval_text(*kind.ends(bucket)), bucket.value, hint=hint))
            row += difference_cells(bucket.against_first, kind.scale) if place else []
        rows.append(row)
    return table(columns, rows, title=kind.title, notes=tuple(notes))


ANALYSIS = BucketAnalysis
