"""The report that experiments, sweeps, papers' tables and analyses produce.

It is a value: an answer, sections for a page, a summary for a terminal, notes, and data. Formats
are rendered by `rendering`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from augury.reporting.figures import Figure
from augury.reporting.samples import Example
from augury.reporting.styles import Style
from augury.reporting.tables import Table

Legend = Sequence[tuple[Style, str]]


@dataclass(frozen=True)
class Charts:
    """Charts side by side, with the legend of their systems."""

    figures: Sequence[Figure]
    legend: Legend = ()


@dataclass(frozen=True)
class Code:
    """Commands or a file, as they are typed."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Lines one below the other."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Places:
    """Where things are: name -> path or address."""

    places: Mapping[str, str]


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away below a summary."""

    summary: str
    blocks: Sequence[Block]


Block = Table | Charts | Example | Code | Listing | Places | Details | str
"""A part of a section; text is an explanation of what is above or below it."""


@dataclass(frozen=True)
class PageSection:
    """A section of a page."""

    heading: str
    blocks: Sequence[Block]


def section(heading: str, *blocks: Block) -> PageSection:
    """Return a section of blocks."""
    return PageSection(heading, blocks)


def example_section(test: str, examples: Sequence[Example]) -> list[PageSection]:
    """Return the examples of a test set side by side, where there are any."""
    text = f"{len(examples)} examples of {test}, drawn at random, with each system's first seed."
    return [section("Examples", text, *examples)] if examples else []


@dataclass(frozen=True)
class Status:
    """The state of a sweep that may still run."""

    counts: Mapping[str, int]
    """State of trials -> their number."""
    updated: float
    """Unix time."""
    refresh: int | None
    """Seconds after which a browser loads the page again; None: never."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is found, for people and for programs."""

    title: str
    answer: str
    sections: Sequence[PageSection] = ()
    """The body of the page."""
    conclusions: Sequence[str] = ()
    """What follows from the answer, shown below it."""
    notes: Sequence[str] = ()
    """Warnings and notes on the texts, shown below the conclusions."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Everything as JSON-like values."""
    summary: Sequence[Table | str] = ()
    """What a terminal shows, from top to bottom."""
    tables: Sequence[Table] = ()
    """What papers need: the tables in Markdown and LaTeX."""
    records: pd.DataFrame | None = None
    """The same as records with exact numbers."""
    question: str = ""
    power: str = ""
    """What the experiment could see."""
    facts: Mapping[str, str] = field(default_factory=dict)
    status: Status | None = None

    @property
    def figures(self) -> list[Figure]:
        """All charts of the page."""
        blocks = (block for part in self.sections for block in part.blocks)
        return [figure for block in blocks if isinstance(block, Charts) for figure in block.figures]
