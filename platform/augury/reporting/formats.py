"""Comparisons as Markdown, LaTeX and CSV, for papers and for other programs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from augury.reporting.table import Row, Table

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "–": "--",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "τ": r"$\tau$",
    "ε": r"$\varepsilon$",
    "±": r"$\pm$",
    "−": "$-$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
MINUS = re.compile(r"(?<![\w.])-(?=\d)")
ESCAPED = r"\\\1"  # in Markdown
LATEX_HEAD = "% \\usepackage{booktabs}\n"
COSTS = ("data_factor", "parameters", "updates", "target_tokens", "train_seconds", "device_hours", "device")


def markdown(tables: Sequence[Table]) -> str:
    """Tables with their notes as GitHub's Markdown."""
    return "\n".join(map(_markdown, tables))


def latex(tables: Sequence[Table]) -> str:
    """Tables for LaTeX with the package booktabs; notes are in the caption."""
    return LATEX_HEAD + "\n".join(map(_latex, tables))


def comma_separated(tables: Sequence[Table]) -> str:
    """A line for every test set, system and metric, all numbers exact.

    The difference, in the metric that decides, stands in the lines of that metric alone.
    """
    return csv_lines([line for table in tables for row in table.rows for line in _lines(table, row)])


FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {"markdown": markdown, "latex": latex, "csv": comma_separated}


def escaped(text: str) -> str:
    """Plain text for LaTeX."""
    return "".join(ESCAPES.get(character, character) for character in text)


def tabular(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of LaTeX from plain text, the first column to the left; needs the package booktabs (`LATEX_HEAD`)."""
    titles, *lines = ([escaped(cell) for cell in cells] for cells in (header, *rows))
    # The braces keep LaTeX from taking a name in brackets for an argument of the line break before it.
    body = [f"{{}}{' & '.join(re.sub(MINUS, '$-$', cell) for cell in cells)} \\\\" for cells in lines]
    return (
        "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                f"\\caption{{{escaped(caption)}.}}",
                f"\\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}",
                r"\toprule",
                f"{' & '.join(titles)} \\\\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )
        + "\n"
    )


def csv_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Lines with the same columns as CSV, with a header."""
    written = io.StringIO()
    writer = csv.DictWriter(written, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return written.getvalue()


def _markdown(table: Table) -> str:
    header = table.header()
    rule = ["---", *("---:" for _ in header[1:])]
    lines = [header, rule, *map(table.cells, table.rows)]
    written = [f"| {' | '.join(re.sub('([|*])', ESCAPED, cell) for cell in cells)} |" for cells in lines]
    return "\n".join([f"### {table.where}", "", *written, "", *(f"- {note}" for note in table.notes)]) + "\n"


def _latex(table: Table) -> str:
    caption = "; ".join([f"Results on {table.where}", *table.notes])
    return tabular(caption, table.header(), list(map(table.cells, table.rows)))


def _lines(table: Table, row: Row) -> list[dict[str, Any]]:
    """The lines of one system in CSV, all with the same columns."""
    cost = asdict(row.cost) if row.cost else {}
    found = []
    for metric in table.metrics:
        score, first = row.scores.get(metric), metric == table.metrics[0]
        tested = row.tested if first else None
        found.append(
            {
                "test": table.test,
                "system": row.name,
                "address": row.address,
                "seeds": " ".join(map(str, row.seeds)),
                "metric": metric,
                "value": score and score.value,
                "low": score and score.low,
                "high": score and score.high,
                "n": score and score.n,
                "signature": score and score.signature,
                "difference": row.difference if first else None,
                "difference_low": tested and tested.low,
                "difference_high": tested and tested.high,
                "p": tested and tested.p_value,
                "p_corrected": row.corrected if first else None,
                "tested_over": tested and tested.over,
                **{name: cost.get(name) for name in COSTS},
                "time_factor": row.time_factor,
            }
        )
    return found
