"""The page of a storage: its sweeps, its reports and its runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.reporting import reported
from augury.reporting.downloads import download
from augury.reporting.frames import results
from augury.reporting.numbers import MISSING, amount, interval
from augury.reporting.page import render_page
from augury.reporting.report import Download
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Cell, Table, cell, csv, table
from augury.scoring.registry import title
from augury.sweeping import state

PAGE = "index.html"


def render(store: Store, refresh: int | None = None) -> str:
    """Render the page in its current state.

    It links to the pages of sweeps and reports in the storage.
    """
    sweeps = [state.load(store, name) for name in state.names(store)]
    folders = {name: store.folder(reported.KIND, name) for name in store.addresses(reported.KIND)}
    all_runs, downloads = _runs(store)
    return render_page(
        "storage",
        name=f"Augury: {store.root}",
        root=store.root,
        sweeps=[
            (sweep, answer(summarise(sweep)))
            for sweep in sorted(sweeps, key=lambda sweep: -sweep.updated)
        ],
        reports=[
            _report(folder, name)
            for name, folder in folders.items()
            if folder.exists(reported.PAGE)
        ],
        runs=all_runs,
        downloads=downloads,
        refresh=refresh,
        updated=datetime.now(UTC),
        date=partial(datetime.fromtimestamp, tz=UTC),
    )


def write(store: Store, refresh: int | None = None) -> None:
    """Write the page into the root of the storage."""
    Folder(store.root, "").write(PAGE, render(store, refresh))


def _report(folder: Folder, name: str) -> dict[str, Any]:
    """Return the summary of a report; one of an earlier version has only its page."""
    known = {
        "title": name,
        "link": f"{reported.KIND}/{name}/{reported.PAGE}",
        "answer": "",
        "systems": (),
    }
    return known | (folder.read_json(reported.SUMMARY) if folder.exists(reported.SUMMARY) else {})


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
            record.experiment or MISSING,
            record.task or MISSING,
            cell(record.seed, "d"),
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
    columns = ["system", "experiment", "task", "seed", *tests, "parameters", "run"]
    return table(columns, rows, title="runs"), [
        download("all scores as CSV", "scores.csv", csv(frame))
    ]


def _score(score: Mapping[Any, Any]) -> Cell:
    shown = interval(score["value"], score["low"], score["high"])
    return Cell(f"{title(score['metric'])} {shown}", score["value"])
