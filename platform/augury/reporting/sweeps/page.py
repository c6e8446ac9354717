"""The page of a sweep: the question, the answer, the configurations, and the response of the score
to swept keys.

It is rewritten while the sweep runs, and is a single file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from augury.core.naming import title as point_name
from augury.core.progress import duration
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.reporting.figures import Figure, score_against_cost
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, factor
from augury.reporting.page import downloads, experiment_download, render_page
from augury.reporting.score_tables import by_test, frame
from augury.reporting.styles import OTHER, Style
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.axes import short_names, value_text
from augury.reporting.sweeps.figures import (
    configuration_styles,
    learning_curves,
    parallel_coordinates,
    rung_time,
    rungs,
)
from augury.reporting.sweeps.locations import (
    address_table,
    described_runs,
    locations,
    sweep_command,
)
from augury.reporting.sweeps.response import importance, responses
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.reporting.tables import Cell, Table, cell, csv, latex, records, row, table
from augury.sweeping.state import Progress, Sweep

STATES: tuple[Progress, ...] = ("finished", "running", "paused", "stopped", "failed", "waiting")


def render(sweep: Sweep, refresh: int | None = None) -> str:
    """Render the page in its current state; a browser reloads it every `refresh` seconds."""
    summary, described = summarise(sweep), described_runs(sweep)
    styles, response = configuration_styles(summary), responses(summary)
    charts = [shown for shown in response if isinstance(shown, Figure)]
    curves, decided, parallel = (
        learning_curves(summary, styles),
        rungs(summary),
        parallel_coordinates(summary, styles),
    )
    cost = score_against_cost(summary.deciding, styles) if summary.deciding else []
    highlighted = [
        (styles[result.address], result.name)
        for result in summary.ranking
        if result.address in styles
    ]
    others = len(summary.ranking) - len(highlighted)
    shown, leader = configurations(summary, styles), summary.leader
    runs_of_leader = [trial.folder for trial in leader.configuration.trials] if leader else []
    return render_page(
        "sweep",
        [*charts, *curves, *decided, *cost, *parallel],
        name=f"Sweep {sweep.name}",
        sweep=sweep,
        answer=answer(summary),
        power=summary.deciding.power_text if summary.deciding else "",
        cautions=[
            *summary.cautions,
            *(
                stored_runs.corpus_notes(described[0], RunRecord.read(described[0]).inputs)
                if described
                else ()
            ),
        ],
        counts={state: count for state in STATES if (count := sweep.count(state))},
        facts=_facts(summary),
        refresh=None if sweep.ended else refresh,
        configurations=shown,
        downloads=downloads(sweep.name, csv=csv(frame(summary.comparisons)), tex=latex([shown])),
        by_test=by_test(summary.comparisons) if len(summary.comparisons) > 1 else None,
        reference=summary.reference,
        importance=importance(summary),
        response_figures=charts,
        response_tables=[shown for shown in response if isinstance(shown, Table)],
        parallel=parallel,
        legend=[*highlighted, *([(OTHER, f"{others} others")] if others else [])],
        curves=curves,
        cost=cost,
        rungs=decided,
        decisions=_decisions(summary),
        failures=_failures(summary),
        command=sweep_command(sweep),
        repetition=experiment_download(leader.name, runs_of_leader, sweep.seeds)
        if leader
        else None,
        locations=locations(sweep),
        addresses=address_table(
            "configuration", ((item.name, item.configuration) for item in summary.ranking)
        ),
    )


def _facts(summary: Summary) -> dict[str, str]:
    sweep = summary.sweep
    devices = dict.fromkeys(
        row.cost.device for item in summary.comparisons for row in item.rows if row.cost
    )
    return {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        "scale": sweep.scale,
        "training so far": duration(sweep.seconds)
        + (f" on {', '.join(devices)}" if devices else ""),
        "started": _when(sweep.started),
        "ended" if sweep.ended else "updated": _when(sweep.updated),
    }


def configurations(summary: Summary, styles: Mapping[str, Style]) -> Table:
    """Return all configurations, best first, each followed by points that are the same
    experiment."""
    sweep, deciding = summary.sweep, summary.deciding
    columns = [
        "rank",
        *short_names(sweep.keys),
        "state",
        "seeds",
        summary.metric,
        *summary.score_columns,
    ]
    rows = []
    for rank, result in enumerate(summary.ranking, start=1):
        point, scores = result.configuration.point, _scores(summary, result)
        name = (
            "" if result.name == point_name(point) else result.name
        )  # of a row, or of the additional baseline
        note = ", ".join(
            part for part in (name, "reference" if result is summary.reference else "") if part
        )
        cells = [cell(rank, "d"), *_key_cells(sweep, point), result.state_text, *scores]
        faint = result.state in ("stopped", "failed")
        rows.append(row(cells, style=styles.get(result.address, OTHER), note=note, faint=faint))
        for merged in (merged for merged in sweep.merged if merged.same_as == result.name):
            name = (
                f"{merged.name}: "
                if merged.name and merged.name != point_name(merged.point)
                else ""
            )
            hint = f"the same experiment as {merged.same_as}: {merged.reason}"
            state = Cell(f"as rank {rank}", "as", hint=hint)
            cells = [cell(rank, "d"), *_key_cells(sweep, merged.point), state, *scores]
            rows.append(row(cells, note=f"{name}same experiment, as {merged.reason}", faint=True))
    notes = [f"{summary.metric}: the best validation so far, mean ± standard deviation over seeds"]
    notes += deciding.notes if deciding else ()
    return table(
        [*columns, "wall time", summary.time_factor_title],
        rows,
        title="configurations",
        notes=tuple(dict.fromkeys(notes)),
    )


def _key_cells(sweep: Sweep, point: Mapping[str, Any]) -> list[Cell]:
    return [_key_cell(point[key]) if key in point else Cell(MISSING) for key in sweep.keys]


def _key_cell(value: Any) -> Cell:
    sortable = value is None or (
        isinstance(value, int | float | str) and not isinstance(value, bool)
    )
    return Cell(value_text(value), value if sortable else json.dumps(value))


def _scores(summary: Summary, result: ConfigurationResult) -> list[Cell]:
    """Return the seeds, scores and cost of a configuration."""
    return [
        Cell(f"{result.finished} of {len(summary.sweep.seeds)}", result.finished),
        Cell(result.spread_text, result.mean),
        *summary.score_cells(result),
        cell(result.seconds, duration),
        cell(summary.time_factor(result), factor),
    ]


def _decisions(summary: Summary) -> Table | None:
    names = summary.sweep.by_address
    rows = [
        {
            "configuration": names[decision.address].name,
            "rung": f"{decision.rung}, {rung_time(decision)}",
            "action": decision.action,
            "mean [interval]": adaptive_interval(decision.mean, decision.low, decision.high),
            "cut": adaptive(decision.cut, like=decision.mean),
            "seeds": decision.seeds,
            "when": _when(decision.time),
        }
        for decision in summary.decisions
    ]
    return records(rows) if rows else None


def _failures(summary: Summary) -> Table | None:
    rows = [
        {"trial": name, "error": trial.error or "unknown", "run": Cell(trial.folder.uri, code=True)}
        for name, trial in summary.failures.items()
    ]
    return records(rows, kind="words") if rows else None


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
