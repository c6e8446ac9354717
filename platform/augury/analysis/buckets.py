"""Scores by bucket: F-measure of words by their frequency in training, BLEU by the length of the
reference.

As in compare-mt (Neubig et al., 2019) and figure 4 of CipherDAug, except for the counts: compare-mt
takes them from the references of the test set by default, here they come from the training target.
Words are those of sacreBLEU's tokeniser.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from augury.analysis.analysis import Analysis, result_table, test_label
from augury.analysis.paired import difference, estimate
from augury.analysis.system import System
from augury.reporting.numbers import number
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns, plain_records
from augury.scoring.bootstrap import Value, resample
from augury.scoring.registry import metric as metric_for
from augury.scoring.sacre import Bleu, bleu_counts
from augury.scoring.significance import holm

FREQUENCIES = (1, 2, 3, 4, 5, 10, 100, 1000)
LENGTHS = (10, 20, 30, 40, 50, 60)
"""A bucket ends below its cutoff; the last one has none."""

TESTED = 20
"""The minimum number of sentences in a bucket for an interval or a test: many resamples of fewer
have none of them."""

FEW = f"Buckets of fewer than {TESTED} sentences have no interval and no test."
TEST = "p: paired bootstrap over sentences, of one bucket, not corrected for their number."
Words = tuple[str, ...]


def frequency_statistics(
    outputs: Sequence[Words], references: Sequence[Words], counts: Mapping[str, int]
) -> npt.NDArray[np.int64]:
    """Count matched words, words of references and words of outputs, (buckets, sentences, 3).

    Words match within a sentence as multisets; a word belongs to the bucket of its own count.
    """
    table = np.zeros((len(FREQUENCIES) + 1, len(references), 3), np.int64)
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
    first = number(cutoffs[index - 1] if index else 0, "count")
    if index == len(cutoffs):
        return f"{first} and more"
    last = number(cutoffs[index] - 1, "count")
    return first if first == last else f"{first}–{last}"


class Kind(NamedTuple):
    """How sentences or words are put into buckets, scored and shown."""

    cutoffs: Sequence[int]
    value: Value
    score: str
    axis: str
    note: str


KINDS = {
    "frequency": Kind(
        FREQUENCIES,
        f_measure,
        "F-measure",
        "count in the training target",
        "F1 × 100 of words, matched within a sentence; a word is in the bucket of its own count.",
    ),
    "length": Kind(
        LENGTHS,
        Bleu.value,
        "BLEU",
        "words of the reference",
        "Corpus BLEU of the sentences of a bucket.",
    ),
}


class BucketAnalysis(Analysis):
    """Scores by the frequency of words and by the length of sentences."""

    TITLE = "Scores by frequency and length"

    analysis: str = "buckets"

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return F-measure by frequency and BLEU by length of every system's translations of the
        plain source: a row for every bucket with words of a reference, and the difference to the
        first system. Intervals and differences are missing below `TESTED` sentences."""
        metric = metric_for("bleu", systems[0].language)
        assert isinstance(metric, Bleu)

        def words(lines: Sequence[str]) -> list[Words]:
            return [tuple(metric.prepare(line).split()) for line in lines]

        references, counts = words(systems[0].references), Counter[str]()
        for block in systems[0].run.corpus("train").blocks(["target"]):
            for line in words(block.column("target").to_pylist()):
                counts.update(line)
        rows, first = list[dict[str, Any]](), dict[str, npt.NDArray[np.int64]]()
        for system in systems:
            outputs = words(system.outputs())
            statistics = {
                "frequency": frequency_statistics(outputs, references, counts),
                "length": length_statistics(outputs, references),
            }
            first = first or statistics
            for name, of_kind in statistics.items():
                for row in _buckets(KINDS[name], of_kind, first[name]):
                    rows.append({"system": system.name, "kind": name, **row})
        return pd.DataFrame(rows)

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return where systems differ from the first; of a single one, its scores on rare and
        frequent words."""
        first, *others = systems
        if not others:
            buckets = plain_records(results[results["kind"] == "frequency"])
            rare, frequent = buckets[0], buckets[-1]  # the same one where all words are alike
            return (
                f"On {test_label(systems)}, {first.name} has F {number(rare['value'])} on words "
                f"that occur {rare['bucket']} times in the training target, and "
                f"{number(frequent['value'])} on those that occur {frequent['bucket']} times."
            )
        found = []
        for system in others:
            for name, kind in KINDS.items():
                of_both = (results["system"] == system.name) & (results["kind"] == name)
                what = f"{kind.score} by {kind.axis}"
                found.append(_difference(results[of_both], system.name, first.name, what))
        test = "paired bootstrap, p < 0.05 corrected for the buckets"
        return f"On {test_label(systems)}, {'; '.join(found)} ({test})."

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return a table for every kind of buckets."""
        shown, first = [], systems[0].name
        for name, kind in KINDS.items():
            title = f"{kind.score} by {kind.axis}"
            columns: Columns = {
                "sentences": ("sentences", "count"),
                "words": ("words", "count"),
                f"{kind.score} [95 %]": ("value", "score"),
            }
            notes, named_by = [kind.note, FEW], ["bucket"]
            if len(systems) > 1:
                difference_to = f"difference to {first} [95 %]"
                columns = {
                    **columns,
                    difference_to: ("difference", "difference"),
                    "p": ("p", "p"),
                }
                notes.append(f"{TEST} Counts in training are those of {first}.")
                named_by.append("system")
            rows = results[results["kind"] == name].sort_values("from", kind="stable")
            numbers = result_table(rows, columns, named_by, title=title, notes=tuple(notes))
            shown.append(section(title, numbers))
        return shown


def _buckets(
    kind: Kind, statistics: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> Iterator[dict[str, Any]]:
    """Yield the scores by bucket, of those that have words of a reference, from the statistics of a
    system and of the first one, (buckets, sentences, counts)."""
    for index, (counts, of_first) in enumerate(zip(statistics, first, strict=True)):
        sentences, words = int(counts.any(1).sum()), int(counts[:, 1].sum())
        if not words:
            continue
        scored = resample([counts], kind.value)
        row = {"bucket": bucket_name(kind.cutoffs, index), "from": [0, *kind.cutoffs][index]}
        row |= {"sentences": sentences, "words": words, "value": scored.value}
        if sentences >= TESTED:
            row |= estimate(scored)
            if statistics is not first:
                row |= difference(resample([of_first], kind.value), scored)
        yield row


def _difference(buckets: pd.DataFrame, system: str, first: str, what: str) -> str:
    """Return in how many buckets of a kind two systems differ, and where most."""
    tested = [row for row in plain_records(buckets) if row.get("p") is not None]
    corrected = holm([row["p"] for row in tested])
    real = [row for row, p_value in zip(tested, corrected, strict=True) if p_value < 0.05]
    if not real:
        return f"no difference of {system} to {first} in {what} is real"
    most = max(real, key=lambda row: abs(row["difference"]))
    return (
        f"{system} differs from {first} in {len(real)} of {len(tested)} buckets of {what}, most "
        f"({number(most['difference'], 'difference')}) at {most['bucket']}"
    )


ANALYSIS = BucketAnalysis
