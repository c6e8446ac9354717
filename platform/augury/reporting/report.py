"""The page of an experiment: the answer, the table, learning curves, cost, examples, and how to
repeat it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.nodes import Node
from augury.reporting.answer import answer
from augury.reporting.comparison import cautions, scored_sets
from augury.reporting.equal_time import equal_time
from augury.reporting.figures import MAX_POINTS, learning_curves, score_against_cost
from augury.reporting.graphs import summary, svg
from augury.reporting.mean import compare_all
from augury.reporting.operator_outputs import output_table
from augury.reporting.page import downloads, experiment_download, render_page
from augury.reporting.results import SystemResult
from augury.reporting.robustness import robustness_curves
from augury.reporting.samples import draw
from augury.reporting.score_tables import by_test, frame, score_tables
from augury.reporting.stages import stage_table
from augury.reporting.styles import legend
from augury.reporting.tables import Cell, Table, csv, latex, markdown, table

KIND = "reports"
"""The folder of reports in a store, one by the name of each experiment."""
PAGE, SUMMARY = "index.html", "report.json"


def systems(store: Store, name: str) -> dict[str, list[str]]:
    """Return the names of the runs, in the store, of every system of an experiment's report."""
    folder = store.folder(KIND, name)
    return dict(folder.read_json(SUMMARY)["systems"]) if folder.exists(SUMMARY) else {}


def by_age(store: Store) -> list[str]:
    """Return the names of the reports in a store, the latest last."""
    files = {name: store.folder(KIND, name) for name in store.addresses(KIND)}
    infos = {
        name: folder.filesystem.get_file_info(folder.path(SUMMARY))
        for name, folder in files.items()
    }
    return sorted(infos, key=lambda name: (infos[name].mtime_ns or 0, name))


def write(
    report: Folder,
    results: Sequence[SystemResult],
    title: str,
    failures: Sequence[str] = (),
    graph: Sequence[Node] = (),
) -> None:
    """Write the page of an experiment, with `failures` as cautions and a drawing of its graph, and
    the summary for the page of its storage."""
    comparisons = compare_all(results, scored_sets(results))
    systems = {result.name: [run.name for run in result.runs.values()] for result in results}
    report.write_json(
        SUMMARY, {"title": title, "answer": answer(comparisons[0]), "systems": systems}
    )
    report.write(PAGE, render(results, title, failures, graph))


def render(
    results: Sequence[SystemResult],
    title: str,
    failures: Sequence[str] = (),
    graph: Sequence[Node] = (),
) -> str:
    """Render the page of systems, the baseline first, with a title; UserError where nothing is
    scored yet."""
    names = scored_sets(results)
    if not names:
        raise UserError("no run has scores yet: a page can be made when the first one is finished")
    comparisons = compare_all(results, names)
    first = comparisons[0]
    curves, cost = learning_curves(results, first.metrics[0]), score_against_cost(first)
    robustness = robustness_curves(results, first.metrics[0])
    (scores, *_), tables = score_tables(comparisons[:1], bars=True), score_tables(comparisons)
    compared = " and ".join(result.name for result in results[1:]) or results[0].name
    return render_page(
        "report",
        [*robustness, *curves, *cost],
        name=f"{title}: {compared} on {', '.join(names)}",
        title=title,
        answer=answer(first),
        power=first.power_text,
        cautions=list(
            dict.fromkeys(
                [
                    *failures,
                    *(line for item in comparisons for line in item.warnings),
                    *cautions(results),
                ]
            )
        ),
        scores=scores,
        graph=svg(graph) if graph else None,
        graph_summary=summary(graph) if graph else "",
        downloads=downloads(
            title, csv=csv(frame(comparisons)), tex=latex(tables), md=markdown(tables)
        ),
        by_test=by_test(comparisons) if len(comparisons) > 1 else None,
        all_tests=tables[0] if len(comparisons) > 1 else None,
        robustness=robustness,
        curves=curves,
        results=results,
        most_points=MAX_POINTS,
        outputs=output_table(results),
        stages=stage_table(results, names, first.metrics[0]),
        legend=legend(result.name for result in results),
        cost=cost,
        equal_time=equal_time(results, first.metrics[0]),
        samples=draw(results, names[0]),
        samples_of=names[0],
        differences=_differences(results),
        sources=_sources(results),
        repetitions=[
            experiment_download(result.name, result.runs.values(), result.runs)
            for result in results
        ],
    )


def _differences(results: Sequence[SystemResult]) -> Table | None:
    """Return the settings that differ between the systems; None where there are none."""
    described = [result for result in results if result.runs]
    parameters = [result.record.parameters for result in described]
    keys = dict.fromkeys(key for settings in parameters for key in settings)
    rows = [
        [Cell(key, code=True), *(_setting(settings.get(key)) for settings in parameters)]
        for key in keys
        if any(settings.get(key) != parameters[0].get(key) for settings in parameters)
    ]
    return (
        table(["setting", *(result.name for result in described)], rows, kind="words")
        if rows
        else None
    )


def _setting(value: Any) -> Cell:
    if value is None:
        return Cell("not set")
    return Cell(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), code=True
    )


def _sources(results: Sequence[SystemResult]) -> Table:
    """Return the addresses of runs and texts, and the versions of packages that trained the
    runs."""
    rows = []
    for result in [result for result in results if result.runs]:
        texts = "\n".join(
            f"{text.role} {text.address}, {text.rows:,} rows" for text in result.record.inputs
        )
        device = f"{result.cost.device}\n" if result.cost else ""
        seeds = ", ".join(map(str, result.runs))
        rows.append(
            [
                result.name,
                f"{result.address}\nseeds {seeds}",
                texts,
                f"{device}{result.record.trained_with}",
            ]
        )
    return table(["system", "runs", "texts", "trained with"], rows, kind="words")
