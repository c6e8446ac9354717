"""The formats of reports: page, terminal, Markdown, LaTeX and CSV.

A page is made of templates: one HTML file that contains everything, even the chart library, and
needs no network. Figures are made with `plotly.graph_objects` and drawn by the basic bundle of
plotly.js (scatter, bar, pie: a quarter of the whole), which is in `assets` with its licence. Heat
maps are tables with shades.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from augury.core.secrets import with_redacted_uris
from augury.reporting import tables
from augury.reporting.report import Report
from augury.reporting.tables import Table, plain_text


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the environment of templates; those of HTML and SVG escape values."""
    templates = Environment(
        loader=PackageLoader("augury.reporting"),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),
        undefined=StrictUndefined,
        finalize=_without_secrets,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["kind"] = lambda block: type(block).__name__
    return templates


def _without_secrets(value: Any) -> Any:
    """Return a text that is shown without the passwords and keys of its URIs; not of markup, which
    is the page's own."""
    return with_redacted_uris(value) if type(value) is str else value


@lru_cache
def asset(name: str) -> Markup:
    """Return a file of `assets`, unpacked where its name ends in `.gz`."""
    content = resources.files("augury.reporting").joinpath("assets", name).read_bytes()
    return Markup((gzip.decompress(content) if name.endswith(".gz") else content).decode())


def page(report: Report) -> str:
    """Return an HTML file that contains everything and needs no network."""
    figures = {figure.name: figure.to_dict() for figure in report.figures}
    template = environment().get_template("report.html.j2")
    return template.render(
        report=report,
        style=asset("page.css"),
        script=asset("page.js"),
        plotly=asset("plotly-basic.min.js.gz") if report.figures else "",
        # No text may end the script.
        charts=Markup(json.dumps(figures, allow_nan=False).replace("<", "\\u003c")),
    )


def text(report: Report) -> str:
    """Return the summary as plain lines, fitted to the terminal if there is one."""
    blocks = [plain_text(block) if isinstance(block, Table) else block for block in report.summary]
    return "\n\n".join(block for block in blocks if block) + "\n"


def csv(report: Report) -> str:
    """Return the records as CSV with exact numbers; what a cell has several of, such as seeds, is
    separated by spaces."""
    assert report.records is not None, f"{report.title} has no records"
    joined = report.records.map(
        lambda value: " ".join(map(str, value)) if type(value) is tuple else value
    )
    content: str = joined.to_csv(index=False, lineterminator="\n")
    return content


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": text,
    "latex": lambda report: tables.LATEX_HEAD + "\n".join(map(tables.latex, report.tables)),
    "csv": csv,
    "markdown": lambda report: "\n".join(map(tables.markdown, report.tables)),
    "html": page,
}
