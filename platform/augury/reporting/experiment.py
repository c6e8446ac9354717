"""The report of an experiment: the answer, the table, learning curves, cost, examples, and how to
repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from augury import __version__
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments.record import DESCRIPTION, SCORES
from augury.experiments.stored_runs import NO_TESTS
from augury.reporting import find, rendering
from augury.reporting.answer import answer
from augury.reporting.comparison import Comparison, compare_all, scored_sets, warnings_of
from augury.reporting.curves import MAX_POINTS, learning_curves
from augury.reporting.downloads import downloads, experiment_file
from augury.reporting.find import PAGE, SUMMARY
from augury.reporting.notes import SystemScore, text_notes, untrained_warnings
from augury.reporting.report import (
    Charts,
    Details,
    Downloads,
    Listing,
    Report,
    Section,
    section,
)
from augury.reporting.results import SystemResult, best_validations
from augury.reporting.samples import draw
from augury.reporting.score_charts import cost_sections, forest
from augury.reporting.score_tables import by_test, frame, score_table, test_sections
from augury.reporting.styles import legend
from augury.reporting.system_tables import label_table, output_table, setting_table, stage_table
from augury.reporting.tables import Table, csv, latex, markdown, records, table
from augury.scoring import registry
from augury.training import history

FILES = (DESCRIPTION, SCORES)
"""The files of a run that decide, with its history, what a page shows of it."""
MOST_SETS = 3
"""The maximum number of test sets that a terminal shows in full.

Of more, only the mean is, and scores of the others.
"""


def write(
    report: Report, folder: Folder, results: Sequence[SystemResult], state: str | None = None
) -> None:
    """Write the page of an experiment, and the summary for lists of reports.

    `state` is that of `page_state`.
    """
    summary = {
        "title": report.title,
        "experiment": results[0].record.experiment or report.title,
        "answer": report.answer,
        "systems": {result.name: [run.name for run in result.runs.values()] for result in results},
        "scores": {result.name: result.values for result in results},
        "state": state,
    }
    folder.write(PAGE, rendering.page(report))
    folder.write_record(SUMMARY, summary)


def page_state(results: Sequence[SystemResult], title: str, failures: Sequence[str] = ()) -> str:
    """Return the hash of everything that the page of these systems shows."""
    runs = [run for result in results for run in result.runs.values()]
    records = [
        [run.name, *(run.read(file).decode() for file in FILES if run.exists(file))] for run in runs
    ]
    systems = [[result.name, [*result.runs], [*result.unscored]] for result in results]
    histories = [history.files(run) for run in runs]
    return config.address([__version__, title, [*failures], systems, records, histories])


def is_current(folder: Folder, state: str) -> bool:
    """Return whether a page is written of this state."""
    return folder.exists(PAGE) and find.report_summary(folder).get("state") == state


def compared(
    comparisons: Sequence[Comparison],
    results: Sequence[SystemResult],
    *others: Table,
) -> Report:
    """Return the report of comparisons, without a page; `others` are tables to show with theirs."""
    tables, sentence = [score_table(comparisons), *others], answer(comparisons[0])
    return Report(
        title=" and ".join(result.name for result in results),
        answer=sentence,
        data={
            "answer": sentence,
            "tables": [comparison.to_dict() for comparison in comparisons],
            "systems": [system.to_dict() for system in results],
        },
        summary=[*tables, "\n".join([sentence, *warnings_of(comparisons), *text_notes(results)])],
        tables=tables,
        records=frame(comparisons),
    )


def report(
    results: Sequence[SystemResult], title: str, failures: Sequence[str] = (), *, page: bool = True
) -> Report:
    """Return the report of systems, the baseline first, with `failures` as cautions.

    Without `page`, it has no sections, and is for a terminal or a program only. UserError where
    nothing is scored yet.
    """
    names = scored_sets(results)
    if not names:
        raise UserError("no run has scores yet: a page can be made when the first one is finished")
    comparisons = compare_all(results, names)
    first, known = comparisons[0], compared(comparisons, results)
    stages = stage_table(results, names, first.metrics[0])
    others = " and ".join(result.name for result in results[1:]) or results[0].name
    return replace(
        known,
        title=title,
        name=f"{title}: {others} on {', '.join(names)}",
        power=first.power_text,
        notes=[*failures, *warnings_of(comparisons), *text_notes(results)],
        sections=[*_sections(results, comparisons, title, stages)] if page else (),
        data={**known.data, "stages": _rows(stages)},
        summary=[
            *_summary(comparisons),
            *([stages] if stages else []),
            "\n".join([known.answer, *failures, *warnings_of(comparisons), *text_notes(results)]),
        ],
    )


def _summary(comparisons: Sequence[Comparison]) -> list[Table]:
    """Return the scores on all test sets, the cost and the notes, for a terminal."""
    if len(comparisons) <= MOST_SETS:
        return [score_table(comparisons)]
    note = "every test set with intervals and p: the page, --json, or augury compare"
    return [score_table(comparisons[:1]), replace(by_test(comparisons), notes=(note,))]


def _rows(shown: Table | None) -> list[dict[str, str]]:
    header, *lines = shown.lines() if shown else [[]]
    return [dict(zip(header, line, strict=True)) for line in lines]


def _sections(
    results: Sequence[SystemResult],
    comparisons: Sequence[Comparison],
    title: str,
    stages: Table | None,
) -> Iterator[Section]:
    first, metric, test = comparisons[0], comparisons[0].metrics[0], scored_sets(results)[0]
    whole = score_table(comparisons)
    legends = legend(result.name for result in results)
    files = downloads(title, csv=csv(frame(comparisons)), tex=latex([whole]), md=markdown([whole]))
    held = Listing(first.details) if first.details else None
    yield section("Scores and cost", score_table(comparisons[:1]), held, Downloads(files))
    if differences := forest(first):
        yield section("Differences to the baseline", Charts(differences))
    numbers = Details("The numbers, with intervals", [whole])
    yield from test_sections(comparisons, "systems", numbers)
    if labels := label_table(results, test):
        yield section(f"Labels of {test}", labels)
    if stages:
        yield section("Stages", stages)
    if outputs := output_table(results):
        text = (
            "Copied: the output equals its input. Repeated: it equals the output of another input "
            "of the same block. Length: the ratio of its characters to those expected."
        )
        yield section("What operators made", outputs, text)
    if curves := learning_curves(results, metric):
        text = f"One line per seed, of at most {MAX_POINTS} points."
        yield section("Learning curves", Charts(curves, legends), text)
    yield from cost_sections(first)
    if samples := draw(results, test):
        drawn = f"{len(samples)} examples of {test}, drawn at random"
        yield section("Examples", f"{drawn}, with each system's first seed.", *samples)
    if len(results) > 1:
        settings = setting_table(results) or "Their configurations are equal."
        yield section("Differences between the systems", settings)
    sources = Details("Addresses of runs and texts, versions of packages", [_sources(results)])
    yield section("Where it comes from", sources)
    of_systems = [experiment_file(item.name, item.runs.values(), item.runs) for item in results]
    if any(of_systems):
        text = (
            "Each file trains one system again, with all of its seeds; paths in it are those of "
            "the machine that trained it."
        )
        yield section("Repeat it", text, *of_systems)


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


def _sources(results: Sequence[SystemResult]) -> Table:
    """Return the addresses of runs and texts, and the versions of packages that trained the
    runs."""
    rows = [
        {
            "system": result.name,
            "runs": f"{result.address}\nseeds {', '.join(map(str, result.runs))}",
            "texts": "\n".join(
                f"{text.role} {text.address}, {text.rows:,} rows" for text in result.record.inputs
            ),
            "trained with": (f"{result.cost.device}\n" if result.cost else "")
            + result.record.trained_with,
        }
        for result in results
        if result.runs
    ]
    return records(rows, kind="words")
