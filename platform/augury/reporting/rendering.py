"""The formats of reports: page, terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from augury.reporting import tables
from augury.reporting.page import render_page
from augury.reporting.report import Report
from augury.reporting.tables import Table


def page(report: Report) -> str:
    """Return an HTML file that contains everything and needs no network."""
    name = report.name or report.title
    return render_page("report", report.figures, name=name, report=report)


def text(report: Report, width: int | None = None) -> str:
    """Return the summary as plain lines, fitted to the terminal if there is one."""
    blocks = [
        tables.plain_text([item], width).rstrip("\n") if isinstance(item, Table) else item
        for item in report.summary
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown(report: Report) -> str:
    """Return the tables with their notes as GitHub's Markdown."""
    return tables.markdown(report.tables)


def latex(report: Report) -> str:
    """Return the tables in LaTeX for the package booktabs; notes are in the caption."""
    return tables.latex(report.tables)


def csv(report: Report) -> str:
    """Return the records as CSV with exact numbers."""
    assert report.records is not None, f"{report.title} has no records"
    return tables.csv(report.records)


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": text,
    "latex": latex,
    "csv": csv,
    "markdown": markdown,
    "html": page,
}
