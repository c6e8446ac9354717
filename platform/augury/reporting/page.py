"""Pages from templates: one HTML file that contains everything, even the chart library, and needs
no network.

Figures are made with `plotly.graph_objects` and drawn by the basic bundle of plotly.js (scatter,
bar, pie: a quarter of the whole), which is in `assets` with its licence. Heat maps are tables with
shades.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from augury.core.store import Folder
from augury.reporting.figures import Figure
from augury.reporting.run_files import experiment_yaml

NOTES = 6
"""The number of notes above which they are folded away."""
TYPES = {"csv": "text/csv", "tex": "text/x-tex", "md": "text/markdown", "yaml": "application/yaml"}
LABELS = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}


class Download(NamedTuple):
    """A file inside the page."""

    label: str
    file: str
    link: str


def download(label: str, file: str, content: str) -> Download:
    """Return a download of a page; its ending determines its type."""
    kind = TYPES[file.rpartition(".")[2]]
    return Download(
        label,
        file,
        f"data:{kind};charset=utf-8;base64,{base64.b64encode(content.encode()).decode()}",
    )


def downloads(title: str, **contents: str) -> list[Download]:
    """Return one table as downloads of several types, named after `title`: `csv="..."`,
    `tex="..."`."""
    return [
        download(LABELS[ending], f"{file_name(title)}.{ending}", text)
        for ending, text in contents.items()
    ]


def experiment_download(
    name: str, runs: Iterable[Folder], seeds: Iterable[int]
) -> tuple[str, Download, str] | None:
    """Return a system's name, the download of its experiment file and its text; None where no
    run keeps one."""
    content = next((text for run in runs if (text := experiment_yaml(run, seeds))), None)
    return (
        (name, download("experiment file", f"{file_name(name)}.yaml", content), content)
        if content
        else None
    )


def file_name(title: str) -> str:
    """Return a file name, without ending, for a title."""
    return re.sub(r"[^\w.-]+", "-", title).strip("-.") or "file"


def render_page(template: str, figures: Sequence[Figure] = (), **values: Any) -> str:
    """Render the page of a template; `figures` are drawn in its places for them."""
    charts = json.dumps({figure.name: figure.to_dict() for figure in figures}, allow_nan=False)
    return (
        environment()
        .get_template(f"{template}.html.j2")
        .render(
            **values,
            style=asset("page.css"),
            script=asset("page.js"),
            plotly=asset("plotly-basic.min.js.gz") if figures else "",
            charts=Markup(charts.replace("<", "\\u003c")),  # no text may end the script
            note_limit=NOTES,
        )
    )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the environment of templates; those of HTML escape values."""
    templates = Environment(
        loader=PackageLoader("augury.reporting"),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["unbroken"] = _unbroken
    return templates


def _unbroken(text: str) -> str:
    """Return a text whose numbers stay in one line with their signs: `95 %`, `1.9 ×`, `p =
    0.01`."""
    return re.sub(
        r"(?<=\d) (?=[%×])|(?<=\bp) (?=[=<])|(?<=[=<]) (?=\d)", "\N{NO-BREAK SPACE}", text
    )


@lru_cache
def asset(name: str) -> Markup:
    """Return a file of `assets`, unpacked where its name ends in `.gz`."""
    content = resources.files("augury.reporting").joinpath("assets", name).read_bytes()
    return Markup((gzip.decompress(content) if name.endswith(".gz") else content).decode())
