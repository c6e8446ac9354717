"""The report of an analysis: an answer, then sections of tables, charts and examples.

As text, page and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.analysis.system import System
from augury.core.store import Folder
from augury.reporting.figures import Figure
from augury.reporting.numbers import MISSING, interval, probability, signed
from augury.reporting.page import render_page
from augury.reporting.samples import Example
from augury.reporting.styles import Style
from augury.reporting.tables import Cell, Table, cell, plain_text
from augury.scoring.significance import Difference


@dataclass(frozen=True)
class Part:
    """A section of a report."""

    heading: str
    table: Table | None = None
    figures: Sequence[Figure] = ()
    legend: Sequence[tuple[Style, str]] = ()
    examples: Sequence[Example] = ()
    text: str = ""
    """An explanation of the section."""


@dataclass(frozen=True)
class Report:
    """The report of an analysis for people, with `content` for programs."""

    name: str
    """The name of its files, without ending."""
    title: str
    answer: str
    parts: Sequence[Part]
    content: Mapping[str, Any]
    cautions: Sequence[str] = ()
    sources: Table | None = None
    """The runs or texts that were analysed."""

    @property
    def page(self) -> str:
        """The file name of its page."""
        return f"{self.name}.html"

    def text(self, width: int | None = None) -> str:
        """Return its tables and its answer as plain lines."""
        tables = [part.table for part in self.parts if part.table]
        return "\n".join([plain_text(tables, width), self.answer, *self.cautions]) + "\n"

    def write(self, folder: Folder) -> None:
        """Write its page and its content into a folder."""
        folder.write_json(
            f"{self.name}.json", {"analysis": self.name, "answer": self.answer, **self.content}
        )
        figures = [figure for part in self.parts for figure in part.figures]
        folder.write(self.page, render_page("analysis", figures, name=self.title, report=self))


def test_label(systems: Sequence[System]) -> str:
    """Return the test set and the number of sentences analysed: `test2016 (1,000 sentences)`."""
    return f"{systems[0].test} ({len(systems[0].rows):,} sentences)"


def heading(system: System, sentence: int) -> str:
    """Return the heading of a sentence: its line in the test set."""
    return f"line {system.rows[sentence] + 1}"


def difference_cells(test: Difference | None, scale: float = 1.0) -> list[Cell]:
    """Return a difference with its interval, multiplied by `scale`, and its p-value.

    Dashes for None.
    """
    if test is None:
        return [Cell(MISSING)] * 2
    value, low, high = (scale * end for end in (test.value, test.low, test.high))
    return [Cell(interval(value, low, high, signed), value), cell(test.p_value, probability)]
