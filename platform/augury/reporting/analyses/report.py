"""How every analysis is told: an answer, then parts of a table, charts and examples; as text, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from augury.analysis.system import VALID, System
from augury.core.store import Folder
from augury.experiments import runs
from augury.reporting import run_files
from augury.reporting.figures import Figure
from augury.reporting.looks import Look
from augury.reporting.numbers import probability
from augury.reporting.page import render as render_page
from augury.reporting.tables import Cell, Table, table
from augury.reporting.tables import text as table_text


@dataclass(frozen=True)
class Example:
    """A sentence: what is read, and what is made of it."""

    heading: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class Part:
    """A section of a report."""

    heading: str
    table: Table | None = None
    figures: tuple[Figure, ...] = ()
    legend: tuple[tuple[Look, str], ...] = ()
    examples: tuple[Example, ...] = ()
    text: str = ""
    """What must be known to read it."""


@dataclass(frozen=True)
class Report:
    """An analysis for people, and `content` for programs."""

    name: str
    """Of its files."""
    title: str
    answer: str
    parts: tuple[Part, ...]
    content: Mapping[str, Any]
    cautions: tuple[str, ...] = ()
    sources: Table | None = None
    """The runs or texts that it is about."""

    @property
    def page(self) -> str:
        """The name of its page."""
        return f"{self.name}.html"

    def text(self, width: int | None = None) -> str:
        """Return its tables and its answer as plain lines."""
        tables = [part.table for part in self.parts if part.table]
        return "\n".join([table_text(tables, width), self.answer, *self.cautions]) + "\n"

    def render(self) -> str:
        """Return its page."""
        figures = [figure for part in self.parts for figure in part.figures]
        return render_page(
            "analysis",
            figures,
            name=self.title,
            title=self.title,
            answer=self.answer,
            cautions=self.cautions,
            sections=self.parts,
            sources=self.sources,
        )

    def write(self, folder: Folder) -> None:
        """Write its page and its content into a folder."""
        folder.write_json(f"{self.name}.json", {"analysis": self.name, "answer": self.answer, **self.content})
        folder.write(self.page, self.render())


def of_systems(
    name: str,
    heading: str,
    answer: str,
    parts: Sequence[Part],
    systems: Sequence[System],
    results: Any,
    settings: Mapping[str, Any] | None = None,
) -> Report:
    """Return the report of an analysis of runs; `results` are JSON-like values."""
    first = systems[0]
    total = first.run.corpus(first.test).rows
    content = {
        "test": first.test,
        "lines": [row + 1 for row in first.rows],
        "runs": [
            {
                "name": system.name,
                "address": system.run.address,
                "seed": system.run.seed,
                "folder": system.run.folder.uri,
            }
            for system in systems
        ],
        "settings": dict(settings or {}),
        "results": results,
    }
    cautions = list(dict.fromkeys(note for system in systems for note in runs.notes(system.run.folder)))
    if first.test == VALID:
        cautions.append(
            "The sentences are those of the validation set, by which training was ended and weights were chosen."
        )
    if len(first.rows) < total:
        cautions.append(f"{len(first.rows):,} of the {total:,} sentences of {first.test}, drawn at random.")
    return Report(
        name,
        f"{heading}: {', '.join(system.name for system in systems)} on {first.test}",
        answer,
        tuple(parts),
        content,
        tuple(cautions),
        _runs(systems),
    )


def where(systems: Sequence[System]) -> str:
    """Return the text that systems are looked at with: `test2016 (1,000 sentences)`."""
    return f"{systems[0].test} ({len(systems[0].rows):,} sentences)"


def line(system: System, sentence: int) -> str:
    """Return the heading of a sentence, by its line in the test set."""
    return f"line {system.rows[sentence] + 1}"


def share(value: float) -> str:
    """Return `4.2 %`."""
    return f"{100 * value:.1f} %"


def p_of(value: float) -> str:
    """Return `p = 0.012` or `p < 0.001`."""
    written = probability(value)
    return f"p {written}" if written.startswith("<") else f"p = {written}"


def logarithmic(drawing: go.Figure, *axes: str) -> go.Figure:
    """Return a chart with the axes of these letters, `x` and `y`, logarithmic, with ticks at powers of ten."""
    for axis in axes:
        drawing.update_layout({f"{axis}axis": {"type": "log", "dtick": 1, "rangemode": "normal"}})
    return drawing


def _runs(systems: Sequence[System]) -> Table:
    rows = []
    for system in systems:
        facts = run_files.facts(system.run.folder)
        commit = f"commit {facts['commit']}\n" if facts["commit"] else ""
        versions = ", ".join(f"{package} {version}" for package, version in facts["versions"].items())
        rows.append([system.name, Cell(system.run.folder.name, code=True), f"{commit}{versions}"])
    return table(["system", "run", "trained with"], rows, kind="words")
