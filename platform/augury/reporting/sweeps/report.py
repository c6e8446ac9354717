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
from typing import Any

from augury.core import config
from augury.core.filesystems import parts_around
from augury.core.integrity import Damaged
from augury.core.naming import counted
from augury.core.progress import duration
from augury.experiments import stored_runs
from augury.experiments.record import SCORES, RunRecord
from augury.reporting import rendering
from augury.reporting.downloads import download, downloads
from augury.reporting.figures import Figure
from augury.reporting.pareto import cost_sections, pareto_front
from augury.reporting.report import (
    Block,
    Charts,
    Code,
    Details,
    Downloads,
    Heading,
    Places,
    Report,
    Section,
    Status,
    section,
)
from augury.reporting.score_tables import by_test, frame, shared_notes, test_sections
from augury.reporting.styles import OTHER, Style
from augury.reporting.sweeps.answer import answer, chances, contenders, front_text
from augury.reporting.sweeps.choice import recommended
from augury.reporting.sweeps.figures import (
    configuration_styles,
    forest,
    lanes,
    learning_curves,
    occupancy,
    parallel_coordinates,
)
from augury.reporting.sweeps.locations import (
    address_table,
    compare_command,
    described_runs,
    locations,
    sweep_command,
)
from augury.reporting.sweeps.recommendation import (
    RECOMMENDED,
    recommend,
    recommendation_text,
    settlement,
)
from augury.reporting.sweeps.response import importance, responses
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.reporting.sweeps.tables import (
    configurations,
    decision_table,
    failure_table,
    families,
    terminal_table,
    when,
)
from augury.reporting.tables import Table, csv, latex
from augury.sweeping.state import DEFINITION, ENDS, PAGE, STATES, Sweep

SUMMARY = "summary.json"
STATE = "state"
"""The entry of a stored summary with a hash of what it depends on."""


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
        conclusions=_conclusions(summary),
        notes=[*summary.cautions, *_text_notes(sweep)],
        status=Status(
            counts={state: count for state in STATES if (count := sweep.count(state))},
            labels=labels,
            updated=sweep.updated,
            refresh=None if sweep.ended or sweep.stopped else refresh,
        ),
        facts=_facts(summary),
        sections=_sections(summary, styles, shown),
        data=data(summary),
        summary=_summary(summary),
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


def text(summary: Summary) -> str:
    """Return the report of a sweep as lines, fitted to the terminal if there is one."""
    return rendering.lines(_summary(summary))


def stored_summary(sweep: Sweep) -> dict[str, Any]:
    """Return the summary of a sweep, what `augury sweep --json` prints; it is made again where
    trials have gone on since it was stored."""
    with suppress(FileNotFoundError, Damaged):
        summary = sweep.folder.read_record(SUMMARY)
        if summary.get(STATE) == _state(sweep):
            return summary
    return _write_summary(sweep, data(summarise(sweep)))


def _summary(summary: Summary) -> list[Table | str]:
    """Return the question, all configurations, cautions and notes, and the answer."""
    sweep, comparisons = summary.sweep, summary.comparisons
    notes = dict.fromkeys([*summary.cautions, *shared_notes(comparisons[:1])])
    failures = [f"failed: {name}: {trial.error}" for name, trial in summary.failures.items()]
    merged = [f"same as {point.same_as}: {point.label} ({point.reason})" for point in sweep.merged]
    return [
        sweep.question,
        terminal_table(summary),
        *([by_test(comparisons)] if len(comparisons) > 1 else []),
        "\n".join(notes),
        "\n".join([*failures, *merged]),
        answer(summary),
        "\n".join(_conclusions(summary)),
        "\n".join(f"{name:<12}{value}" for name, value in locations(sweep).items()),
    ]


def _conclusions(summary: Summary) -> list[str]:
    """Return what follows from the scores: what is recommended, the best ones, the best for their
    cost, and what would settle the rest."""
    open_question = settlement(summary)
    lines = [recommendation_text(summary), chances(summary), front_text(summary)]
    if open_question:
        lines.append(f"To settle: {open_question.text} {open_question.command}".strip())
    return [line for line in lines if line]


def _overview(summary: Summary, styles: Mapping[str, Style]) -> list[Section]:
    """Return the families, the differences and the front, where methods race."""
    by_family = families(summary, styles)
    if by_family is None:
        return []
    parts = [section("The best of every family", by_family)]
    if differences := forest(summary, styles):
        parts.append(section("Differences to the reference", Charts(differences)))
    return parts


def _sections(summary: Summary, styles: Mapping[str, Style], shown: Table) -> list[Section]:
    sweep, comparisons = summary.sweep, summary.comparisons
    named = [
        (styles[result.address], result.name)
        for result in summary.ranking
        if result.address in styles
    ]
    others = len(summary.ranking) - len(named)
    names = [*named, *([(OTHER, counted(others, "other"))] if others else [])]
    files = downloads(sweep.name, csv=csv(frame(comparisons)), tex=latex([shown]))
    colours = " Means over seeds; intervals of 95 % where a configuration has a colour."
    costs = cost_sections(summary.deciding, styles, colours, _scored_names(summary, styles))
    overview = _overview(summary, styles)
    sections = [*overview, *(costs if overview else [])]
    order = f"Sorted by {summary.metric}, best first; those that have not begun are last."
    sections.append(section("Configurations", order, shown, Downloads(files)))
    compare = Code(f"{compare_command(sweep)}    # prints every set with intervals")
    sections += test_sections(comparisons, "configurations", compare)
    sections.append(
        section("Effect of the swept settings", importance(summary), *_response(summary))
    )
    if parallel := parallel_coordinates(summary, styles):
        sections.append(section("Parallel coordinates", Charts(parallel, names)))
    if curves := learning_curves(summary, styles):
        sections.append(section("Learning curves", Charts(curves, names)))
    if not overview:
        sections += costs
    if timeline := lanes(summary):
        note = "Colours are those of the states at the top of the page."
        charts = Charts([*timeline, *occupancy(summary)])
        sections.append(section("What was trained when", charts, note))
    raced = any(decision.action != "chosen" for decision in summary.sweep.decisions)
    if raced and (decided := decision_table(summary)):
        sections.append(section("Decisions of the race", decided))
    if failed := failure_table(summary):
        sections.append(section("Failed trials", failed))
    configured = ((item.name, item.configuration) for item in summary.ranking)
    addresses = Details("Addresses of all runs", [address_table("configuration", configured)])
    return [
        *sections,
        section("Repeat it", Code(sweep_command(sweep)), *_recommended_file(summary)),
        section("Storage", Places(locations(sweep)), addresses),
    ]


def _scored_names(summary: Summary, styles: Mapping[str, Style]) -> list[tuple[Style, str]]:
    """Return the legend of the configurations that have scores: those with a colour, and how many
    others there are."""
    scored = [result for result in summary.ranking if summary.row(result)]
    named = [(styles[result.address], result.name) for result in scored if result.address in styles]
    others = len(scored) - len(named)
    return [*named, *([(OTHER, counted(others, "other"))] if others else [])]


def _recommended_file(summary: Summary) -> list[Block]:
    """Return the command that trains the recommended system, with its experiment file."""
    folder, chosen = summary.sweep.folder, recommended(summary)
    if chosen is None or not folder.exists(RECOMMENDED):
        return []
    content = folder.read(RECOMMENDED).decode()
    file = download("experiment file", RECOMMENDED, content)
    train = f"augury train {shlex.quote(folder.location(RECOMMENDED))}    # {chosen.name}"
    return [Code(train), Details(RECOMMENDED, [Downloads([file]), Code(content)])]


def _response(summary: Summary) -> Iterator[Block]:
    """Yield tables and charts of the score against swept keys, and how to read them."""
    response = responses(summary)
    tables = [shown for shown in response if isinstance(shown, Table)]
    charts = [shown for shown in response if isinstance(shown, Figure)]
    for shown in tables:
        yield Heading(shown.title)
        yield shown
    if tables:
        yield (
            "Means over seeds, ± half of their 95 % interval, the number of seeds in brackets. "
            "Blue is better than the reference, orange is worse. A dagger: not trained to the end, "
            "at the best value so far."
        )
    if charts:
        single = "seeds" if len(summary.sweep.keys) == 1 else "configurations"
        yield Charts(charts)
        yield (
            f"Blue: means with their 95 % interval over seeds. Grey dots: single {single}. Dotted "
            "line: the reference, where it has none of the swept values. Hollow: not trained to "
            "the end, at the best value so far."
        )


def _facts(summary: Summary) -> dict[str, str]:
    sweep = summary.sweep
    budget = sweep.budget_left
    devices = dict.fromkeys(
        row.cost.device for item in summary.comparisons for row in item.rows if row.cost
    )
    return {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        **_experiment(sweep),
        "wall time of all trials": duration(sweep.seconds)
        + (f" on {', '.join(devices)}" if devices else ""),
        **({} if budget is None else {"budget": f"{duration(budget)} left" if budget else "spent"}),
        "started": when(sweep.started),
        "ended" if sweep.ended else "stopped" if sweep.stopped else "updated": when(sweep.updated),
    }


def _experiment(sweep: Sweep) -> dict[str, str]:
    """Return the experiment file that a sweep is on, or the scale of a space on its own texts."""
    file = sweep.folder.read_record(DEFINITION).get("experiment")
    return {"experiment": file} if file else {"scale": sweep.scale}


def _text_notes(sweep: Sweep) -> list[str]:
    """Return the notes on the texts of a sweep, such as that they are synthetic."""
    described = described_runs(sweep)[:1]
    notes = (stored_runs.corpus_notes(run, RunRecord.read(run).inputs) for run in described)
    return next(notes, [])


def data(summary: Summary) -> dict[str, Any]:
    """Return the sweep as JSON-like values."""
    sweep, best, open_question = summary.sweep, recommended(summary), settlement(summary)
    front = pareto_front(summary.deciding) if summary.deciding else []
    begun = [trial for _, trial in sweep.trials if trial.progress != "waiting"]
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
        "contenders": [result.address for result in contenders(summary)],
        "front": [row.address for row in front],
        "recommended": best.address if best else None,
        "recommendation": recommendation_text(summary),
        "settle": asdict(open_question) if open_question else None,
        "worth": sweep.worth,
        "cautions": summary.cautions,
        "notes": _text_notes(sweep),
        "seeds": list(sweep.seeds),
        "reference": sweep.reference,
        "best": summary.leader.address if summary.leader else None,
        "confirmed": summary.confirmed.to_dict() if summary.confirmed else None,
        "table": [_result_dict(summary, result) for result in summary.ranking],
        "merged": [asdict(point) for point in sweep.merged],
        "decisions": [asdict(decision) for decision in sweep.decisions],
        "trials": len(begun),
        **{state: sweep.count(state) for state in ENDS},
        "cost": {"train_seconds": sum(trial.seconds for trial in begun)},
        "sweep": sweep.folder.uri,
    }


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

    It names the sweep and its runs by their folders in the storage, which may be moved, and leaves
    out the command that would settle the rest, which names the storage.
    """
    settle = content["settle"] and {**content["settle"], "command": ""}
    text = json.dumps({**content, "settle": settle, STATE: _state(sweep)}, ensure_ascii=False)
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
