"""The report of an experiment: the answer, the table, differences, cost, learning curves, examples,
and how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from augury import __version__
from augury.core import config
from augury.core.store import Folder
from augury.experiments.graph import VALID
from augury.experiments.record import EXPERIMENT
from augury.experiments.stored_runs import NO_TESTS
from augury.reporting import find, rendering
from augury.reporting.answer import answer
from augury.reporting.comparison import Comparison, compare_all, scored_sets, warnings_of
from augury.reporting.curves import learning_curves, recorded
from augury.reporting.notes import not_beaten, text_notes, untrained_warnings
from augury.reporting.report import (
    Charts,
    Code,
    Details,
    PageSection,
    Report,
    example_section,
    section,
)
from augury.reporting.results import SystemResult, best_text, best_validations
from augury.reporting.run_files import experiment_yaml
from augury.reporting.samples import draw
from augury.reporting.score_charts import score_sections
from augury.reporting.score_tables import by_test, contents, frame, score_table
from augury.reporting.styles import system_style
from augury.reporting.tables import Table, records
from augury.scoring.registry import title
from augury.scoring.trivial import Trivial


def write(report: Report, folder: Folder, results: Sequence[SystemResult]) -> bool:
    """Write the page of an experiment, and the summary for lists of reports, unless they are of
    this state; return whether they were written."""
    state = config.address([__version__, report.title, report.notes, report.data])
    if folder.exists(find.PAGE) and find.report_summary(folder).get("state") == state:
        return False
    summary = {
        "answer": report.answer,
        "systems": {result.name: [run.name for run in result.runs.values()] for result in results},
        "state": state,
    }
    folder.write(find.PAGE, rendering.page(report))
    folder.write_record(find.SUMMARY, summary)
    return True


def compared(comparisons: Sequence[Comparison], results: Sequence[SystemResult]) -> Report:
    """Return the report of comparisons, without a page."""
    first, *others = comparisons
    sentence = answer(first, find.choices_of(results))
    notes = [*warnings_of(comparisons), *text_notes(results)]
    shown = [score_table(first), *(replace(score_table(other), notes=()) for other in others)]
    return Report(
        title=" and ".join(result.name for result in results),
        answer=sentence,
        notes=notes,
        data={
            "answer": sentence,
            "tables": contents(comparisons),
            "systems": [system.to_dict() for system in results],
        },
        summary=[*shown, "\n".join([sentence, *notes])],
        tables=shown,
        records=frame(comparisons),
    )


def report(results: Sequence[SystemResult], name: str, failures: Sequence[str] = ()) -> Report:
    """Return the report of an experiment, the baseline first, of which something is scored, with
    `failures` as warnings."""
    comparisons = compare_all(results, scored_sets(results))
    known = compared(comparisons, results)
    notes, sets = [*failures, *known.notes], [by_test(comparisons)] if len(comparisons) > 1 else []
    return replace(
        known,
        title=name,
        power=comparisons[0].power_text,
        notes=notes,
        sections=[*_sections(results, comparisons)],
        summary=[known.tables[0], *sets, "\n".join([known.answer, *notes])],
    )


def _sections(
    results: Sequence[SystemResult], comparisons: Sequence[Comparison]
) -> Iterator[PageSection]:
    first, test = comparisons[0], scored_sets(results)[0]
    styles = {result.address: system_style(index) for index, result in enumerate(results)}
    names = [(styles[result.address], result.name) for result in results]
    shown, *others = map(score_table, comparisons)
    numbers = Details("The numbers, with intervals", others)
    yield from score_sections(shown, comparisons, styles, numbers, names)
    metric, points = f"valid/{first.metrics[0]}", recorded(results)
    metric = metric if metric in {*points["metric"]} else "valid/loss"
    validation = f"validation {title(metric.removeprefix('valid/'))}"
    labels = {metric: validation, "train/loss": "training loss"}
    if curves := learning_curves(points, labels, styles):
        yield section("Learning curves", Charts(curves, names), "One line per seed.")
    yield from example_section(test, draw(results, test))
    files = []
    for result in results:
        kept = [run for run in result.runs.values() if run.exists(EXPERIMENT)]
        if kept:
            files.append(Details(result.name, [Code(experiment_yaml(kept[0], result.runs))]))
    if files:
        text = (
            "Each file trains one system again, with all of its seeds; paths in it are those of "
            "the machine that trained it."
        )
        yield section("Repeat it", text, *files)


def validations(systems: Sequence[SystemResult]) -> Table:
    """Return runs without test sets: the best values in their validations, and their folders."""
    rows, unlearnt = [], dict[str, dict[str, Trivial]]()
    for system in systems:
        for seed, run in system.runs.items():
            best = best_validations(run)
            row = {"system": system.name, "seed": seed, "best in validation": best_text(best)}
            rows.append({**row, "run": run.uri})
            for metric, value in best.items():
                if trivial := not_beaten(system, VALID, metric, value):
                    unlearnt.setdefault(metric, {})[f"{system.name}, seed {seed}"] = trivial
    warnings = list[str]()
    for metric, outputs in unlearnt.items():
        warnings += untrained_warnings(metric, outputs)
    return records(rows, notes=(*warnings, NO_TESTS, *text_notes(systems)))
