"""Test examples with the output of every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.rng import generator
from augury.corpora.corpus import COLUMNS
from augury.reporting.results import SystemResult
from augury.reporting.run_files import test_corpus


@dataclass(frozen=True)
class Example:
    """An example of a test set; texts are given by column."""

    heading: str
    inputs: Mapping[str, str]
    """Column -> text that systems read."""
    expected: Mapping[str, str]
    """Column -> reference or label."""
    outputs: Mapping[str, str]
    """System -> its translation or label."""
    language: str = ""
    expected_language: str = ""


def draw(results: Sequence[SystemResult], test: str, count: int = 10) -> list[Example]:
    """Draw random examples of a test set, with the output of every system's first seed; lines are numbered from 1.

    The draw does not depend on the systems. The result is empty where the test set or all outputs are missing.
    """
    first_runs = {result.name: next(iter(result.runs.values())) for result in results}
    outputs = {
        name: run.sub("hypotheses").read(f"{test}.txt").decode().split("\n")
        for name, run in first_runs.items()
        if run.sub("hypotheses").exists(f"{test}.txt")
    }
    corpus = next((corpus for run in first_runs.values() if (corpus := test_corpus(run, test))), None)
    if not outputs or corpus is None:
        return []
    columns = COLUMNS[corpus.kind]
    texts = {name: corpus.column(name) for name in (*columns.inputs, columns.target)}
    rows = len(texts[columns.target])
    lines = sorted(generator("samples", corpus.address).choice(rows, min(count, rows), replace=False).tolist())
    language, expected_language = (corpus.column(name)[0] for name in (columns.language, columns.target_language))
    return [
        Example(
            f"line {line + 1}",
            {name: texts[name][line] for name in columns.inputs},
            {columns.target: texts[columns.target][line]},
            {system: output[line] for system, output in outputs.items()},
            language,
            expected_language,
        )
        for line in lines
    ]
