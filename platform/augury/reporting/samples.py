"""Test examples with the output of every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.rng import generator
from augury.corpora.corpus import COLUMNS
from augury.reporting.resampling import test_corpus
from augury.reporting.results import SystemResult


@dataclass(frozen=True)
class Sample:
    """One example of a test set; lines are numbered from 1."""

    line: int
    inputs: Mapping[str, str]
    """The texts that a system reads, by the name of their column."""
    expected: str
    hypotheses: Mapping[str, str]
    """System -> its translation or label, of its first seed."""


@dataclass(frozen=True)
class Samples:
    """Examples drawn from one test set."""

    test: str
    language: str
    expected: str
    """The column that a system is to produce: `target` or `label`."""
    expected_language: str
    examples: tuple[Sample, ...]


def draw(results: Sequence[SystemResult], test: str, count: int = 10) -> Samples | None:
    """Draw examples without regard to any system; None where the test set or all hypotheses are gone."""
    first_runs = {result.name: next(iter(result.runs.values())) for result in results}
    outputs = {
        name: run.sub("hypotheses").read(f"{test}.txt").decode().split("\n")
        for name, run in first_runs.items()
        if run.sub("hypotheses").exists(f"{test}.txt")
    }
    corpora = (test_corpus(run, test) for run in first_runs.values())
    corpus = next((corpus for corpus in corpora if corpus), None)
    if not outputs or corpus is None:
        return None
    columns = COLUMNS[corpus.kind]
    inputs, expected = {name: corpus.column(name) for name in columns.inputs}, corpus.column(columns.target)
    count = min(count, len(expected))
    lines = sorted(generator("samples", corpus.address).choice(len(expected), count, replace=False).tolist())
    languages_of = list(dict.fromkeys([columns.language, columns.target_language]))
    (languages,) = corpus.shard(corpus.shards[0], languages_of).slice(0, 1).to_pylist()
    examples = [
        Sample(
            line + 1,
            {name: texts[line] for name, texts in inputs.items()},
            expected[line],
            {system: output[line] for system, output in outputs.items()},
        )
        for line in lines
    ]
    return Samples(
        test, languages[columns.language], columns.target, languages[columns.target_language], tuple(examples)
    )
