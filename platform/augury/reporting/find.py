"""Find what a word names in a storage: runs, systems, the reports of experiments, sweeps.

Names are `EXPERIMENT`, `EXPERIMENT/SYSTEM` and `EXPERIMENT/SYSTEM/SEED`, a folder, a URI, or the
beginning of an address. A run that several experiments share has a name in each.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError
from augury.core.messages import say, say_once
from augury.core.naming import is_whole
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, REPORTS, RUNS, SCORES, RunName, run_folder
from augury.sweeping import state

if TYPE_CHECKING:
    from augury.reporting.results import SystemResult

PAGE, SUMMARY = "index.html", "report.json"
_RUN = re.compile(rf"{RUNS}/[^/]+/seed-\d+")
SHOWN = 6
"""The number of runs that an error lists."""


def find(word: str, storage: str) -> list[Folder]:
    """Return the runs that a word names: one, or all seeds of a system, sorted.

    `:STAGE` behind it names an earlier stage of training. UserError where it names no run, or the
    runs of several systems.
    """
    return _system(word, storage)[1]


def named_systems(store: Store) -> dict[str, dict[int, Folder]]:
    """Return the runs by seed of the systems of a storage, by their names, `EXPERIMENT/SYSTEM`.

    The name in a report counts before that in a sweep, and this before that with which a run was
    trained. Where several systems were trained with one name, each has its address behind it.
    """
    named: dict[str, dict[int, Folder]] = {}
    for group, systems in {**_sweeps(store), **_reports(store)}.items():
        for system, runs in systems.items():
            if described := {_seed(run): run for run in runs if run.exists(DESCRIPTION)}:
                named.setdefault(f"{group}/{system}", described)
    trained: dict[tuple[str, str], dict[int, Folder]] = {}
    for run, run_name in stored_runs.intact(stored_runs.folders(store), RunName.read).items():
        name = f"{run_name.experiment}/{run_name.name}"
        trained.setdefault((name, _address(run)), {})[run_name.seed] = run
    uses = Counter(name for name, _ in trained)
    for (name, address), by_seed in trained.items():
        if name in named and _address(next(iter(named[name].values()))) == address:
            named[name].update(by_seed)
        else:
            other = name in named or uses[name] > 1
            named[f"{name}@{address[:8]}" if other else name] = by_seed
    return named


def report_summary(report: Folder) -> dict[str, Any]:
    """Return the summary of an experiment's report; empty where there is none or, with a warning,
    where it is damaged: the next report is written over it."""
    return _read(report, SUMMARY)


def _read(folder: Folder, name: str) -> dict[str, Any]:
    """Return a record; empty where there is none or, with a warning, where it is damaged."""
    try:
        return folder.read_record(name)
    except FileNotFoundError:
        return {}
    except UserError as error:
        say_once(f"warning: {error}")
        return {}


def load_systems(words: Sequence[str], storage: str) -> list[SystemResult]:
    """Return the systems that words name, each once: runs, systems with all their seeds, and all
    those of a sweep or of an experiment's report.

    UserError where one does not exist, has no scores, or shares a run with another.
    """
    from augury.reporting.results import load_groups  # which names of runs do without

    named: dict[tuple[Folder, ...], str | None] = {}
    for word in words:
        for name, found in _of_group(word, storage) or [_system(word, storage)]:
            named.setdefault(tuple(found), name)
    runs = Counter(run for found in named for run in found)
    if shared := [run.uri for run, count in runs.items() if count > 1]:
        raise UserError(f"{shared[0]} belongs to two of the systems: name each run once")
    groups = [{_seed(run): run for run in runs} for runs in named]
    systems = load_groups(groups, list(named.values()))
    for system in systems:
        if not system.tests:
            raise UserError(
                f"{system.name} has no scores yet: wait, or repeat the command that trains it, "
                "which continues"
            )
    return systems


def common_tests(systems: Sequence[SystemResult]) -> list[str]:
    """Return the test sets on which all systems are scored by a metric of the first; UserError
    where there is none."""
    first, *others = systems
    tests = [
        test
        for test, by_metric in first.tests.items()
        if all(by_metric.keys() & other.tests.get(test, {}).keys() for other in others)
    ]
    if not tests:
        listed = "; ".join(f"{system.name}: {_scored_by(system)}" for system in systems)
        raise UserError(
            f"the systems have no test set and metric in common ({listed}): give their experiments "
            "one in corpus.tests and scoring.metrics"
        )
    return tests


def _scored_by(system: SystemResult) -> str:
    """Return the test sets of a system with their metrics: `test (bleu, chrf), clean (bleu)`."""
    return ", ".join(f"{test} ({', '.join(metrics)})" for test, metrics in system.tests.items())


def _sweeps(store: Store) -> dict[str, dict[str, list[Folder]]]:
    """Return the runs of the configurations of sweeps by the name of these, the reference first,
    and of a configuration those that confirm its choice last."""
    groups: dict[str, dict[str, list[Folder]]] = {}
    for name, definition in state.definitions(store).items():
        confirmation = _progress(store, name).get("confirmation") or {}
        confirmed = [confirmation.get(role) for role in ("reference", "winner")]
        groups[name] = {}
        for configuration in definition["configurations"]:
            address, seeds = configuration["address"], [*definition["seeds"]]
            if address in confirmed:
                seeds += confirmation["seeds"]
            runs = [run_folder(store, address, seed) for seed in seeds]
            groups[name][configuration["name"]] = runs
    return groups


def _reports(store: Store) -> dict[str, dict[str, list[Folder]]]:
    """Return the runs of the systems of reports by the name of these, the reference first."""
    groups: dict[str, dict[str, list[Folder]]] = {}
    for name in store.addresses(REPORTS):
        systems = report_summary(store.folder(REPORTS, name)).get("systems", {})
        groups[name] = {}
        for system, runs in systems.items():
            groups[name][system] = [Folder(store.root, run) for run in runs if _RUN.fullmatch(run)]
    return groups


def _progress(store: Store, sweep: str) -> dict[str, Any]:
    return _read(store.folder(state.SWEEPS, sweep), state.STATE)


def choices_of(systems: Sequence[SystemResult]) -> str:
    """Return why no difference of systems is called real: runs of theirs have chosen one of them
    in a sweep; empty where none has."""
    roots = {run.root for system in systems for run in system.runs.values()}
    for store in map(Store, sorted(roots)):
        for name, definition in state.definitions(store).items():
            chosen = _progress(store, name).get("chosen")
            for system in systems:
                seeds = [str(seed) for seed in definition["seeds"] if seed in system.runs]
                if seeds and system.address == chosen != definition["reference"]:
                    return (
                        f"seed {', '.join(seeds)} of {system.name} chose it in sweep {name}, and "
                        f"flatters it (`augury compare {state.SWEEPS}/{name}` leaves that out)"
                    )
    return ""


def _of_group(word: str, storage: str) -> list[tuple[str | None, list[Folder]]]:
    """Return name and scored runs of the systems of a report or sweep (`NAME`, `reports/NAME`,
    `sweeps/NAME`; of both with one name, those of the report), the reference first; empty for a
    word that names neither."""
    kind, _, name = word.rpartition("/")
    store, confirmation = Store(storage), None
    systems = _reports(store).get(name, {}) if kind in ("", REPORTS) else {}
    if not systems and kind in ("", state.SWEEPS):
        systems = _sweeps(store).get(name, {})
        confirmation = _progress(store, name).get("confirmation") if systems else None
    seeds = confirmation["seeds"] if confirmation else ()
    scored, fresh = {}, {}
    for system, runs in systems.items():
        scored[system] = [run for run in runs if run.exists(SCORES)]
        fresh[system] = [run for run in scored[system] if _seed(run) in seeds]
    confirmed = {system: runs for system, runs in fresh.items() if runs}
    if len(confirmed) == 2:  # the seeds that have chosen the winner flatter it
        scored |= confirmed
    missing = [system for system, runs in scored.items() if not runs]
    if missing and missing[0] == next(iter(scored)):
        raise UserError(
            f"the reference of {word} has no scores yet: give the command again that made it"
        )
    if missing:
        say(f"{word}: without scores, and left out: {'; '.join(missing)}")
    return [(system, runs) for system, runs in scored.items() if runs]


def _system(word: str, storage: str) -> tuple[str | None, list[Folder]]:
    """Return the name, None for an address, and the runs of the system that a word names."""
    if f"/{RUNS}/" in f"/{word}":
        return None, _of_address(word, storage)
    store = Store(storage)
    known = named_systems(store)
    name, _, seed = word.rpartition("/")
    if word in known:
        return word.partition("/")[2], [known[word][seed] for seed in sorted(known[word])]
    if name in known and is_whole(seed) and int(seed) in known[name]:
        return name.partition("/")[2], [known[name][int(seed)]]
    base, colon, stage = word.rpartition(":")
    if colon and "/" not in stage:
        return None, [stored_runs.stage(run, stage) for run in find(base, storage)]
    address = word.partition("/")[0]
    if address and any(other.startswith(address) for other in store.addresses(RUNS)):
        return None, _of_address(word, storage)
    names = [f"{system}/{seed}" for system, runs in known.items() for seed in runs]
    nearest = ", ".join(difflib.get_close_matches(word, names, n=SHOWN, cutoff=0.0))
    hint = "`augury train` makes them, and --storage says where others are"
    if nearest:
        hint = f"`augury runs` lists all; the nearest are: {nearest}"
    raise UserError(f"no run '{word}' in {store.root}: {hint}")


def _of_address(word: str, storage: str) -> list[Folder]:
    run = stored_runs.locate(word, storage)
    group = Folder(run.root, run.name.rpartition("/")[0])
    runs = [folder for folder in map(group.sub, group.subfolders()) if folder.exists(DESCRIPTION)]
    one = re.search(r"/seed-\d+/?(\?|$)", word)  # not in the path of the storage
    return [run] if one or not runs else sorted(runs, key=_seed)


def _seed(run: Folder) -> int:
    return int(run.name.rpartition("-")[2])


def _address(run: Folder) -> str:
    return run.name.split("/")[1]
