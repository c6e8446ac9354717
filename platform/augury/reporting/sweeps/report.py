"""The report of a sweep: the question, the answer, the configurations, and the response of the
score to swept keys.

Its page and its summary, files in the folder of the sweep, are rewritten while it runs.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from augury.core import config
from augury.core.filesystems import parts_around
from augury.core.integrity import Damaged
from augury.core.naming import counted
from augury.core.naming import title as point_name
from augury.core.progress import duration
from augury.experiments import stored_runs
from augury.experiments.record import SCORES, RunRecord
from augury.reporting import rendering
from augury.reporting.downloads import download, downloads
from augury.reporting.figures import Figure
from augury.reporting.numbers import MISSING, factor, share
from augury.reporting.report import (
    Charts,
    Code,
    Details,
    Downloads,
    Places,
    Report,
    Section,
    Status,
    section,
)
from augury.reporting.score_charts import cost_sections, forest, pareto_front
from augury.reporting.score_tables import (
    by_test,
    frame,
    score_cells,
    score_columns,
    shared_notes,
    test_sections,
)
from augury.reporting.styles import OTHER, Style
from augury.reporting.sweeps.answer import answer, recommendation
from augury.reporting.sweeps.figures import configuration_styles, learning_curves
from augury.reporting.sweeps.locations import (
    address_table,
    compare_command,
    described_runs,
    locations,
    sweep_command,
)
from augury.reporting.sweeps.recommended import RECOMMENDED, recommend
from augury.reporting.sweeps.response import responses, short_names, value_text
from augury.reporting.sweeps.summary import (
    ConfigurationResult,
    Summary,
    confirming,
    recommended,
    summarise,
)
from augury.reporting.tables import Cell, Row, Table, cell, csv, latex, records, row, table
from augury.sweeping.state import DEFINITION, ENDS, PAGE, STATES, Sweep

SUMMARY = "summary.json"
STATE = "state"
"""The entry of a stored summary with a hash of what it depends on."""
Styles = Mapping[str, Style]


def report(sweep: Sweep, refresh: int | None = None) -> Report:
    """Return the report of a sweep in its current state; a browser loads its page again every
    `refresh` seconds."""
    return _report(summarise(sweep), refresh)


def _report(summary: Summary, refresh: int | None) -> Report:
    sweep = summary.sweep
    styles = configuration_styles(summary)
    shown = configurations(summary, styles)
    tested = summary.confirmed.deciding if summary.confirmed else summary.deciding
    labels: dict[str, str] = {state: state for state in STATES}
    if sweep.ended:
        labels["waiting"] = "not needed"
    return Report(
        title=f"Sweep {sweep.name}",
        question=sweep.question,
        answer=answer(summary),
        power=tested.power_text if tested else "",
        conclusions=[line for line in (recommendation(summary),) if line],
        notes=[*summary.warnings, *_text_notes(sweep)],
        status=Status(
            counts={state: count for state in STATES if (count := sweep.count(state))},
            labels=labels,
            updated=sweep.updated,
            refresh=None if sweep.ended or sweep.stopped else refresh,
        ),
        facts=_facts(summary),
        sections=[*_sections(summary, styles, shown)],
        data=data(summary),
        summary=terminal(summary),
        tables=[shown],
        records=frame(summary.comparisons),
    )


def write(sweep: Sweep, refresh: int | None) -> Summary:
    """Write the page of a sweep and its stored summary; return what they are made from. A browser
    loads the page again every `refresh` seconds. The last page, which is not loaded again, is
    written after the experiment file of the recommended system."""
    summary = summarise(sweep)
    if refresh is None:
        recommend(summary)
    shown = _report(summary, refresh)
    _write_summary(sweep, shown.data)
    sweep.folder.write(PAGE, rendering.page(shown))
    return summary


def terminal(summary: Summary) -> list[Table | str]:
    """Return what a terminal shows: the question, all configurations, the answer, and what the
    numbers need."""
    comparisons = summary.comparisons
    rows = []
    for result in summary.ranking:
        name = f"{result.name} (reference)" if result is summary.reference else result.name
        rows.append([name, result.state, *_scores(summary, result)])
    columns = ["configuration", "state", *_score_titles(summary)]
    parts = (4, len(columns) - 2)
    failed = [f"failed: {name}: {trial.error}" for name, trial in summary.failures.items()]
    merged = [
        f"same as {point.same_as}: {point.label} ({point.reason})" for point in summary.sweep.merged
    ]
    lines = [answer(summary), recommendation(summary), *summary.warnings, *failed, *merged]
    lines += [*shared_notes(comparisons[:1]), *_text_notes(summary.sweep)]
    if summary.confirmed:
        lines.append(f"{summary.confirmed.deciding.power_text} (with the fresh seeds)")
    return [
        summary.sweep.question,
        table(columns, rows, parts=parts),
        *([by_test(comparisons)] if len(comparisons) > 1 else []),
        "\n".join(line for line in lines if line),
    ]


def stored_summary(sweep: Sweep) -> dict[str, Any]:
    """Return the summary of a sweep, what `augury sweep --json` prints; it is made again where
    trials have gone on since it was stored."""
    with suppress(FileNotFoundError, Damaged):
        summary = sweep.folder.read_record(SUMMARY)
        if summary.get(STATE) == _state(sweep):
            return summary
    return _write_summary(sweep, data(summarise(sweep)))


def data(summary: Summary) -> dict[str, Any]:
    """Return the sweep as JSON-like values."""
    sweep, best = summary.sweep, recommended(summary)
    front = pareto_front(summary.deciding) if summary.deciding else []
    begun = [trial for _, trial in sweep.trials if trial.progress != "waiting"]
    ahead = summary.leader
    confirm = None
    if ahead and ahead is not summary.reference and summary.confirmed is None:
        confirm = dict(zip(("trainings", "seconds"), confirming(summary, ahead), strict=True))
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": answer(summary),
        "ended": sweep.ended,
        "metric": sweep.metric,
        "mode": sweep.mode,
        "scale": sweep.scale,
        "scheduler": sweep.scheduler,
        "decided_on": "validation" if sweep.tests == () else "tests",
        "chances": dict(summary.chances),
        "front": [row.address for row in front],
        "recommended": best.address if best else None,
        "recommendation": recommendation(summary),
        "confirm": confirm,
        "worth": sweep.worth,
        "cautions": summary.warnings,
        "notes": _text_notes(sweep),
        "seeds": list(sweep.seeds),
        "reference": sweep.reference,
        "best": summary.leader.address if summary.leader else None,
        "confirmed": summary.confirmed.to_dict() if summary.confirmed else None,
        "table": [_result_dict(summary, result) for result in summary.ranking],
        "merged": [asdict(point) for point in sweep.merged],
        "decisions": [decision._asdict() for decision in sweep.decisions],
        "trials": len(begun),
        **{state: sweep.count(state) for state in ENDS},
        "cost": {"train_seconds": sum(trial.seconds for trial in begun)},
        "sweep": sweep.folder.uri,
    }


def configurations(summary: Summary, styles: Styles) -> Table:
    """Return all configurations, best first, each followed by points that are the same
    experiment."""
    sweep, rows = summary.sweep, []
    for rank, result in enumerate(summary.ranking, start=1):
        rows.append(_configuration_row(summary, result, rank, styles.get(result.address, OTHER)))
        same = [merged for merged in sweep.merged if merged.same_as == result.name]
        for merged in same:
            first = cell(rank, "d") if sweep.keys else Cell(merged.label, rank)
            cells = [first, *_key_cells(sweep, merged.point), f"as {result.name}"]
            note = f"{merged.label}: same experiment, as {merged.reason}"
            cells += [*_scores(summary, result), *_chance(summary, result)]
            rows.append(row(cells, note=note, faint=True))
    notes = [f"{summary.metric}: the best validation so far, mean ± standard deviation over seeds"]
    notes += summary.deciding.notes if summary.deciding else ()
    notes += summary.deciding.details if summary.deciding else ()
    columns = [
        "rank" if sweep.keys else "system",
        *short_names(sweep.keys),
        "state",
        *_score_titles(summary),
    ]
    columns += ["chance to be best"] if summary.chances else []
    return table(columns, rows, title="configurations", notes=tuple(dict.fromkeys(notes)))


def _configuration_row(
    summary: Summary, result: ConfigurationResult, rank: int, style: Style
) -> Row:
    sweep, point = summary.sweep, result.configuration.point
    named = sweep.keys and result.name != point_name(point)  # of the additional baseline
    notes = [result.name] if named else []
    notes += ["reference"] if result is summary.reference else []
    first = cell(rank, "d") if sweep.keys else Cell(result.name, rank)
    cells = [first, *_key_cells(sweep, point), result.state, *_scores(summary, result)]
    cells += _chance(summary, result)
    faint = result.state in ("stopped", "failed")
    return row(cells, style=style, note=", ".join(notes), faint=faint)


def _score_titles(summary: Summary) -> list[str]:
    """Return the titles of `_scores`."""
    titles = []
    if summary.deciding:
        score, *others = score_columns(summary.deciding)
        titles = [f"{score.partition(' [')[0]} {summary.deciding.test}", *others]
    on_cpus = summary.deciding is not None and summary.deciding.time_kind == "CPU time"
    times = "CPU × reference" if on_cpus else "× reference"
    return ["seeds", summary.metric, *titles, "wall time/seed", times]


def _scores(summary: Summary, result: ConfigurationResult) -> list[Cell]:
    """Return the seeds, scores and cost of a configuration."""
    scored = summary.row(result)
    return [
        Cell(f"{result.finished} of {len(summary.sweep.seeds)}", result.finished),
        Cell(result.spread_text, result.mean),
        *(score_cells(summary.deciding, scored) if summary.deciding else []),
        cell(result.seconds, duration),
        cell(scored.time_factor if scored else None, factor),
    ]


def _chance(summary: Summary, result: ConfigurationResult) -> list[Cell]:
    """Return the probability of a configuration to be the best on the test set, as a column where
    any is known."""
    return [cell(summary.chances.get(result.address), share)] if summary.chances else []


def _key_cells(sweep: Sweep, point: Mapping[str, Any]) -> list[Cell]:
    cells = []
    for key in sweep.keys:
        value = point.get(key)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        text = value_text(value) if key in point else MISSING
        cells.append(Cell(text, value if number else text))
    return cells


def _sections(summary: Summary, styles: Styles, shown: Table) -> Iterator[Section]:
    sweep, comparisons = summary.sweep, summary.comparisons
    names = [(styles[of.address], of.name) for of in summary.ranking if of.address in styles]
    if others := len(summary.ranking) - len(names):
        names.append((OTHER, counted(others, "other")))
    files = downloads(sweep.name, csv=csv(frame(comparisons)), tex=latex([shown]))
    order = f"Sorted by {summary.metric}, best first; those that have not begun are last."
    yield section("Configurations", order, shown, Downloads(files))
    compare = Code(f"{compare_command(sweep)}    # prints every set with intervals")
    yield from test_sections(comparisons, "configurations", compare)
    if differences := forest(summary.deciding, styles):
        yield section("Differences to the reference", Charts(differences))
    colours = " Means over seeds; intervals of 95 % where a configuration has a colour."
    yield from cost_sections(summary.deciding, styles, colours, names)
    response = responses(summary)
    charts = [of for of in response if isinstance(of, Figure)]
    if charts:
        text = "Dotted: the reference, where it has none of the values. Bars: intervals of 95 %."
        yield section("Effect of the swept settings", Charts(charts), text)
    elif response:
        text = (
            "Means over seeds, ± half of their 95 % interval, the number of seeds in brackets. "
            "Blue is better than the reference, orange is worse. A dagger: not trained to the end, "
            "at the best value so far."
        )
        maps = [of for of in response if isinstance(of, Table)]
        yield section("Effect of the swept settings", *maps, text)
    if curves := learning_curves(summary, styles):
        yield section("Learning curves", Charts(curves, names))
    if summary.failures:
        failed = [
            {"trial": name, "error": trial.error or "?", "run": Cell(trial.folder.uri, code=True)}
            for name, trial in summary.failures.items()
        ]
        yield section("Failed trials", records(failed, kind="words"))
    chosen = recommended(summary)
    train: list[Code | Details] = []
    if chosen and sweep.folder.exists(RECOMMENDED):
        content = sweep.folder.read(RECOMMENDED).decode()
        file = download("experiment file", RECOMMENDED, content)
        line = f"augury train {shlex.quote(sweep.folder.location(RECOMMENDED))}"
        train = [
            Code(f"{line}    # {chosen.name}"),
            Details(RECOMMENDED, [Downloads([file]), Code(content)]),
        ]
    configured = ((item.name, item.configuration) for item in summary.ranking)
    addresses = Details("Addresses of all runs", [address_table("configuration", configured)])
    places = Places(locations(sweep))
    yield section("Repeat it", Code(sweep_command(sweep)), *train, places, addresses)


def _facts(summary: Summary) -> dict[str, str]:
    sweep = summary.sweep
    budget = sweep.budget_left
    devices = dict.fromkeys(
        row.cost.device for item in summary.comparisons for row in item.rows if row.cost
    )
    file = sweep.folder.read_record(DEFINITION).get("experiment")
    return {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        **({"experiment": file} if file else {"scale": sweep.scale}),
        "wall time of all trials": duration(sweep.seconds)
        + (f" on {', '.join(devices)}" if devices else ""),
        **({} if budget is None else {"budget": f"{duration(budget)} left" if budget else "spent"}),
        "started": when(sweep.started),
        "ended" if sweep.ended else "stopped" if sweep.stopped else "updated": when(sweep.updated),
    }


def _text_notes(sweep: Sweep) -> list[str]:
    """Return the notes on the texts of a sweep, such as that they are synthetic."""
    described = described_runs(sweep)[:1]
    notes = (stored_runs.corpus_notes(run, RunRecord.read(run).inputs) for run in described)
    return next(notes, [])


def _result_dict(summary: Summary, result: ConfigurationResult) -> dict[str, Any]:
    tests = {
        comparison.test: {**asdict(row), "mark": row.mark}
        for comparison in summary.comparisons
        if (row := comparison.row(result.address))
    }
    return {
        **result.configuration.to_dict(),
        "state": result.state,
        "seeds": result.finished,
        "validation": {
            "mean": result.mean,
            "sd": result.deviation,
            "low": result.low,
            "high": result.high,
            "values": {str(seed): value for seed, value in result.values.items()},
        },
        "train_seconds": result.seconds,
        "tests": tests,
    }


def _write_summary(sweep: Sweep, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write a summary; numbers that are not finite become null.

    It names the sweep and its runs by their folders in the storage, which may be moved.
    """
    text = json.dumps({**content, STATE: _state(sweep)}, ensure_ascii=False)
    for part in parts_around(sweep.folder.root):
        text = text.replace(json.dumps(part, ensure_ascii=False)[1:-1], "")
    return sweep.folder.write_record(SUMMARY, json.loads(text, parse_constant=lambda _: None))


def _state(sweep: Sweep) -> str:
    """Return a hash of the progress of all trials and of the times of their scores."""
    progress = []
    for configuration, trial in sweep.trials:
        info = trial.folder.info(SCORES)
        scored = info.modified if info else None
        progress.append(
            [configuration.address, trial.seed, trial.progress, len(trial.curve), scored]
        )
    ended = [sweep.ended, sweep.updated if sweep.ended else 0]
    return config.address([*ended, len(sweep.decisions), progress])


def when(seconds: float) -> str:
    """Return a Unix time for people."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
