"""The page of a storage: its sweeps, its reports and its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from augury.core.store import Folder, Store
from augury.reporting import reported, run_names
from augury.reporting.analysis_links import AnalysisLink, analysis_links
from augury.reporting.downloads import download
from augury.reporting.frames import results
from augury.reporting.numbers import MISSING, amount, interval
from augury.reporting.page import render_page
from augury.reporting.report import Download
from augury.reporting.run_files import is_scored
from augury.reporting.run_list import state_of
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Cell, Table, cell, csv, table
from augury.runs import stored_runs
from augury.runs.record import DESCRIPTION, RunRecord
from augury.scoring.registry import title
from augury.sweeping import state

PAGE = "index.html"
LABELS = "name and tags"
"""The column of names and tags that users gave; left out where there are none."""


def render(store: Store, refresh: int | None = None) -> str:
    """Render the page in its current state.

    It links to the pages of sweeps and reports in the storage.
    """
    sweeps = [state.load(store, name) for name in state.names(store)]
    folders = {name: store.folder(reported.KIND, name) for name in store.addresses(reported.KIND)}
    all_runs, downloads = _runs(store)
    links = analysis_links(store, stored_runs.folders(store))
    reports = [
        _report(folder, name, links)
        for name, folder in folders.items()
        if folder.exists(reported.PAGE)
    ]
    shown = {link for report in reports for link in report["analyses"]}
    return render_page(
        "storage",
        name=f"Augury: {store.root}",
        root=store.root,
        sweeps=[
            (sweep, answer(summarise(sweep)))
            for sweep in sorted(sweeps, key=lambda sweep: -sweep.updated)
        ],
        reports=sorted(reports, key=lambda report: report["date"], reverse=True),
        analyses=[link for link in links if link not in shown],
        runs=all_runs,
        downloads=downloads,
        refresh=refresh,
        updated=datetime.now(UTC),
        date=partial(datetime.fromtimestamp, tz=UTC),
    )


def write(store: Store, refresh: int | None = None) -> None:
    """Write the page into the root of the storage."""
    Folder(store.root, "").write(PAGE, render(store, refresh))


def _report(folder: Folder, name: str, links: Sequence[AnalysisLink]) -> dict[str, Any]:
    """Return the summary of a report, with its date, its state and the analyses of its runs.

    One of an earlier version has only its page.
    """
    known: dict[str, Any] = {
        "title": name,
        "link": f"{reported.KIND}/{name}/{reported.PAGE}",
        "answer": "",
        "systems": {},
        "scores": {},
    }
    if folder.exists(reported.SUMMARY):
        known |= folder.read_json(reported.SUMMARY)
    names = [run for runs in known["systems"].values() for run in runs]
    runs = [run for name in names if (run := Folder(folder.root, name)).exists(DESCRIPTION)]
    scored = sum(is_scored(run) for run in runs)
    written = folder.filesystem.get_file_info(folder.path(reported.PAGE)).mtime
    return known | {
        "date": max(map(run_names.date, runs), default=written),
        "state": f"{scored} of {len(names)} runs scored",
        "scores": _scores(known["scores"]),
        "analyses": [link for link in links if set(link.runs) & set(names)],
    }


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """Return the deciding scores of systems by test set: `test: BLEU 5.3 baseline, 8.6 R-Drop`."""
    by_test: dict[str, dict[str, list[str]]] = {}
    for system, tests in scores.items():
        for test, metrics in tests.items():
            for metric, value in [*metrics.items()][:1]:
                of_test = by_test.setdefault(test, {}).setdefault(metric, [])
                of_test.append(f"{value:.1f} {system}")
    return [
        f"{test}: {title(metric)} {', '.join(values)}"
        for test, metrics in by_test.items()
        for metric, values in metrics.items()
    ]


def _runs(store: Store) -> tuple[Table | None, list[Download]]:
    """Return the runs of a storage with the deciding score on every test set, and all scores as
    CSV."""
    frame, described = results(store.root), stored_runs.folders(store)
    if not described:
        return None, []
    deciding = frame.drop_duplicates(["run", "test"])
    by_place = {(score["run"], score["test"]): score for score in deciding.to_dict("records")}
    tests = list(dict.fromkeys(deciding["test"]))
    rows = []
    for run in described:
        record = RunRecord.read(run)
        names = [
            record.name,
            run_names.label(run).text,
            record.experiment or MISSING,
            record.task or MISSING,
            cell(record.seed, "d"),
            state_of(run, record),
            f"{run_names.date(run):%Y-%m-%d %H:%M}",
        ]
        scores = (by_place.get((run.uri, test)) for test in tests)
        cells = [_score(score) if score else Cell(MISSING) for score in scores]
        rows.append(
            [
                *names,
                *cells,
                cell(record.cost.parameters if record.cost else None, amount),
                Cell(run.name.removeprefix("runs/"), code=True),
            ]
        )
    names = ["system", LABELS, "experiment", "task", "seed", "state", "date (UTC)"]
    columns = [*names, *tests, "parameters", "run"]
    if not any(row[1] for row in rows):
        columns, rows = [*columns[:1], *columns[2:]], [[*row[:1], *row[2:]] for row in rows]
    return table(columns, rows, title="runs"), [
        download("all scores as CSV", "scores.csv", csv(frame))
    ]


def _score(score: Mapping[Any, Any]) -> Cell:
    shown = interval(score["value"], score["low"], score["high"])
    return Cell(f"{title(score['metric'])} {shown}", score["value"])
