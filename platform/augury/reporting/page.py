"""Pages from templates: one HTML file that contains everything, even the chart library, and needs
no network.

Figures are made with `plotly.graph_objects` and drawn by the basic bundle of plotly.js (scatter,
bar, pie: a quarter of the whole), which is in `assets` with its licence. Heat maps are tables with
shades.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from augury.core.secrets import with_redacted_uris
from augury.reporting.figures import Figure


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
        )
    )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the environment of templates; those of HTML escape values."""
    templates = Environment(
        loader=PackageLoader("augury.reporting"),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),
        undefined=StrictUndefined,
        finalize=_without_secrets,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["unbroken"] = _unbroken
    templates.filters["kind"] = lambda block: type(block).__name__
    return templates


def _without_secrets(value: Any) -> Any:
    """Return a text that is shown without the passwords and keys of its URIs; not of markup, which
    is the page's own."""
    return with_redacted_uris(value) if type(value) is str else value


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
