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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from augury.analysis.analysis import Analysis, difference_cells, test_label
from augury.analysis.system import System
from augury.reporting.numbers import interval as interval_text
from augury.reporting.report import Section, section
from augury.reporting.tables import Cell, Table, cell, table
from augury.scoring.bootstrap import SAMPLES, Value, resample
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

Words = tuple[str, ...]


@dataclass(frozen=True)
class Bucket:
    """The score of a system in one bucket that is not empty."""

    system: str
    kind: str
    """`frequency`, by the count in the training target of the first system, or `length`."""
    bucket: str
    size: int
    """Words of the references, or sentences."""
    value: float
    """F-measure or BLEU, 0 to 100."""
    interval: Interval | None
    """None below `TESTED` sentences."""
    against_first: Difference | None
    """Against the first system (paired bootstrap over sentences); None for that itself and below
    `TESTED` sentences."""


def _buckets(
    system: str,
    kind: str,
    statistics: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
) -> list[Bucket]:
    """Return the scores by bucket, of those that have words of a reference, from the statistics of
    a system and of the first one, (buckets, sentences, counts)."""
    cutoffs, value = KINDS[kind].cutoffs, KINDS[kind].value
    buckets = []
    for index, (counts, of_first) in enumerate(zip(statistics, first, strict=True)):
        if not (size := _size(counts)):
            continue
        resampled, difference = resample([counts], value, samples=SAMPLES), None
        enough = counts.any(1).sum() >= TESTED
        if enough and statistics is not first:
            difference = compare(resample([of_first], value, samples=SAMPLES), resampled)
        bounds, name = interval(resampled) if enough else None, bucket_name(cutoffs, index)
        buckets.append(Bucket(system, kind, name, size, resampled.value, bounds, difference))
    return buckets


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
    """Return F1, 0 to 100, from matched words, words of references and words of outputs; 0 where
    none matches."""
    matched, expected, output = sums
    return 200 * matched / (expected + output) if matched else 0.0


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
    """How sentences or words are put into buckets, scored and shown."""

    cutoffs: Sequence[int]
    value: Value
    title: str
    unit: str
    axis: str
    score: str
    note: str


KINDS = {
    "frequency": Kind(
        FREQUENCIES,
        f_measure,
        "F-measure by frequency",
        "words",
        "count in the training target",
        "F-measure",
        "F1 × 100 of words, matched within a sentence; a word is in the bucket of its own count.",
    ),
    "length": Kind(
        LENGTHS,
        Bleu.value,
        "BLEU by length",
        "sentences",
        "words of the reference",
        "BLEU",
        "Corpus BLEU of the sentences of a bucket.",
    ),
}


class BucketAnalysis(Analysis):
    """Scores by the frequency of words and by the length of sentences."""

    TITLE = "Scores by frequency and length"

    analysis: str = "buckets"

    def compute(self, systems: Sequence[System]) -> list[Bucket]:
        """Return F-measure by frequency and BLEU by length of every system's translations of the
        plain source."""
        metric = Bleu("bleu", systems[0].language)

        def words(lines: Sequence[str]) -> list[Words]:
            return [tuple(metric.prepare(line).split()) for line in lines]

        references, counts = words(systems[0].references), Counter[str]()
        for block in systems[0].run.corpus("train").blocks(["target"]):
            for line in words(block.column("target").to_pylist()):
                counts.update(line)
        buckets, first = list[Bucket](), dict[str, npt.NDArray[np.int64]]()
        for system in systems:
            outputs = words(system.outputs())
            statistics = {
                "frequency": frequency_statistics(outputs, references, counts),
                "length": length_statistics(outputs, references),
            }
            first = first or statistics
            for kind, of_kind in statistics.items():
                buckets += _buckets(system.name, kind, of_kind, first[kind])
        return buckets

    def answer(self, results: Sequence[Bucket], systems: Sequence[System]) -> str:
        """Return where systems differ from the first; of a single one, its scores on rare and
        frequent words."""
        first, *others = systems
        if not others:
            rare, *_, frequent = [of for of in results if of.kind == "frequency"]
            return (
                f"On {test_label(systems)}, {first.name} has F {rare.value:.1f} on words that "
                f"occur {rare.bucket} times in the training target, and {frequent.value:.1f} on "
                f"those that occur {frequent.bucket} times."
            )
        found = []
        for system in others:
            for kind in KINDS:
                buckets = [of for of in results if (of.system, of.kind) == (system.name, kind)]
                found.append(_difference(buckets, system.name, first.name))
        test = "paired bootstrap, p < 0.05 corrected for the buckets"
        return f"On {test_label(systems)}, {'; '.join(found)} ({test})."

    def sections(self, results: Sequence[Bucket], systems: Sequence[System]) -> list[Section]:
        """Return a table for every kind of buckets."""
        names = [system.name for system in systems]
        return [section(kind.title, _table(name, results, names)) for name, kind in KINDS.items()]


def _difference(buckets: Sequence[Bucket], system: str, first: str) -> str:
    """Return in how many buckets of a kind two systems differ, and where most."""
    tests = {of.bucket: of.against_first for of in buckets if of.against_first}
    corrected = holm([test.p_value for test in tests.values()])
    real = {
        name: test.value
        for (name, test), p_value in zip(tests.items(), corrected, strict=True)
        if p_value < 0.05
    }
    kind = KINDS[buckets[0].kind]
    what = f"{kind.score} by {kind.axis}"
    if not real:
        return f"no difference of {system} to {first} in {what} is real"
    most = max(real, key=lambda name: abs(real[name]))
    return (
        f"{system} differs from {first} in {len(real)} of {len(tests)} buckets of {what}, most "
        f"({real[most]:+.1f}) at {most}"
    )


def _table(name: str, results: Sequence[Bucket], systems: Sequence[str]) -> Table:
    kind = KINDS[name]
    columns = [kind.axis, kind.unit, systems[0]]
    notes = [kind.note, f"Buckets of fewer than {TESTED} sentences have no interval and no test."]
    for system in systems[1:]:
        columns += [system, "difference [95 %]", "p"]
    if len(systems) > 1:
        notes.append(
            "p: paired bootstrap over sentences, of one bucket, not corrected for their number. "
            f"Counts in training are those of {systems[0]}."
        )
    rows: dict[str, list[object]] = {}
    for of in results:
        if of.kind == name:
            row = rows.setdefault(of.bucket, [Cell(of.bucket, len(rows)), cell(of.size, ",")])
            low, high = (of.interval.low, of.interval.high) if of.interval else (None, None)
            row.append(Cell(interval_text(of.value, low, high), of.value))
            row += [] if of.system == systems[0] else difference_cells(of.against_first)
    return table(columns, rows.values(), title=kind.title, notes=tuple(notes))


ANALYSIS = BucketAnalysis
