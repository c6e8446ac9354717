"""The pages of analyses in a storage, which the page of the storage links to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from augury.core.store import Folder, Store
from augury.reporting import run_files
from augury.runs.record import RunRecord

PAGE = ".html"


class AnalysisLink(NamedTuple):
    """The page of an analysis."""

    label: str
    """`outputs of baseline seed 1 and R-Drop seed 1 on test`."""
    link: str
    """Its path within the storage."""
    runs: tuple[str, ...]
    """The names of the runs that are analysed; empty for an analysis of texts."""


def analysis_links(store: Store, runs: Iterable[Folder]) -> list[AnalysisLink]:
    """Return the analyses of runs, each once, then those of texts.

    An analysis of several runs is in the folder of each, under one name.
    """
    pages: dict[tuple[str, str], list[tuple[Folder, Folder]]] = {}
    for run in runs:
        for folder in run_files.analyses(run).values():
            place = folder.name.rpartition("/")[2]
            owner = place if "-with-" in place else folder.name
            for file in folder.names():
                if file.endswith(PAGE):
                    pages.setdefault((owner, file), []).append((run, folder))
    links = [_link(file, folders) for (_, file), folders in pages.items()]
    for name in store.addresses(run_files.ANALYSES):
        folder = store.folder(run_files.ANALYSES, name)
        links += [
            AnalysisLink(f"{file.removesuffix(PAGE)} of texts", f"{folder.name}/{file}", ())
            for file in folder.names()
            if file.endswith(PAGE)
        ]
    return links


def _link(file: str, folders: list[tuple[Folder, Folder]]) -> AnalysisLink:
    records = [RunRecord.read(run) for run, _ in folders]
    names = [f"{record.name} seed {record.seed}" for record in records]
    folder = folders[0][1]
    test = folder.name.rpartition("/")[2].partition("-with-")[0]
    label = f"{file.removesuffix(PAGE)} of {' and '.join(names)} on {test}"
    return AnalysisLink(label, f"{folder.name}/{file}", tuple(run.name for run, _ in folders))
