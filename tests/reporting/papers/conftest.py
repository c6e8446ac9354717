"""A paper's table of four rows beside a sweep over them, measured by accuracy on two test sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from augury.analysis.system import open_systems
from augury.reporting.papers import table as tables
from augury.reporting.papers.reproduction import Reproduction, load_reproduction
from augury.scoring.scores import score

TABLE = """
from augury.sweeping.declarations import PaperTable

TABLES = {"table7": PaperTable(
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
    seeds=(1, 2),
    published={
        "plain": {"mean": 69.1},
        "+A": {"mean": 79.0, "qab": 80.0},
        "+A again": {},
        "+B": {"mean": None},
        "oracle": {"mean": 99.0, "qab": 98.0},
        "gain": {"mean": 14.3, "qab": 16.0},
    },
    tolerance=1.0,
    deviations={"toy": ["two toy languages"]},
    improvements={"gain": ("+A", "plain")},
    unavailable={"oracle": "reads the labels"},
)}
"""

END = ")}\n"
FILE = """# A paper.

table7
row	section	name	label	score	qab	p	marks	bold
1	Baseline	plain		69.1	-			
2	Mixed	+A		79.0	80.0	50%	score=†;name=*	score;p
3	Mixed	+A	+A, mixed		36k			

marks
table	mark	against	p
table7	†	+B	0.001

notes
table	row	column	as_read	written	kind	why
table7	2	score			literature	of another paper
table7	1	score			text differs	Section 3 has 70
table7	3	qab	36	36k	correction	a letter is lost
table7	3	all	36k	36k	average	of two
table7	header	p			added	not printed

deviations
scales	tables	deviation
toy paper		little text
toy	table7 table3	three rows
paper	table3	another seed
"""


class Paper:
    """The table, and the trials of its sweep."""

    def __init__(self, sweeps: Any, directory: Path):
        self.sweeps, self.path = sweeps, directory / "table7.py"
        self.path.write_text(TABLE)

    def measure(self, row: str, tests: Mapping[str, Sequence[int]]) -> str:
        """A row with a seed for every number of right answers in 100."""
        address: str = self.sweeps.configuration({"augment": [row]}, row)
        seconds = 60.0 if row == "plain" else 90.0
        for place in range(len(next(iter(tests.values())))):
            scores = {}
            for test, right in tests.items():
                labels = ["1"] * right[place] + ["0"] * (100 - right[place])
                scores[test] = score(labels, ["1"] * 100, language="en", metrics=["accuracy"])
            self.sweeps.trial(address, place + 1, [50.0], seconds=seconds, tests=scores)
        return address

    def add(self, **fields: str) -> None:
        """Give the table further fields, as source."""
        added = "".join(f"    {name}={value},\n" for name, value in fields.items())
        self.path.write_text(f"{self.path.read_text().removesuffix(END)}{added}{END}")

    def quantities(self, address: str, **values: float) -> None:
        """Keep what was measured on the runs of two seeds."""
        file = "measured.json"
        kept = self.sweeps.folder.read_record(file) if self.sweeps.folder.exists(file) else {}
        known = {f"runs/{address}/seed-{seed}": values for seed in (1, 2)}
        self.sweeps.folder.write_record(file, {**kept, **known})

    def of_file(self, content: str = FILE) -> None:
        """Give the table what a file prints in place of its own values, and a quantity of runs."""
        file = self.path.with_name("paper.tsv")
        file.write_text(content, encoding="utf-8")
        source = self.path.read_text()
        for field, after in (
            ("published", "tolerance"),
            ("improvements", "unavailable"),
            ("unavailable", ""),
        ):
            place = source.index(f"    {field}=")
            source = (
                source[:place] + source[source.index(f"    {after}=" if after else END, place) :]
            )
        self.path.write_text(f"from pathlib import Path\n{source}")
        columns = '{"score": "mean", "qab": "qab", "p": "p"}'
        self.add(published=f'Path("{file}")', columns=columns, unavailable='"of others"')
        self.add(measure="lambda system: {}")

    def reproduction(
        self, scale: str = "toy", ended: bool = True, reference: str | None = None
    ) -> Reproduction:
        table, sweep = tables.find(str(self.path), scale), self.sweeps.load([1, 2], ended=ended)
        return load_reproduction(table, sweep, open_systems, reference)


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
