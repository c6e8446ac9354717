"""Names of stored runs: `EXPERIMENT/SYSTEM/SEED`, shorter ones that say as much, and those that
users give.

A run that several experiments share has a name in each.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from augury.core.errors import UserError
from augury.core.naming import is_whole
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, KIND, RunName

SHOWN = 6
"""The number of runs that an error lists."""
LIKELY = 0.8
"""The similarity of a system's name to a word, at least, of which it is meant."""


@dataclass(frozen=True)
class NamedRuns:
    """The runs of a system, by seed."""

    name: str
    """`EXPERIMENT/SYSTEM`."""
    seeds: Mapping[int, Folder]

    @property
    def address(self) -> str:
        """The address of the runs."""
        return next(iter(self.seeds.values())).name.split("/")[1]


def find(word: str, storage: str) -> list[Folder]:
    """Return the runs that a word names: one, or all seeds of a system, sorted.

    A word is a name, a folder or URI, or the beginning of an address; `:STAGE` behind it names an
    earlier stage of training. The name of an experiment with a baseline and one more system is a
    name of the latter. UserError where it names no run, or the runs of several systems.
    """
    if f"/{KIND}/" in f"/{word}":
        return _of_address(word, storage)
    store = Store(storage)
    known = named_runs(store)
    matching: dict[str, dict[int, Folder]] = {}
    names: dict[str, str] = {}
    for of, runs in _matching(word.rstrip("/"), known):
        matching[of.address] = {**matching.get(of.address, {}), **runs}
        names.setdefault(of.address, of.name)
    compared = [address for address, name in names.items() if not name.endswith("/baseline")]
    if len(compared) == 1 and len(matching) == 2:  # an experiment: what it compares with a baseline
        matching = {compared[0]: matching[compared[0]]}
    if len(matching) == 1:
        (seeds,) = matching.values()
        return [seeds[seed] for seed in sorted(seeds)]
    if matching:
        raise UserError(
            f"'{word}' names several systems in {store.root}: give one of\n  "
            + "\n  ".join(names.values())
        )
    base, colon, stage = word.rpartition(":")
    if colon and "/" not in stage:
        return [stored_runs.stage(run, stage) for run in find(base, storage)]
    address = word.partition("/")[0]
    if address and any(name.startswith(address) for name in store.addresses(KIND)):
        return _of_address(word, storage)
    raise _unknown(word, store, known)


def name_of(run: Folder) -> str:
    """Return a name of a run that training has described, by which `find` finds it."""
    for of in named_runs(Store(run.root)):
        for seed, folder in of.seeds.items():
            if folder == run:
                return f"{of.name}/{seed}"
    raise AssertionError(f"{run.uri} is no described run")


def named_runs(store: Store) -> list[NamedRuns]:
    """Return the systems of a storage by name; each name belongs to one.

    The name in a report counts before that in a sweep, and this before that with which a run was
    trained. Where one of these is left for several systems, each has its address behind it. A run
    whose description is damaged has the name of its folder.
    """
    named: dict[str, NamedRuns] = {}
    described = stored_runs.folders(store)
    for name, seeds in (*_reported(store), *_swept(store)):
        if seeds:
            named.setdefault(name, NamedRuns(name, seeds))
    trained: dict[tuple[str, str], dict[int, Folder]] = {}
    trained_as = stored_runs.intact(described, RunName.read)
    for run, of in trained_as.items():
        name = f"{of.experiment}/{of.name}"
        trained.setdefault((name, run.name.split("/")[1]), {})[of.seed] = run
    names = [name for name, _ in trained]
    for (name, address), seeds in trained.items():
        if name in named and named[name].address == address:
            named[name] = NamedRuns(name, {**named[name].seeds, **seeds})
        else:
            free = names.count(name) == 1 and name not in named
            shown = name if free else f"{name}@{address[:8]}"
            named[shown] = NamedRuns(shown, seeds)
    shown_runs = {run for of in named.values() for run in of.seeds.values()}
    for run in described:
        if run not in trained_as and run not in shown_runs:
            named[run.name] = NamedRuns(run.name, _by_seed([run]))
    return list(named.values())


def _reported(store: Store) -> Iterator[tuple[str, dict[int, Folder]]]:
    from augury.reporting import reported

    for report in reversed(reported.by_age(store)):
        for system, runs in reported.systems(store, report).items():
            folders = [Folder(store.root, run) for run in runs]
            yield f"{report}/{system}", _by_seed(folders)


def _swept(store: Store) -> Iterator[tuple[str, dict[int, Folder]]]:
    from augury.sweeping import state  # only where a run is given by its name

    for sweep, definition in state.definitions(store).items():
        for configuration in definition["configurations"]:
            group = store.folder(KIND, configuration["address"])
            folders = [group.sub(f"seed-{seed}") for seed in definition["seeds"]]
            yield f"{sweep}/{configuration['name']}", _by_seed(folders)


def _by_seed(folders: list[Folder]) -> dict[int, Folder]:
    return {int(run.name.rpartition("-")[2]): run for run in folders if run.exists(DESCRIPTION)}


def _matching(word: str, known: list[NamedRuns]) -> list[tuple[NamedRuns, Mapping[int, Folder]]]:
    """Return the systems that a word can mean, with those of their runs that it names.

    A full name counts before that of a system alone, and this before that of an experiment.
    """
    parts = [(runs, *runs.name.partition("/")[::2]) for runs in known]
    base, _, seed = word.rpartition("/")
    for forms in (
        [(runs, runs.name) for runs in known],
        [(runs, runs.name.rpartition("@")[0]) for runs in known],
        [(runs, system) for runs, _, system in parts if system],
        [(runs, experiment) for runs, experiment, _ in parts],
    ):
        matching: list[tuple[NamedRuns, Mapping[int, Folder]]] = []
        for runs, form in forms:
            if word == form:
                matching.append((runs, runs.seeds))
            if base == form and is_whole(seed) and int(seed) in runs.seeds:
                matching.append((runs, {int(seed): runs.seeds[int(seed)]}))
        if matching:
            return matching
    return []


def _of_address(word: str, storage: str) -> list[Folder]:
    run = stored_runs.locate(word, storage)
    if "/seed-" in word:
        return [run]
    group = Folder(run.root, run.name.rpartition("/")[0])
    runs = [run for run in map(group.sub, group.subfolders()) if run.exists(DESCRIPTION)]
    return sorted(runs, key=lambda run: int(run.name.rpartition("-")[2])) or [run]


def _unknown(word: str, store: Store, known: list[NamedRuns]) -> UserError:
    """Return the error for a word that names no run, with the nearest names and their dates."""
    names: dict[Folder, str] = {}  # one of each run: reports and sweeps may share it
    for of in known:
        for seed, run in of.seeds.items():
            names.setdefault(run, f"{of.name}/{seed}")
    runs = {name: run for run, name in names.items()}
    if not runs:
        return UserError(
            f"no run '{word}' in {store.root}, which has none yet: "
            "`augury train` makes them, and --storage says where others are"
        )
    system, _, number = word.rpartition("/")
    trained = next((of.seeds for of in known if of.name == system), None)
    if trained and is_whole(number):
        seeds = ", ".join(map(str, sorted(trained)))
        return UserError(f"no run '{word}' in {store.root}: the seeds of {system} are {seeds}")
    likely = difflib.get_close_matches(word, [of.name for of in known], n=1, cutoff=LIKELY)
    hint = f": did you mean '{likely[0]}'? The" if likely else "; the"
    close = difflib.get_close_matches(word, runs, n=SHOWN, cutoff=0.0)
    shown = "".join(f"\n  {name} ({date(runs[name]):%Y-%m-%d %H:%M})" for name in close)
    return UserError(
        f"no run '{word}' in {store.root}{hint} nearest are:{shown}\n`augury runs` lists all"
    )


def date(run: Folder) -> datetime:
    """Return when a run was last trained, by its history; copying does not change it."""
    from augury.training import history

    files = sorted(history.files(run), key=lambda file: file.partition(".")[0])
    with suppress(UserError):
        if files and (records := history.records(run, files[-1])):
            return datetime.fromtimestamp(records[-1]["time"], UTC)
    return written(run, DESCRIPTION)


def written(folder: Folder, name: str) -> datetime:
    """Return when a file was written, in UTC."""
    info = folder.info(name)
    return datetime.fromtimestamp(info.modified or 0.0 if info else 0.0, UTC)
