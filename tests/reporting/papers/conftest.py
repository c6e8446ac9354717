"""A paper's table of four rows beside a sweep over them, measured by accuracy on two test sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from augury.analysis.system import open_systems
from augury.reporting.papers.reproduction import Reproduction, load_reproduction
from augury.scoring.scores import score
from augury.scoring.stored import write_statistics
from augury.sweeping import published

TABLE = """
from augury.sweeping.declarations import PaperTable

TABLE = PaperTable(
    paper="Nobody (1999), <Nothing>",
    where="Table 7",
    question="Does it help?",
    base={"name": "nothing", "task": "nli"},
    scales={"toy": {}, "paper": {}},
    rows={
        "plain": {},
        "+A": {"augment": ["a"]},
        "+A again": {"augment": ["a", "a"]},
        "+B": {"augment": ["b"]},
    },
    metric="valid/accuracy",
    mode="max",
    seeds=(1, 2),
    published={
        "plain": {"mean": 69.1},
        "+A": {"mean": 79.0, "qab": 80.0},
        "+A again": {},
        "+B": {"mean": None},
        "oracle": {"mean": 99.0},
        "gain": {"mean": 14.3, "qab": 16.0},
    },
    tolerance=1.0,
    deviations={"toy": ["two toy languages"]},
    improvements={"gain": ("+A", "plain")},
    unavailable={"oracle": "reads the labels"},
    literature={"+A": {"Table 8": 78.9}},
)
"""


class Paper:
    """The table, and the trials of its sweep."""

    def __init__(self, sweeps: Any, directory: Path):
        self.sweeps, self.path = sweeps, directory / "table7.py"
        self.path.write_text(TABLE)

    def measure(self, row: str, tests: Mapping[str, Sequence[int]]) -> str:
        """A row with a seed for every number of right answers in 100."""
        address: str = self.sweeps.configuration({"augment": [row]}, row)
        for place in range(len(next(iter(tests.values())))):
            run = self.sweeps.trial(
                address, place + 1, [50.0], seconds=60.0 if row == "plain" else 90.0
            )
            scores = {}
            for test, right in tests.items():
                labels = ["1"] * right[place] + ["0"] * (100 - right[place])
                (scores[test],) = score(labels, ["1"] * 100, language="en", metrics=["accuracy"])
                write_statistics(run, test, [scores[test]])
            content = run.read_record("scores.json")
            by_test = {test: [test_score.to_dict()] for test, test_score in scores.items()}
            run.write_record("scores.json", content | {"tests": by_test})
        return address

    def reproduction(self, scale: str = "toy", ended: bool = True) -> Reproduction:
        table, sweep = published.find(str(self.path), scale), self.sweeps.load([1, 2], ended=ended)
        return load_reproduction(table, sweep, open_systems)


@pytest.fixture
def paper(sweeps: Any, tmp_path: Path) -> Paper:
    return Paper(sweeps, tmp_path)


@pytest.fixture
def table7(paper: Paper) -> Callable[[str], Reproduction]:
    """The table with two rows measured, one the same as another, one failed, at a scale."""
    paper.measure("plain", {"qaa": [70, 72], "qab": [60, 62]})
    paper.measure("+A", {"qaa": [80, 82], "qab": [78, 80]})
    failing = paper.sweeps.configuration({"augment": ["b"]}, "+B")
    for seed in (1, 2):
        paper.sweeps.trial(failing, seed, [], "failed", error="Diverged: loss <nan>")
    paper.sweeps.merged.append(
        {"point": {}, "same_as": "+A", "reason": "twice is once", "name": "+A again"}
    )
    return paper.reproduction
