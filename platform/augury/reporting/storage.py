"""The page of a storage: its sweeps, its reports and its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, RunRecord
from augury.reporting import reported, run_files, run_list, run_names
from augury.reporting.downloads import download
from augury.reporting.frames import results
from augury.reporting.rendering import render_page
from augury.reporting.report import Download
from augury.reporting.run_files import is_scored
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import csv
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
    sweeps = state.load_all(store)
    runs = run_list.stored(store)
    links = _analysis_links(store)
    folders = [store.folder(reported.KIND, name) for name in store.addresses(reported.KIND)]
    reports = [_report(folder, links) for folder in folders if folder.exists(reported.PAGE)]
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
        runs=run_list.page_table(runs) if runs else None,
        downloads=_all_scores(store) if runs else [],
        refresh=refresh,
        updated=datetime.now(UTC),
        date=partial(datetime.fromtimestamp, tz=UTC),
    )


def write(store: Store, refresh: int | None = None) -> None:
    """Write the page into the root of the storage."""
    Folder(store.root, "").write(PAGE, render(store, refresh))


def renew(store: Store) -> None:
    """Write the page again where there is one, after a command that has added to the storage."""
    if Folder(store.root, "").exists(PAGE):
        write(store)


def _report(folder: Folder, links: Sequence[AnalysisLink]) -> dict[str, Any]:
    """Return the summary of a report, with its date, its state and the analyses of its runs.

    One whose summary is damaged has only its page.
    """
    known: dict[str, Any] = {
        "title": folder.name.removeprefix(f"{reported.KIND}/"),
        "link": f"{folder.name}/{reported.PAGE}",
        "answer": "",
        "systems": {},
        "scores": {},
    }
    shown = reported.systems(Store(folder.root), folder.name.rpartition("/")[2])
    known |= reported.summary(folder) | {"systems": shown}
    names = [run for runs in known["systems"].values() for run in runs]
    runs = [run for name in names if (run := Folder(folder.root, name)).exists(DESCRIPTION)]
    scored = sum(is_scored(run) for run in runs)
    written = run_names.written(folder, reported.PAGE)
    return known | {
        "date": max(map(run_names.date, runs), default=written),
        "state": f"{scored} of {len(names)} runs scored",
        "scores": _scores(known["scores"]),
        "analyses": [link for link in links if set(link.runs) & set(names)],
    }


def _scores(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """Return the deciding scores of systems by test set: `test: BLEU 5.3 baseline, 8.6 R-Drop`."""
    by_test: dict[tuple[str, str], list[str]] = {}
    for system, tests in scores.items():
        for test, metrics in tests.items():
            for metric, value in [*metrics.items()][:1]:
                by_test.setdefault((test, metric), []).append(f"{value:.1f} {system}")
    return [
        f"{test}: {title(metric)} {', '.join(values)}" for (test, metric), values in by_test.items()
    ]


def _all_scores(store: Store) -> list[Download]:
    return [download("all scores as CSV", "scores.csv", csv(results(store.root)))]


def _analysis_links(store: Store) -> list[AnalysisLink]:
    """Return the analyses of runs, each once, then those of texts.

    An analysis of several runs is in the folder of each, under one name.
    """
    pages: dict[tuple[str, str], list[tuple[Folder, Folder]]] = {}
    for run in stored_runs.intact(stored_runs.folders(store), RunRecord.read):
        for folder in run_files.analyses(run).values():
            place = folder.name.rpartition("/")[2]
            owner = place if "-with-" in place else folder.name
            for file in _pages(folder):
                pages.setdefault((owner, file), []).append((run, folder))
    links = [_link(file, folders) for (_, file), folders in pages.items()]
    for name in store.addresses(run_files.ANALYSES):
        folder = store.folder(run_files.ANALYSES, name)
        for file in _pages(folder):
            label = f"{file.removesuffix(ANALYSIS_PAGE)} of texts"
            links.append(AnalysisLink(label, f"{folder.name}/{file}", ()))
    return links


def _pages(folder: Folder) -> list[str]:
    return [file for file in folder.names() if file.endswith(ANALYSIS_PAGE)]


def _link(file: str, folders: list[tuple[Folder, Folder]]) -> AnalysisLink:
    records = [RunRecord.read(run) for run, _ in folders]
    names = [f"{record.name} seed {record.seed}" for record in records]
    folder = folders[0][1]
    test = folder.name.rpartition("/")[2].partition("-with-")[0]
    label = f"{file.removesuffix(ANALYSIS_PAGE)} of {' and '.join(names)} on {test}"
    return AnalysisLink(label, f"{folder.name}/{file}", tuple(run.name for run, _ in folders))
