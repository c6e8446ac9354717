"""A reproduction as plain text, LaTeX, CSV and JSON."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten
from typing import Any, NamedTuple

from augury.core.progress import duration
from augury.reporting.answer import answer
from augury.reporting.formats import COSTS, LATEX_HEAD, csv_lines, tabular
from augury.reporting.papers.reproduction import Line, Reproduction
from augury.reporting.table import MEAN, MISSING, aligned, difference, factor, probability, signed
from augury.scoring.metrics import title
from augury.sweeping.published import Published

WIDTH = 200  # of a table where there is no terminal
LONGEST = 200  # characters of an error among the notes


class Grid(NamedTuple):
    """A table of plain text."""

    title: str
    header: list[str]
    rows: list[list[str]]


def head(found: Reproduction) -> list[str]:
    """What is reproduced and at which scale, and where values do not compare, that they do not."""
    table, scale = found.table, found.table.space.scale
    said = [f"{table.where} of {table.paper}, at scale {scale}"]
    if not table.comparable:
        said.append(
            f"scale {scale} is not the paper's: published values stand beside as literature, and do not "
            "compare with what is measured here"
        )
    return said


def answered(found: Reproduction) -> str:
    """The table's outcome in one sentence."""
    return answer(found.deciding) if found.deciding else "Nothing is measured yet."


def rows(found: Reproduction) -> Grid:
    """Published and measured side by side, with differences to the reference, and cost."""
    comparable, reference = found.table.comparable, found.table.space.reference
    metric = title(found.deciding.metrics[0]) if found.deciding else "measured"
    header = [
        "row",
        "seeds",
        "published" if comparable else "literature",
        metric,
        "95 % interval",
        *(["measured − published"] if comparable else []),
        f"difference to {reference} [95 %]",
        "p",
        "data",
        "train time",
        f"× {reference}",
        "status",
    ]
    return Grid(found.deciding.test if found.deciding else "", header, [_cells(found, line) for line in found.lines])


def by_test(found: Reproduction) -> Grid | None:
    """What was measured on every test set, and below it what is printed, where that is known; None where there is one.

    What is printed of the mean alone stands in the other table.
    """
    printed = [line for line in found.lines if set(line.published) - {found.column, MEAN}]
    known = dict.fromkeys([*found.tests, *(column for line in printed for column in line.published)])
    columns = [*(column for column in known if column != MEAN), MEAN]
    if len(found.tables) < 2 and not printed:
        return None
    lines = []
    for line in found.lines:
        lines += [[line.name, *_numbers(line.values, columns)]] if line.values else []
        lines += [[f"{line.name} (published)", *_numbers(line.published, columns)]] if line in printed else []
    return Grid("by test set", ["row", *columns], lines)


def notes(found: Reproduction) -> list[str]:
    """What must be known to read the numbers."""
    tolerance = f"measured − published: within the tolerance of ± {found.table.tolerance:g}, or beyond it"
    said = [tolerance] if found.table.comparable else []
    said += reasons({line.name: shorten(line.why, LONGEST, placeholder=" …") for line in found.lines})
    said += [
        f"{line.name} elsewhere: {value} ({where})" for line in found.lines for where, value in line.elsewhere.items()
    ]
    said += printed_notes(found.table)
    said.append(f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds")
    return [*said, *(found.deciding.notes if found.deciding else ())]


def reasons(rows: Mapping[str, str]) -> list[str]:
    """A line for every reason, behind the rows that it is of; a row without a reason is in none."""
    known: dict[str, list[str]] = {}
    for name, why in rows.items():
        known.setdefault(why, []).append(name)
    return [f"{', '.join(names)}: {why}" for why, names in known.items() if why]


def deviations(found: Reproduction) -> list[str]:
    """What is not as in the paper."""
    return [f"not as in the paper: {line}" for line in found.table.deviations]


def text(found: Reproduction) -> str:
    """Everything as plain lines, fitted to the terminal if there is one."""
    width = shutil.get_terminal_size((WIDTH, 50)).columns
    main, tests = rows(found), by_test(found)
    blocks = [head(found), *_fitted(main, width)]
    blocks += [[tests.title, *aligned([tests.header, *tests.rows])]] if tests else []
    cost = f"cost: {duration(found.seconds)} of training in all"
    blocks += [notes(found), deviations(found), [cost, answered(found)]]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def latex(found: Reproduction) -> str:
    """Two tables of LaTeX with the package booktabs; notes are in the first one's caption."""
    main, tests = rows(found), by_test(found)
    caption = "; ".join([*head(found), *([main.title] if main.title else []), *notes(found), *deviations(found)])
    made = [tabular(caption, main.header, main.rows)]
    made += [tabular(f"{head(found)[0]}, {tests.title}", tests.header, tests.rows)] if tests else []
    return LATEX_HEAD + "\n".join(made)


def comma_separated(found: Reproduction) -> str:
    """A line for every row and column, all numbers exact; a row that is not measured has one."""
    return csv_lines(
        [_flat(found, line, column) for line in found.lines for column in _columns(line) or [found.column]]
    )


FORMATS: dict[str, Callable[[Reproduction], str]] = {"text": text, "latex": latex, "csv": comma_separated}


def plain(found: Reproduction) -> dict[str, Any]:
    """The reproduction as JSON-like values."""
    table = found.table
    return {
        **caption(table),
        "answer": answered(found),
        "column": found.column,
        "metric": found.deciding.metrics[0] if found.deciding else None,
        "seeds": list(found.sweep.seeds),
        "rows": [_plain(found, line) for line in found.lines],
        "cost": {"train_seconds": found.seconds},
        "deviations": list(table.deviations),
        "notes": notes(found),
        "sweep": found.sweep.folder.uri,
    }


def caption(table: Published) -> dict[str, Any]:
    """Which table it is, and at which scale, as JSON-like values."""
    return {
        "table": table.name,
        "paper": table.paper,
        "where": table.where,
        "question": table.space.question,
        "scale": table.space.scale,
        "comparable": table.comparable,
        "reference": table.space.reference,
        "tolerance": table.tolerance,
    }


def printed_notes(table: Published) -> list[str]:
    """What must be known of the printed values, such as where the paper contradicts itself."""
    return [f"{table.where}, {note}" for note in table.printed.notes]


def _plain(found: Reproduction, line: Line) -> dict[str, Any]:
    row, score = found.row(line), found.score(line)
    return {
        **plain_row(found.table, line.name),
        "status": line.status,
        "why": line.why,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(row.seeds) if row else [],
        "measured": found.value(line),
        "interval": [score.low, score.high] if score else None,
        "deviation": line.deviations.get(found.column),
        "literature": found.literature(line),
        "gap": found.gap(line),
        "within_tolerance": found.within(line),
        "difference": row.difference if row else None,
        "difference_interval": [row.tested.low, row.tested.high] if row and row.tested else None,
        "p": row.tested.p_value if row and row.tested else None,
        "p_corrected": row.corrected if row else None,
        "mark": row.mark if row else "",
        "cost": asdict(row.cost) if row and row.cost else None,
        "time_factor": row.time_factor if row else None,
        "tests": {column: _on(found, line, column) for column in _columns(line)},
    }


def plain_row(table: Published, name: str) -> dict[str, Any]:
    """What the paper prints of a row, as JSON-like values."""
    row = table.printed.rows.get(name)
    notes = [note.to_dict() for note in table.printed.notes if note.row == name]
    return {"name": name, "published": dict(table.values(name)), **(row.to_dict() if row else {}), "notes": notes}


def _columns(line: Line) -> list[str]:
    """Where anything is measured, and then where more is printed."""
    return list(dict.fromkeys([*line.values, *line.published]))


def _on(found: Reproduction, line: Line, column: str) -> dict[str, Any]:
    """One row on one test set."""
    row = line.measured.get(column)
    score = row.scores.get(found.tables[column].metrics[0]) if row else None
    return {
        "published": line.published.get(column),
        "measured": line.values.get(column),
        "interval": [score.low, score.high] if score else None,
        "deviation": line.deviations.get(column),
        "difference": row.difference if row else None,
        "p_corrected": row.corrected if row else None,
    }


def _flat(found: Reproduction, line: Line, column: str) -> dict[str, Any]:
    row, on = line.measured.get(column), _on(found, line, column)
    low, high = on.pop("interval") or (None, None)
    cost = asdict(row.cost) if row and row.cost else {}
    return {
        "table": found.table.name,
        "scale": found.table.space.scale,
        "row": line.name,
        "test": column,
        **on,
        "low": low,
        "high": high,
        "seeds": " ".join(map(str, row.seeds)) if row else "",
        "status": line.status,
        "why": line.why,
        **{name: cost.get(name) for name in COSTS},
        "time_factor": row.time_factor if row else None,
    }


def _cells(found: Reproduction, line: Line) -> list[str]:
    row, score = found.row(line), found.score(line)
    between = f"[{score.low:.1f}, {score.high:.1f}]" if score else MISSING
    gap, cost = found.gap(line), row.cost if row else None
    verdict = {True: " (within)", False: " (beyond)", None: ""}[found.within(line)]
    apart = MISSING if gap is None else f"{signed(gap)}{verdict}"
    costs = [factor(cost.data_factor), duration(cost.train_seconds)] if cost else [MISSING] * 2
    return [
        line.name,
        str(len(row.seeds)) if row else "0",
        _number(found.published(line)),
        _measured(found, line),
        between,
        *([apart] if found.table.comparable else []),
        difference(row) if row else MISSING,
        probability(row) if row else MISSING,
        *costs,
        factor(row.time_factor if row else None),
        line.status,
    ]


def _measured(found: Reproduction, line: Line) -> str:
    """`72.4 ± 0.3`."""
    deviation = line.deviations.get(found.column)
    return _number(found.value(line)) + ("" if deviation is None else f" ± {deviation:.1f}")


def _numbers(values: Mapping[str, float], columns: Sequence[str]) -> list[str]:
    return [_number(values.get(column)) for column in columns]


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _fitted(grid: Grid, width: int) -> list[list[str]]:
    """A grid as lines; where `width` has no room for them, cost comes below scores."""
    whole = aligned([grid.header, *grid.rows])
    if len(whole[0]) <= width:
        return [[grid.title, *whole]]
    scores = grid.header.index("data")
    parts: list[Sequence[Sequence[str]]] = [
        [cells[:scores] for cells in (grid.header, *grid.rows)],
        [[cells[0], *cells[scores:]] for cells in (grid.header, *grid.rows)],
    ]
    return [[grid.title, *aligned(parts[0])], aligned(parts[1])]
