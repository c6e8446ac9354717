"""The report of an experiment: the answer, the table, differences, cost, learning curves, examples,
and how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from augury import __version__
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments.stored_runs import NO_TESTS
from augury.reporting import find, rendering
from augury.reporting.answer import answer
from augury.reporting.comparison import Comparison, compare_all, scored_sets, warnings_of
from augury.reporting.curves import learning_curves, recorded
from augury.reporting.find import PAGE, SUMMARY
from augury.reporting.notes import SystemScore, text_notes, untrained_warnings
from augury.reporting.report import Charts, Code, Details, Report, Section, example_section, section
from augury.reporting.results import SystemResult, best_validations
from augury.reporting.run_files import EXPERIMENT, experiment_yaml
from augury.reporting.samples import draw
from augury.reporting.score_charts import score_sections
from augury.reporting.score_tables import by_test, frame, score_table
from augury.reporting.styles import legend, system_style
from augury.reporting.tables import Table, table
from augury.scoring import registry

MOST_SETS = 3
"""The maximum number of test sets that a terminal shows in full.

Of more, only the mean is, and scores of the others.
"""


def write(report: Report, folder: Folder, results: Sequence[SystemResult]) -> bool:
    """Write the page of an experiment, and the summary for lists of reports, unless they are of
    this state; return whether they were written."""
    state = config.address([__version__, report.title, report.notes, report.data])
    if folder.exists(PAGE) and find.report_summary(folder).get("state") == state:
        return False
    summary = {
        "answer": report.answer,
        "systems": {result.name: [run.name for run in result.runs.values()] for result in results},
        "state": state,
    }
    folder.write(PAGE, rendering.page(report))
    folder.write_record(SUMMARY, summary)
    return True


def compared(comparisons: Sequence[Comparison], results: Sequence[SystemResult]) -> Report:
    """Return the report of comparisons, without a page."""
    shown, sentence = score_table(comparisons), answer(comparisons[0])
    notes = [*warnings_of(comparisons), *text_notes(results)]
    return Report(
        title=" and ".join(result.name for result in results),
        answer=sentence,
        notes=notes,
        data={
            "answer": sentence,
            "tables": [comparison.to_dict() for comparison in comparisons],
            "systems": [system.to_dict() for system in results],
        },
        summary=[shown, "\n".join([sentence, *notes])],
        tables=[shown],
        records=frame(comparisons),
    )


def report(results: Sequence[SystemResult], title: str, failures: Sequence[str] = ()) -> Report:
    """Return the report of systems, the baseline first, with `failures` as cautions.

    UserError where nothing is scored yet.
    """
    names = scored_sets(results)
    if not names:
        raise UserError("no run has scores yet: a page can be made when the first one is finished")
    comparisons = compare_all(results, names)
    first, known = comparisons[0], compared(comparisons, results)
    others = " and ".join(result.name for result in results[1:]) or results[0].name
    tables, notes = [score_table(comparisons)], [*failures, *known.notes]
    if len(comparisons) > MOST_SETS:
        note = "every test set with intervals and p: the page, --json, or augury compare"
        tables = [score_table(comparisons[:1]), replace(by_test(comparisons), notes=(note,))]
    return replace(
        known,
        title=title,
        name=f"{title}: {others} on {', '.join(names)}",
        power=first.power_text,
        notes=notes,
        sections=[*_sections(results, comparisons)],
        summary=[*tables, "\n".join([known.answer, *notes])],
    )


def _sections(
    results: Sequence[SystemResult], comparisons: Sequence[Comparison]
) -> Iterator[Section]:
    first, test = comparisons[0], scored_sets(results)[0]
    styles = {result.address: system_style(index) for index, result in enumerate(results)}
    names = legend(result.name for result in results)
    numbers = Details("The numbers, with intervals", [score_table(comparisons)])
    shown = score_table(comparisons[:1])
    yield from score_sections(shown, comparisons, styles, "systems", numbers, names)
    metric, points = f"valid/{first.metrics[0]}", recorded(results)
    metric = metric if metric in {*points["metric"]} else "valid/loss"
    validation = f"validation {registry.title(metric.removeprefix('valid/'))}"
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
    """Return runs without test sets: their folders, and the best value of every metric in their
    validations."""
    rows, best_scores = [], []
    for system in systems:
        for seed, run in system.runs.items():
            row: dict[str, object] = {"system": system.name, "seed": str(seed)}
            for metric, value in best_validations(run).items():
                row[f"best {registry.title(metric)}"] = f"{value:.2f}"
                name = f"{system.name}, seed {seed}"
                best_scores.append(SystemScore(name, run, metric, value, value, ("valid",)))
            rows.append({**row, "run": run.uri})
    columns = dict.fromkeys(column for row in rows for column in row if column != "run")
    lines = [[row.get(column) for column in (*columns, "run")] for row in rows]
    notes = (*untrained_warnings(best_scores), NO_TESTS, *text_notes(systems))
    return table([*columns, "run"], lines, notes=notes)
