"""The page of a sweep: the question, the answer, the configurations, and how the score responds to what was swept.

It is written again and again while the sweep runs, and holds everything it shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from augury.core.naming import title as point_name
from augury.core.progress import duration
from augury.experiments import runs
from augury.reporting.comparison import by_test, frame
from augury.reporting.figures import Figure, score_against_cost
from augury.reporting.looks import OTHER, Look
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, factor
from augury.reporting.page import Download, download, file_name
from augury.reporting.page import render as render_page
from augury.reporting.repetition import experiment_yaml
from augury.reporting.sweeps.answer import summary_answer
from augury.reporting.sweeps.axes import short_names, value_text
from augury.reporting.sweeps.figures import learning_curves, looks, parallel_coordinates, rung_time, rungs
from augury.reporting.sweeps.locations import described_runs, locations, sweep_command
from augury.reporting.sweeps.response import importance, responses
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.reporting.tables import Cell, Row, Table, csv, latex, table
from augury.sweeping.state import Merged, Progress, Sweep

STATES: tuple[Progress, ...] = ("finished", "running", "paused", "stopped", "failed", "waiting")


def render(sweep: Sweep, refresh: int | None = None) -> str:
    """Return the page as it is now; a browser loads it again every `refresh` seconds."""
    summary = summarise(sweep)
    drawn = looks(summary)
    response = responses(summary)
    curves, decided = learning_curves(summary, drawn), rungs(summary)
    cost = score_against_cost(summary.deciding, drawn) if summary.deciding else None
    parallel = parallel_coordinates(summary, drawn)
    figures = [*(item for item in response if isinstance(item, Figure)), *curves, *decided]
    figures += [figure for figure in (cost, parallel) if figure]
    counts = {state: count for state in STATES if (count := sweep.count(state))}
    highlighted = [(drawn[result.address], result.name) for result in summary.ranking if result.address in drawn]
    others = len(summary.ranking) - len(highlighted)
    described = described_runs(sweep)
    shown = configurations(summary, drawn)
    return render_page(
        "sweep",
        figures,
        name=f"Sweep {sweep.name}",
        sweep=sweep,
        answer=summary_answer(summary),
        cautions=[*summary.cautions, *(runs.notes(described[0]) if described else ())],
        counts=counts,
        state_names={"waiting": "not needed"} if sweep.ended else {},
        facts=_facts(summary),
        refresh=None if sweep.ended else refresh,
        configurations=shown,
        downloads=_downloads(summary, shown),
        by_test=by_test(summary.comparisons) if len(summary.comparisons) > 1 else None,
        reference=summary.reference.name,
        importance=importance(summary),
        response_figures=[item for item in response if isinstance(item, Figure)],
        response_tables=[item for item in response if isinstance(item, Table)],
        dots="seeds" if len(sweep.keys) == 1 else "configurations",
        parallel=parallel,
        legend=[*highlighted, *([(OTHER, f"{others} others")] if others else [])],
        curves=curves,
        cost=cost,
        rungs=decided,
        decisions=_decisions(summary),
        failures=_failures(sweep),
        command=sweep_command(sweep),
        experiment=_experiment(summary),
        locations=locations(sweep),
        addresses=_addresses(summary),
    )


def _facts(summary: Summary) -> dict[str, str]:
    sweep = summary.sweep
    seconds = sum(trial.seconds for configuration in sweep.configurations for trial in configuration.trials)
    devices = dict.fromkeys(row.cost.device for item in summary.comparisons for row in item.rows if row.cost)
    return {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        "scale": sweep.scale,
        "training so far": f"{seconds / 3600:.1f} hours" + (f" on {', '.join(devices)}" if devices else ""),
        "started": _when(sweep.started),
        "ended" if sweep.ended else "updated": _when(sweep.updated),
    }


def configurations(summary: Summary, drawn: Mapping[str, Look]) -> Table:
    """Return all configurations, best first, each followed by the points that are the same experiment."""
    sweep, deciding = summary.sweep, summary.deciding
    columns = ["rank", *short_names(sweep.keys), "state", "seeds", summary.metric]
    if deciding:
        score, *others = deciding.score_columns()
        columns += [f"{score.partition(' [')[0]} {deciding.test}", *others]
    columns += ["train time", "× reference"]
    rows = []
    for rank, result in enumerate(summary.ranking, start=1):
        rows.append(_configuration(summary, result, rank, drawn))
        rows += [_merged(summary, point, result, rank) for point in sweep.merged if point.same_as == result.name]
    notes = [f"{summary.metric}: the best validation so far, mean ± standard deviation over seeds"]
    notes += deciding.notes if deciding else ()
    return Table(tuple(columns), tuple(rows), "configurations", tuple(dict.fromkeys(notes)))


def _configuration(summary: Summary, result: ConfigurationResult, rank: int, drawn: Mapping[str, Look]) -> Row:
    point = result.configuration.point
    own_name = "" if result.name == point_name(point) else result.name  # of a row, or the baseline beside the space
    note = ", ".join(part for part in (own_name, "reference" if result is summary.reference else "") if part)
    cells = [Cell(str(rank), rank), *_key_cells(summary.sweep, point), Cell(result.state_text, result.state_text)]
    faint = result.state in ("stopped", "failed")
    return Row((*cells, *_result_cells(summary, result)), drawn.get(result.address, OTHER), note, faint)


def _merged(summary: Summary, merged: Merged, result: ConfigurationResult, rank: int) -> Row:
    """Return a point that runs once with another one, with the values of that one."""
    state = Cell(f"as rank {rank}", "as", hint=f"the same experiment as {merged.same_as}: {merged.reason}")
    cells = [Cell(f"{rank}", rank), *_key_cells(summary.sweep, merged.point), state, *_result_cells(summary, result)]
    own_name = f"{merged.name}: " if merged.name and merged.name != point_name(merged.point) else ""
    return Row(tuple(cells), None, f"{own_name}same experiment, as {merged.reason}", faint=True)


def _key_cells(sweep: Sweep, point: Mapping[str, Any]) -> list[Cell]:
    return [Cell(value_text(point[key]), _order(point[key])) if key in point else Cell(MISSING) for key in sweep.keys]


def _order(value: Any) -> float | str | None:
    if value is None or (isinstance(value, int | float | str) and not isinstance(value, bool)):
        return value
    return json.dumps(value)


def _result_cells(summary: Summary, result: ConfigurationResult) -> list[Cell]:
    row = summary.row(result)
    time_factor = row.time_factor if row else None
    return [
        Cell(f"{result.finished} of {len(summary.sweep.seeds)}", result.finished),
        Cell(result.spread_text, result.mean),
        *(summary.deciding.score_cells(row) if summary.deciding else ()),
        Cell(MISSING if result.seconds is None else duration(result.seconds), result.seconds),
        Cell(factor(time_factor), time_factor),
    ]


def _downloads(summary: Summary, shown: Table) -> list[Download]:
    stem = file_name(summary.sweep.name)
    scores = csv(frame(summary.comparisons))
    return [download("CSV", f"{stem}.csv", scores), download("LaTeX", f"{stem}.tex", latex([shown]))]


def _decisions(summary: Summary) -> Table | None:
    names = summary.sweep.by_address
    rows = [
        [
            names[decision.address].name,
            f"{decision.rung}, {rung_time(decision)}",
            decision.action,
            adaptive_interval(decision.mean, decision.low, decision.high),
            adaptive(decision.cut, like=decision.mean),
            str(decision.seeds),
            _when(decision.time),
        ]
        for decision in summary.decisions
    ]
    return table(["configuration", "rung", "action", "mean [interval]", "cut", "seeds", "when"], rows) if rows else None


def _failures(sweep: Sweep) -> Table | None:
    rows = [
        [f"{item.name}, seed {trial.seed}", trial.error or "unknown", Cell(trial.folder.uri, code=True)]
        for item in sweep.configurations
        for trial in item.trials
        if trial.progress == "failed"
    ]
    return table(["trial", "error", "run"], rows, kind="words") if rows else None


def _experiment(summary: Summary) -> tuple[str, Download, str] | None:
    """Return the name of the configuration that leads, its experiment file and the file's text."""
    leader = summary.leader
    folders = [trial.folder for trial in leader.configuration.trials] if leader else []
    content = next((text for run in folders if (text := experiment_yaml(run, summary.sweep.seeds))), None)
    if leader is None or content is None:
        return None
    return leader.name, download("experiment file", f"{file_name(leader.name)}.yaml", content), content


def _addresses(summary: Summary) -> Table:
    rows = [
        [
            result.name,
            Cell(f"runs/{result.address}", code=True),
            ", ".join(f"{trial.seed} ({trial.progress})" for trial in result.configuration.trials),
        ]
        for result in summary.ranking
    ]
    return table(["configuration", "runs", "seeds"], rows, kind="words")


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
