"""The reports of experiments in a storage: which runs each shows, and where one is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from augury.core.errors import UserError
from augury.core.messages import say_once
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import KIND as RUNS
from augury.experiments.record import RunRecord

KIND = "reports"
"""The folder of reports in a store, one by the name of each experiment."""
PAGE, SUMMARY = "index.html", "report.json"
_RUN = re.compile(rf"{RUNS}/[^/]+/seed-\d+")


def systems(store: Store, name: str) -> dict[str, list[str]]:
    """Return the names of the runs, in the store, of every system of an experiment's report."""
    systems = {}
    for system, runs in summary(store.folder(KIND, name)).get("systems", {}).items():
        systems[system] = [run for run in runs if _RUN.fullmatch(run)]
        if strange := [run for run in runs if run not in systems[system]]:
            say_once(f"warning: report {name} names what is no run: {', '.join(strange)}")
    return systems


def summary(report: Folder) -> dict[str, Any]:
    """Return the summary of an experiment's report; empty where there is none or, with a warning,
    where it is damaged: the next report is written over it."""
    try:
        return report.read_record(SUMMARY)
    except FileNotFoundError:
        return {}
    except UserError as error:
        say_once(f"warning: {error}")
        return {}


def by_age(store: Store) -> list[str]:
    """Return the names of the reports in a store, the latest last."""
    written = Folder(store.root, KIND).contents()
    summaries = [file for file in written if file.endswith(f"/{SUMMARY}") and file.count("/") == 1]
    return [
        file.partition("/")[0]
        for file in sorted(summaries, key=lambda file: (written[file].modified, file))
    ]


def latest(store: Store, experiment: str) -> Folder:
    """Return the latest report of an experiment, `NAME` or `NAME-2` and so on; it may not exist."""
    summaries = {name: summary(store.folder(KIND, name)) for name in by_age(store)}
    names = [
        name for name, known in summaries.items() if known.get("experiment", name) == experiment
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
        evaluations = [RunRecord.read(run).evaluations for run in of_system.values()]
        known = dict(of_system)
        others = (Folder(report.root, name) for name in shown.get(system, ()))
        complete = [run for run in others if run.complete]
        for earlier, record in stored_runs.intact(complete, RunRecord.read).items():
            if record.evaluations in evaluations:
                known.setdefault(record.seed, earlier)
        extended[system] = dict(sorted(known.items()))
    return extended
