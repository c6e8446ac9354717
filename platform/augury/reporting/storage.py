"""The page of a storage: its sweeps, its reports and its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from augury.core.store import Folder, Store
from augury.reporting import reported, run_files, run_list, run_names
from augury.reporting.downloads import download
from augury.reporting.frames import results
from augury.reporting.page import render_page
from augury.reporting.report import Download
from augury.reporting.run_files import is_scored
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Table, csv
from augury.runs import stored_runs
from augury.runs.record import DESCRIPTION, RunRecord
from augury.scoring.registry import title
from augury.sweeping import state

PAGE = "index.html"
ANALYSIS_PAGE = ".html"
"""The ending of the pages of analyses."""


class AnalysisLink(NamedTuple):
    """The page of an analysis."""

    label: str
    """`outputs of baseline seed 1 and R-Drop seed 1 on test`."""
    link: str
    """Its path within the storage."""
    runs: tuple[str, ...]
    """The names of the runs that are analysed; empty for an analysis of texts."""


def render(store: Store, refresh: int | None = None) -> str:
    """Render the page in its current state.

    It links to the pages of sweeps and reports in the storage.
    """
    sweeps = [state.load(store, name) for name in state.names(store)]
    folders = {name: store.folder(reported.KIND, name) for name in store.addresses(reported.KIND)}
    all_runs, downloads = _runs(store)
    links = _analysis_links(store, stored_runs.folders(store))
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
    """Return the runs of a storage, and all their scores as CSV."""
    runs = run_list.stored(store)
    if not runs:
        return None, []
    scores = csv(results(store.root))
    return run_list.page_table(runs), [download("all scores as CSV", "scores.csv", scores)]


def _analysis_links(store: Store, runs: Iterable[Folder]) -> list[AnalysisLink]:
    """Return the analyses of runs, each once, then those of texts.

    An analysis of several runs is in the folder of each, under one name.
    """
    pages: dict[tuple[str, str], list[tuple[Folder, Folder]]] = {}
    for run in runs:
        for folder in run_files.analyses(run).values():
            place = folder.name.rpartition("/")[2]
            owner = place if "-with-" in place else folder.name
            for file in folder.names():
                if file.endswith(ANALYSIS_PAGE):
                    pages.setdefault((owner, file), []).append((run, folder))
    links = [_link(file, folders) for (_, file), folders in pages.items()]
    for name in store.addresses(run_files.ANALYSES):
        folder = store.folder(run_files.ANALYSES, name)
        pages_of_texts = [file for file in folder.names() if file.endswith(ANALYSIS_PAGE)]
        for file in pages_of_texts:
            label = f"{file.removesuffix(ANALYSIS_PAGE)} of texts"
            links.append(AnalysisLink(label, f"{folder.name}/{file}", ()))
    return links


def _link(file: str, folders: list[tuple[Folder, Folder]]) -> AnalysisLink:
    records = [RunRecord.read(run) for run, _ in folders]
    names = [f"{record.name} seed {record.seed}" for record in records]
    folder = folders[0][1]
    test = folder.name.rpartition("/")[2].partition("-with-")[0]
    label = f"{file.removesuffix(ANALYSIS_PAGE)} of {' and '.join(names)} on {test}"
    return AnalysisLink(label, f"{folder.name}/{file}", tuple(run.name for run, _ in folders))
