"""Heat maps: a number at every crossing of two lists, coloured by how much better or worse it is than a level."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from augury.reporting.charts import Figure, plot
from augury.reporting.table import Table, interval, signed
from augury.scoring.metrics import title

WORSE, EVEN, BETTER = "#e8974a", "#f4f4f2", "#6f9eee"  # all light enough for dark words


class Cell(NamedTuple):
    """What stands at a crossing."""

    colour: float
    """The value on the scale of colours."""
    text: str
    """What is written, `<br>` between its lines."""
    told: str
    """The same in words; escaped, as it is shown as HTML."""


def chart(
    cells: Mapping[tuple[int, int], Cell],
    across: Sequence[str],
    down: Sequence[str],
    *,
    x: str,
    y: str,
    level: float,
    reach: float,
    least_first: bool = False,
) -> dict[str, Any]:
    """A heat map as data for Plotly; `cells` by row and column, empty where there is none.

    Colours run from `level - reach`, worst, to `level + reach`, best, the other way where least is best.
    """
    grid = [[cells.get((row, column)) for column in range(len(across))] for row in range(len(down))]
    trace = {
        "type": "heatmap",
        "x": list(across),
        "y": list(down),
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "z": [[each.colour if each else None for each in line] for line in grid],
        "text": [[each.text if each else "" for each in line] for line in grid],
        "texttemplate": "%{text}",
        "customdata": [[each.told if each else "" for each in line] for line in grid],
        "hovertemplate": "%{customdata}<extra></extra>",
        "textfont": {"size": 12, "color": "#1b1f24"},
        "colorscale": [[0, WORSE], [0.5, EVEN], [1, BETTER]],
        "reversescale": least_first,
        "zmin": level - reach,
        "zmax": level + reach,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 1, "tickfont": {"size": 11}},
    }
    drawn = plot([trace], x, y)
    drawn["layout"] |= {"height": 120 + 52 * len(down)}
    for axis in ("xaxis", "yaxis"):
        drawn["layout"][axis] |= {"type": "category", "showgrid": False}
    return drawn


def width(columns: int) -> int:
    """The pixels below which the columns of a heat map run into each other."""
    return 130 + 64 * columns


def systems_by_tests(tables: Sequence[Table]) -> Figure | None:
    """The deciding score of every system on every test set, the baseline on top; None where nothing is scored.

    `tables` are comparisons of the same systems, one for each test set. Colours say how far a score lies from the
    baseline's on the same set.
    """
    metric = tables[0].metrics[0]
    names = [html.escape(row.name) for row in tables[0].rows]
    cells, reach = {}, 0.0
    for column, table in enumerate(tables):
        for place, row in enumerate(table.rows):
            if (score := row.scores.get(metric)) is None:
                continue
            by = table.gain(row) or 0.0
            reach = max(reach, abs(by))
            gained = "" if row.difference is None else f"{signed(by)}{row.mark}"
            told = f"{names[place]} on {html.escape(table.where)}: {interval(score)}"
            cells[place, column] = Cell(by, f"{score.value:.1f}<br>{gained}", f"{told} {gained}".rstrip())
    if not cells:
        return None
    drawn = chart(cells, [table.test for table in tables], names, x="", y="", level=0.0, reach=reach or 1.0)
    drawn["layout"]["yaxis"] |= {"autorange": "reversed"}
    heading = f"{title(metric)} by system and test set, and its difference to {tables[0].rows[0].name}"
    said = "; ".join(cell.told for cell in cells.values())
    return Figure("tests", heading, f"{heading}: {said}", drawn, narrowest=width(len(tables)))
