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
from typing import Literal

import numpy as np
import numpy.typing as npt

from augury.analysis.system import System
from augury.scoring.bootstrap import SAMPLES, Resampled, Value, resample
from augury.scoring.sacre import Bleu, bleu_counts
from augury.scoring.significance import Difference, Interval, compare, interval

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


def buckets(systems: Sequence[System], *, counted_in: CountedIn = "train") -> list[Buckets]:
    """Return F-measure by frequency and BLEU by length of every system's translations of the
    plain source."""
    metric = Bleu("bleu", systems[0].language)
    references = [tuple(metric.prepare(line).split()) for line in systems[0].references]
    if counted_in == "references":
        counts = Counter(word for line in references for word in line)
    else:
        counts = _training_counts(systems[0], metric)
    results: list[Buckets] = []
    first: list[list[Resampled | None]] = []
    for system in systems:
        outputs = [tuple(metric.prepare(line).split()) for line in system.outputs()]
        words = _resampled(frequency_statistics(outputs, references, counts), f_measure)
        sentences = _resampled(length_statistics(outputs, references), _bleu)
        first = first or [words, sentences]
        frequency = _buckets(FREQUENCIES, words, first[0])
        length = _buckets(LENGTHS, sentences, first[1])
        results.append(Buckets(system.name, counted_in, frequency, length))
    return results


def _resampled(table: npt.NDArray[np.int64], value: Value) -> list[Resampled | None]:
    """Return the scores of every bucket on resampled sentences; None for buckets without words
    of a reference."""
    return [
        resample([counts], value, samples=SAMPLES) if _size(counts) else None for counts in table
    ]


def _buckets(
    cutoffs: Sequence[int], resampled: Sequence[Resampled | None], first: Sequence[Resampled | None]
) -> tuple[Bucket, ...]:
    """Return the buckets of a system that are not empty, compared with those of the first
    system."""
    pairs = zip(range(len(resampled)), resampled, first, strict=True)
    return tuple(
        _bucket(bucket_name(cutoffs, index), system, other)
        for index, system, other in pairs
        if system and other
    )


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


def _bleu(sums: Sequence[float]) -> float:
    return Bleu.value(sums)


def _training_counts(system: System, metric: Bleu) -> Counter[str]:
    """Count every word in the target of the training corpus."""
    counts: Counter[str] = Counter()
    for block in system.run.corpus("train").blocks(["target"]):
        for line in block.column("target").to_pylist():
            counts.update(metric.prepare(line).split())
    return counts
