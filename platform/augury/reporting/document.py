"""The parts that pages are made of: a document that holds everything it shows, sections, tables, charts, marks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, Literal

from plotly.offline import get_plotlyjs

from augury.reporting.charts import DASHES, Figure, Look

COLUMN = 560  # pixels that a chart has where two stand side by side


def document(name: str, body: str, figures: Mapping[str, Any]) -> str:
    """A whole page with Plotly inside, which asks nothing of a network; `figures` by the names of their places."""
    here = resources.files("augury.reporting")
    style, script = (here.joinpath(file).read_text("utf-8") for file in ("page.css", "page.js"))
    data = json.dumps(figures, allow_nan=False).replace("<", "\\u003c")  # no text may end the script
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(name)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{style}</style></head>\n<body><main>{body}</main>\n"
        f'<script type="application/json" id="figures">{data}</script>\n'
        f"<script>{get_plotlyjs()}</script>\n<script>{script}</script></body></html>\n"
    )


def section(heading: str, content: str) -> str:
    """A part of the page under a heading; nothing where there is no content."""
    return f"\n<section><h2>{escape(heading)}</h2>{content}</section>" if content else ""


def html_table(
    header: Sequence[str], lines: Sequence[str], label: str, kind: Literal["", "words", "sortable"] = ""
) -> str:
    """A table that scrolls within the page where the screen is narrow; `lines` are rows in HTML.

    The cells of a sortable one carry what they are sorted by in `data-sort`, nothing where they have no value.
    """
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}"><table{named}>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def chart(figure: Figure) -> str:
    """The place of a chart, with its title above it."""
    height = figure.plot["layout"]["height"]  # kept free, so that nothing moves when the chart is drawn
    style = f"min-height:{height}px;min-width:{figure.narrowest}px"
    wide = ' class="wide"' if figure.narrowest > COLUMN else ""
    return (
        f'<figure{wide}><p>{escape(figure.title)}</p><div class="scroll-chart"><div class="chart" '
        f'id="{escape(figure.name)}" role="img" aria-label="{escape(figure.caption)}" style="{style}"></div></div>'
        "</figure>"
    )


def mark(drawn: Look) -> str:
    """The line that a system is drawn with, for a legend or a table."""
    return (
        f'<svg class="mark" viewBox="0 0 28 10" aria-hidden="true"><line x1="0" x2="28" y1="5" y2="5" '
        f'stroke="{drawn.colour}" stroke-width="3" stroke-dasharray="{DASHES[drawn.dash]}"/></svg>'
    )
