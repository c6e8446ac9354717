"""The tables of a sweep: its configurations, on a page and in a terminal, the best of every family,
the decisions of its race and the trials that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from augury.core.naming import title as point_name
from augury.core.progress import duration
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, factor, probability
from augury.reporting.score_tables import seed_note
from augury.reporting.styles import OTHER, Style
from augury.reporting.sweeps.axes import short_names, value_text
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.reporting.tables import Cell, Row, Table, cell, records, row, table
from augury.sweeping.state import Sweep


def configurations(summary: Summary, styles: Mapping[str, Style]) -> Table:
    """Return all configurations, best first, each followed by points that are the same
    experiment."""
    sweep, rows = summary.sweep, []
    for rank, result in enumerate(summary.ranking, start=1):
        rows.append(_configuration_row(summary, result, rank, styles.get(result.address, OTHER)))
        rows += _merged_rows(summary, result, rank)
    notes = [f"{summary.metric}: the best validation so far, mean ± standard deviation over seeds"]
    notes += summary.deciding.notes if summary.deciding else ()
    columns = ["rank" if sweep.keys else "system", *short_names(sweep.keys), *_titles(summary)]
    return table(columns, rows, title="configurations", notes=tuple(dict.fromkeys(notes)))


def terminal_table(summary: Summary) -> Table:
    """Return all configurations by name, for a terminal."""
    rows = [
        [
            f"{result.name} (reference)" if result is summary.reference else result.name,
            result.state,
            *_scores(summary, result),
        ]
        for result in summary.ranking
    ]
    columns = ["configuration", *_titles(summary)]
    return table(columns, rows, parts=(4, len(columns) - 2))


def families(summary: Summary, styles: Mapping[str, Style]) -> Table | None:
    """Return the best configuration of every family, best family first; None where the space has
    no families."""
    best: dict[str, ConfigurationResult] = {}
    counts: dict[str, int] = {}
    for result in summary.ranking:  # the best in validation first
        family = result.configuration.family
        if result is summary.reference or not family:
            continue
        counts[family] = counts.get(family, 0) + 1
        if result is summary.leader:  # others may have a better mean of fewer seeds
            best[family] = result
        best.setdefault(family, result)
    if not best:
        return None
    rows = [_family_row(summary, "reference", summary.reference, 1, styles)]
    rows += [
        _family_row(summary, family, result, counts[family], styles)
        for family, result in best.items()
    ]
    test = summary.deciding.test_label if summary.deciding else "test"
    columns = ["family", "state", "seeds", summary.metric, f"difference on {test}"]
    notes = (
        "of each family the one that leads, or else trained furthest and, of these, scores best",
    )
    return table([*columns, "p", summary.time_factor_title], rows, notes=notes)


def _family_row(
    summary: Summary,
    family: str,
    result: ConfigurationResult,
    count: int,
    styles: Mapping[str, Style],
) -> Row:
    scored = summary.row(result)
    p_value = scored.corrected if scored and scored.tested else None
    cells = [
        Cell(family),
        Cell(result.state),
        cell(result.finished, "d"),
        Cell(result.spread_text, result.mean),
        Cell(scored.difference_text if scored else MISSING, scored.difference if scored else None),
        cell(p_value, probability),
        cell(summary.time_factor(result), factor),
    ]
    note = result.name
    if count > 1:
        unknown = result.mean is None
        note += f", of {count} without a validation" if unknown else f", the best of {count}"
    style = styles.get(result.address, OTHER)
    return row(cells, style=style, note=note, faint=result.state == "stopped")


def _titles(summary: Summary) -> list[str]:
    """Return the titles of a state and of `_scores`."""
    costs = ["wall time/seed", summary.time_factor_title]
    return ["state", "seeds", summary.metric, *summary.score_columns, *costs]


def _scores(summary: Summary, result: ConfigurationResult) -> list[Cell]:
    """Return the seeds, scores and cost of a configuration."""
    return [
        Cell(f"{result.finished} of {len(summary.sweep.seeds)}", result.finished),
        Cell(result.spread_text, result.mean),
        *summary.score_cells(result),
        cell(result.seconds, duration),
        cell(summary.time_factor(result), factor),
    ]


def _configuration_row(
    summary: Summary, result: ConfigurationResult, rank: int, style: Style
) -> Row:
    sweep, point, scored = summary.sweep, result.configuration.point, summary.row(result)
    notes = []
    if sweep.keys and result.name != point_name(point):  # of the additional baseline
        notes.append(result.name)
    if result is summary.reference:
        notes.append("reference")
    if summary.deciding and scored and (few_seeds := seed_note(summary.deciding, scored)):
        notes.append(few_seeds)
    first = cell(rank, "d") if sweep.keys else Cell(result.name, rank)
    cells = [first, *_key_cells(sweep, point), result.state, *_scores(summary, result)]
    faint = result.state in ("stopped", "failed")
    return row(cells, style=style, note=", ".join(notes), faint=faint)


def _merged_rows(summary: Summary, result: ConfigurationResult, rank: int) -> Iterator[Row]:
    """Yield the points that are the same experiment as a configuration, with its scores."""
    sweep = summary.sweep
    for merged in sweep.merged:
        if merged.same_as != result.name:
            continue
        hint = f"the same experiment as {merged.same_as}: {merged.reason}"
        state = Cell(f"as rank {rank}" if sweep.keys else f"as {result.name}", "as", hint=hint)
        first = cell(rank, "d") if sweep.keys else Cell(merged.label, rank)
        own_name = sweep.keys and merged.name and merged.name != point_name(merged.point)
        name = f"{merged.name}: " if own_name else ""
        yield row(
            [first, *_key_cells(sweep, merged.point), state, *_scores(summary, result)],
            note=f"{name}same experiment, as {merged.reason}",
            faint=True,
        )


def _key_cells(sweep: Sweep, point: Mapping[str, Any]) -> list[Cell]:
    return [_key_cell(point[key]) if key in point else Cell(MISSING) for key in sweep.keys]


def _key_cell(value: Any) -> Cell:
    sortable = value is None or (
        isinstance(value, int | float | str) and not isinstance(value, bool)
    )
    return Cell(value_text(value), value if sortable else json.dumps(value))


def decision_table(summary: Summary) -> Table | None:
    """Return the decisions of the race; None where there are none."""
    names = summary.sweep.by_address
    rows = [
        {
            "configuration": names[decision.configuration].name,
            "action": decision.action,
            "mean [interval]": adaptive_interval(decision.mean, decision.low, decision.high),
            "threshold": adaptive(decision.cut, like=decision.mean),
            "seeds": decision.seeds,
            "when": when(decision.time),
        }
        for decision in summary.sweep.decisions
    ]
    return records(rows) if rows else None


def failure_table(summary: Summary) -> Table | None:
    """Return the trials that failed, with their errors; None where there are none."""
    rows = [
        {"trial": name, "error": trial.error or "unknown", "run": Cell(trial.folder.uri, code=True)}
        for name, trial in summary.failures.items()
    ]
    return records(rows, kind="words") if rows else None


def when(seconds: float) -> str:
    """Return a Unix time for people."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
