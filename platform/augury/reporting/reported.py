"""The reports of experiments in a storage: which runs each shows, and where one is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from augury.core.store import Folder, Store
from augury.runs.record import RunRecord

KIND = "reports"
"""The folder of reports in a store, one by the name of each experiment."""
PAGE, SUMMARY = "index.html", "report.json"


def systems(store: Store, name: str) -> dict[str, list[str]]:
    """Return the names of the runs, in the store, of every system of an experiment's report."""
    folder = store.folder(KIND, name)
    return dict(folder.read_json(SUMMARY)["systems"]) if folder.exists(SUMMARY) else {}


def by_age(store: Store) -> list[str]:
    """Return the names of the reports in a store, the latest last."""
    written = Folder(store.root, KIND).times(below=True)
    summaries = [file for file in written if file.endswith(f"/{SUMMARY}") and file.count("/") == 1]
    return [
        file.partition("/")[0] for file in sorted(summaries, key=lambda file: (written[file], file))
    ]


def latest(store: Store, experiment: str) -> Folder:
    """Return the latest report of an experiment, `NAME` or `NAME-2` and so on; it may not exist."""
    names = [
        name
        for name in by_age(store)
        if store.folder(KIND, name).read_json(SUMMARY).get("experiment", name) == experiment
    ]
    return store.folder(KIND, names[-1] if names else experiment)


def folder_of(store: Store, name: str, addresses: Mapping[str, str]) -> Folder:
    """Return the folder of the report on systems, given the addresses of their runs by name.

    A report belongs to its systems, in their order: that of the same systems, or of the first of
    them, is extended. Beside one of other systems, it is called `NAME-2`, `NAME-3` and so on.
    """
    number, candidate = 1, name
    while not _extends(addresses, systems(store, candidate)):
        number += 1
        candidate = f"{name}-{number}"
    return store.folder(KIND, candidate)


def _extends(addresses: Mapping[str, str], shown: Mapping[str, Sequence[str]]) -> bool:
    """Return whether systems begin with those that a report shows; some may have no run yet."""
    return [*shown] == [*addresses][: len(shown)] and all(
        not runs or not addresses[system] or runs[0].split("/")[1] == addresses[system]
        for system, runs in shown.items()
    )


def with_earlier_seeds(
    report: Folder, runs: Mapping[str, Mapping[int, Folder]]
) -> dict[str, dict[int, Folder]]:
    """Return the runs of systems by seed, with those of other seeds that a report shows, as far as
    they are scored in the same way."""
    shown = systems(Store(report.root), report.name.rpartition("/")[2])
    extended = {}
    for system, of_system in runs.items():
        evaluations = {RunRecord.read(run).evaluation for run in of_system.values()}
        known = dict(of_system)
        for earlier in (Folder(report.root, name) for name in shown.get(system, ())):
            record = RunRecord.read(earlier) if earlier.complete else None
            if record and record.evaluation in evaluations:
                known.setdefault(record.seed, earlier)
        extended[system] = dict(sorted(known.items()))
    return extended
