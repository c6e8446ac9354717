"""The report of a sweep: the question, the answer, the configurations, and the response of the
score to swept keys.

Its page and its summary, files in the folder of the sweep, are rewritten while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from augury.core.naming import command, counted
from augury.core.plugin_files import allowing
from augury.core.progress import duration
from augury.reporting import rendering
from augury.reporting.answer import recommendation, sweep_answer
from augury.reporting.comparison import scored_sets
from augury.reporting.curves import COLUMNS, learning_curves
from augury.reporting.report import (
    Block,
    Charts,
    Code,
    PageSection,
    Places,
    Report,
    Status,
    example_section,
    section,
)
from augury.reporting.samples import draw
from augury.reporting.score_charts import score_sections
from augury.reporting.score_tables import by_system, by_test, contents, frame, score_columns
from augury.reporting.styles import OTHER, Style, system_style
from augury.reporting.sweeps.locations import locations, repeating
from augury.reporting.sweeps.recommended import RECOMMENDED, recommend
from augury.reporting.sweeps.response import responses
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, recommended, summarise
from augury.reporting.tables import Cell, Columns, Table, record_cells, records, row, table
from augury.scoring.registry import title
from augury.sweeping.state import ENDS, PAGE, STATES, Sweep

SUMMARY = "summary.json"
WALL: Columns = {"wall time/seed": ("wall", "time"), "× reference": ("time_factor", "factor")}
HIGHLIGHTED = 6
"""The number of configurations with their own colour besides the reference.

More could not be distinguished.
"""


def report(summary: Summary, refresh: int | None = None) -> Report:
    """Return the report of a sweep; a browser loads its page again every `refresh` seconds."""
    sweep, said, why = summary.sweep, sweep_answer(summary), recommendation(summary)
    tested = summary.tested
    shown, texts = configurations(summary), _text_notes(summary)
    counts: dict[str, int] = {state: count for state in STATES if (count := sweep.count(state))}
    if sweep.ended and "waiting" in counts:
        counts["not needed"] = counts.pop("waiting")
    failed = [f"failed: {name}: {trial.error}" for name, trial in summary.failures.items()]
    same = [f"same as {point.same_as}: {point.name} ({point.reason})" for point in sweep.merged]
    lines = [said, why, *summary.warnings, *failed, *same]
    lines += [*(summary.deciding.notes if summary.deciding else ()), *texts]
    if summary.confirmed and tested and tested.power_text:
        lines.append(f"{tested.power_text} (with the fresh seeds)")
    sets = [by_test(summary.comparisons)] if len(summary.comparisons) > 1 else []
    return Report(
        title=f"Sweep {sweep.name}",
        question=sweep.question,
        answer=said,
        power=tested.power_text if tested else "",
        conclusions=[why] if why else [],
        notes=[*summary.warnings, *texts],
        status=Status(
            counts=counts,
            updated=sweep.updated,
            refresh=None if sweep.ended or sweep.stopped else refresh,
        ),
        facts=_facts(summary),
        sections=[*_sections(summary, shown, same)],
        data=data(summary),
        summary=[sweep.question, shown, *sets, "\n".join(filter(None, lines))],
        tables=[shown],
        records=frame(summary.comparisons),
    )


def write(sweep: Sweep, refresh: int | None) -> Report:
    """Write the page of a sweep and its stored summary; return its report. A browser loads the page
    again every `refresh` seconds. The last page, which is not loaded again, is written after the
    experiment file of the recommended system."""
    summary = summarise(sweep)
    if refresh is None:
        recommend(summary)
    shown = report(summary, refresh)
    sweep.folder.write_record(SUMMARY, shown.data)
    sweep.folder.write(PAGE, rendering.page(shown))
    return shown


def data(summary: Summary) -> dict[str, Any]:
    """Return the sweep as JSON-like values, which `augury sweep --json` prints.

    It and its runs are named by their folders in the storage, which may be moved.
    """
    sweep, best = summary.sweep, recommended(summary)
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": sweep_answer(summary),
        "ended": sweep.ended,
        "metric": sweep.metric,
        "recommended": best.address if best else None,
        "recommendation": recommendation(summary),
        "warnings": summary.warnings,
        "notes": _text_notes(summary),
        "seeds": list(sweep.seeds),
        "reference": sweep.reference,
        "best": summary.leader.address if summary.leader else None,
        "confirmed": contents(summary.confirmed) or None,
        "table": [_result_dict(result, summary.seconds(result)) for result in summary.ranking],
        "comparisons": contents(summary.comparisons),
        "merged": [asdict(point) for point in sweep.merged],
        "trials": len(sweep.trials) - sweep.count("waiting"),
        **{state: sweep.count(state) for state in ENDS},
        "cost": {"train_seconds": sweep.seconds},
        "sweep": sweep.folder.name,
    }


def configurations(summary: Summary) -> Table:
    """Return all configurations, best first."""
    styles, deciding, rows = configuration_styles(summary), summary.deciding, []
    systems = by_system(deciding) if deciding else {}
    scores = {**(score_columns(deciding) if deciding else {}), **WALL}
    all_finished = all(result.state == "finished" for result in summary.ranking)
    for rank, result in enumerate(summary.ranking, start=1):
        name = f"{result.name} (reference)" if result is summary.reference else result.name
        numbers = {**systems.get(result.name, {}), "wall": summary.seconds(result)}
        cells = [
            Cell(name, rank),
            *([] if all_finished else [result.state]),
            Cell(f"{result.finished} of {len(summary.sweep.seeds)}", result.finished),
            Cell(result.text, result.mean),
            *record_cells(numbers, scores),
        ]
        style, faint = styles.get(result.address, OTHER), result.state in ("stopped", "failed")
        rows.append(row(cells, style=style, faint=faint))
    titles = [*scores]
    if deciding:
        titles[0] = f"{title(deciding.metrics[0])} {deciding.test}"
        titles[-1] = "CPU × reference" if deciding.time_kind == "CPU time" else titles[-1]
    first = ["configuration", *([] if all_finished else ["state"]), "seeds", summary.metric]
    columns = [*first, *titles]
    return table(columns, rows, parts=(len(first), len(columns) - 2))


def configuration_styles(summary: Summary) -> dict[str, Style]:
    """Return the style of the reference and of the best configurations in every chart, by address.

    The others are drawn as `OTHER`.
    """
    others = [result.address for result in summary.ranking if result is not summary.reference]
    addresses = [summary.sweep.reference, *others[:HIGHLIGHTED]]
    return {address: system_style(index) for index, address in enumerate(addresses)}


def _sections(summary: Summary, shown: Table, same: list[str]) -> Iterator[PageSection]:
    sweep, comparisons, deciding = summary.sweep, summary.comparisons, summary.deciding
    styles = configuration_styles(summary)
    drawn = [result for result in summary.ranking if result.address in styles]
    names = [(styles[result.address], result.name) for result in drawn]
    if others := len(summary.ranking) - len(names):
        names.append((OTHER, counted(others, "other")))
    notes = [f"best first by {summary.metric}, the mean over seeds with its 95 % interval", *same]
    notes += deciding.notes if deciding else ()
    words = [f"sweeps/{sweep.name}", "--storage", sweep.folder.root]
    compare = Code(f"{command('augury', 'compare', *words)}    # prints every set with intervals")
    of_page = replace(shown, notes=tuple(notes))
    yield from score_sections(of_page, comparisons, styles, compare, names)
    if response := responses(summary):
        text = (
            "Means over seeds, ± half of their 95 % interval, the number of seeds in brackets. "
            "Blue is better than the reference, orange is worse."
        )
        named: list[Block] = []
        for effect in response:
            named += [effect.title, effect]
        yield section("Effect of the swept settings", *named, text)
    else:
        yield from _curves(summary, styles, names)
    if deciding and summary.leader:
        compared = (sweep.reference, summary.leader.address)
        test = scored_sets(summary.systems)[0]
        pair = [system for system in summary.systems if system.address in compared]
        yield from example_section(test, draw(pair, test))
    if summary.failures:
        failed = [
            {"trial": name, "error": trial.error or "?", "run": Cell(trial.folder.uri, code=True)}
            for name, trial in summary.failures.items()
        ]
        yield section("Failed trials", records(failed, kind="words"))
    repeat = [Code(repeating(sweep))] if sweep.command else []
    chosen = recommended(summary)
    if chosen and sweep.folder.exists(RECOMMENDED):
        flags = ["--storage", sweep.folder.root, *allowing(sweep.folder.read(RECOMMENDED))]
        line = command("augury", "train", sweep.folder.location(RECOMMENDED), *flags)
        repeat.append(Code(f"{line}    # {chosen.name}"))
    yield section("Repeat it", *repeat, Places(locations(sweep)))


def _curves(
    summary: Summary, styles: Mapping[str, Style], names: Sequence[tuple[Style, str]]
) -> Iterator[PageSection]:
    metric = summary.sweep.metric
    points = [
        (result.address, result.name, trial.seed, metric, point.update, point.value)
        for result in summary.ranking
        for trial in result.configuration.trials
        for point in trial.curve
    ]
    validations = pd.DataFrame(points, columns=COLUMNS)
    if curves := learning_curves(validations, {metric: summary.metric}, styles):
        yield section("Learning curves", Charts(curves, names))


def _facts(summary: Summary) -> dict[str, str]:
    sweep = summary.sweep
    now = "stopped" if sweep.stopped else "updated"
    if sweep.ended:
        now = "ended"
    return {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        "scale": sweep.scale,
        "wall time of all trials": duration(sweep.seconds),
        now: f"{datetime.fromtimestamp(sweep.updated, UTC):%Y-%m-%d %H:%M:%S} UTC",
    }


def _text_notes(summary: Summary) -> list[str]:
    """Return the notes on the texts of a sweep, such as that they are synthetic."""
    return list(summary.systems[0].notes) if summary.systems else []


def _result_dict(result: ConfigurationResult, seconds: float | None) -> dict[str, Any]:
    return {
        **result.configuration.to_dict(),
        "state": result.state,
        "seeds": result.finished,
        "validation": {
            "mean": result.mean,
            "low": result.interval[0],
            "high": result.interval[1],
            "values": {str(seed): value for seed, value in result.values.items()},
        },
        "train_seconds": seconds,
    }
