"""Find what a word names in a storage: runs, systems, the reports of experiments, sweeps.

Names are `EXPERIMENT`, `EXPERIMENT/SYSTEM` and `EXPERIMENT/SYSTEM/SEED`, a folder, a URI, or the
beginning of an address. A run that several experiments share has a name in each.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from augury.core.errors import UserError, unknown
from augury.core.messages import say_once
from augury.core.naming import is_whole
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, KIND, SCORES, RunName, RunRecord
from augury.sweeping import state

if TYPE_CHECKING:
    from augury.reporting.results import SystemResult

REPORTS = "reports"
"""The folder of reports in a store, one by the name of each experiment."""
PAGE, SUMMARY = "index.html", "report.json"
_RUN = re.compile(rf"{KIND}/[^/]+/seed-\d+")
SHOWN = 6
"""The number of runs that an error lists."""


class NamedSystem(NamedTuple):
    """A system of a storage with its runs."""

    name: str
    """`EXPERIMENT/SYSTEM`."""
    runs: Mapping[int, Folder]
    """Seed -> folder."""


def find(word: str, storage: str) -> list[Folder]:
    """Return the runs that a word names: one, or all seeds of a system, sorted.

    `:STAGE` behind it names an earlier stage of training. UserError where it names no run, or the
    runs of several systems.
    """
    return _system(word, storage)[1]


def name_of(run: Folder) -> str:
    """Return a name of a run that training has described, by which `find` finds it."""
    for system in named_systems(Store(run.root)):
        for seed, folder in system.runs.items():
            if folder == run:
                return f"{system.name}/{seed}"
    raise AssertionError(f"{run.uri} is no described run")


def named_systems(store: Store) -> list[NamedSystem]:
    """Return the systems of a storage by name; each name belongs to one.

    The name in a report counts before that in a sweep, and this before that with which a run was
    trained. Where several systems were trained with one name, each has its address behind it.
    """
    named: dict[str, dict[int, Folder]] = {}
    for (_, group), systems in _groups(store).items():
        for system, runs in systems.items():
            if described := {_seed(run): run for run in runs if run.exists(DESCRIPTION)}:
                named.setdefault(f"{group}/{system}", described)
    trained: dict[tuple[str, str], dict[int, Folder]] = {}
    for run, of in stored_runs.intact(stored_runs.folders(store), RunName.read).items():
        trained.setdefault((f"{of.experiment}/{of.name}", _address(run)), {})[of.seed] = run
    uses = Counter(name for name, _ in trained)
    for (name, address), by_seed in trained.items():
        if name in named and _address(next(iter(named[name].values()))) == address:
            named[name].update(by_seed)
        else:
            other = name in named or uses[name] > 1
            named[f"{name}@{address[:8]}" if other else name] = by_seed
    return [NamedSystem(name, by_seed) for name, by_seed in named.items()]


def report_systems(report: Folder) -> dict[str, list[Folder]]:
    """Return the runs of every system of an experiment's report."""
    systems = {}
    for system, runs in report_summary(report).get("systems", {}).items():
        if strange := [run for run in runs if not _RUN.fullmatch(run)]:
            say_once(f"warning: {report.uri} names what is no run: {', '.join(strange)}")
        systems[system] = [Folder(report.root, run) for run in runs if run not in strange]
    return systems


def report_summary(report: Folder) -> dict[str, Any]:
    """Return the summary of an experiment's report; empty where there is none or, with a warning,
    where it is damaged: the next report is written over it."""
    try:
        return report.read_record(SUMMARY)
    except FileNotFoundError:
        return {}
    except UserError as error:
        say_once(f"warning: {error}")
        return {}


def with_earlier_seeds(
    report: Folder, runs: Mapping[str, Mapping[int, Folder]]
) -> dict[str, dict[int, Folder]]:
    """Return the runs of systems by seed, with those of other seeds that a report shows, as far as
    they are of the same address and scored in the same way.

    Says where the report shows a system with other settings, as it is about to be written anew.
    """
    extended = {name: dict(of_system) for name, of_system in runs.items()}
    replaced = []
    for name, shown in report_systems(report).items():
        by_seed = runs.get(name, {})
        addresses = {_address(run) for run in by_seed.values()}
        evaluations = [RunRecord.read(run).evaluations for run in by_seed.values()]
        earlier = [run for run in shown if _address(run) in addresses]
        if len(earlier) < len(shown):
            replaced.append(f"{name} ({_address(shown[0])})")
        complete = [run for run in earlier if run.complete]
        for run, record in stored_runs.intact(complete, RunRecord.read).items():
            if record.evaluations in evaluations:
                extended[name].setdefault(record.seed, run)
    if replaced:
        say(
            f"the report {report.name} showed other settings, whose runs are kept by their "
            f"addresses, and is written anew: {', '.join(replaced)}"
        )
    return {name: dict(sorted(of_system.items())) for name, of_system in extended.items()}


def load_systems(words: Sequence[str], storage: str) -> list[SystemResult]:
    """Return the systems that words name: runs, systems with all their seeds, and all those of a
    sweep or of an experiment's report.

    UserError where one does not exist, has no scores, or shares a run with another; one that is
    named twice is told of.
    """
    from augury.reporting.results import load_groups  # which names of runs do without

    named: dict[tuple[Folder, ...], str | None] = {}
    for word in words:
        for name, found in _of_group(word, storage) or [_system(word, storage)]:
            runs = tuple(found)
            if runs in named:
                say(f"{name or word} is compared already, and not repeated")
            named.setdefault(runs, name)
    for first, second in itertools.combinations(named, 2):
        if shared := [run for run in first if run in second]:
            raise UserError(f"{shared[0].uri} belongs to two of the systems: name each run once")
    groups = [{_seed(run): run for run in runs} for runs in named]
    systems = load_groups(groups, list(named.values()))
    for system in systems:
        if not system.tests:
            raise UserError(
                f"{system.name} has no scores yet: `augury train` with its experiment file makes "
                "them"
            )
    return systems


def with_reference(systems: Sequence[SystemResult], name: str) -> list[SystemResult]:
    """Return the systems with one of them first, which the others are compared with; UserError
    for another name."""
    first = next((system for system in systems if system.name == name), None)
    if first is None:
        raise unknown("reference", name, [system.name for system in systems])
    return [first, *(system for system in systems if system is not first)]


def common_tests(systems: Sequence[SystemResult]) -> list[str]:
    """Return the test sets that all systems are scored on; UserError unless they are scored on the
    same texts in the same way."""
    from augury.reporting.comparison import scored_sets
    from augury.reporting.notes import incomparable
    from augury.scoring.registry import title

    known = scored_sets(systems)
    tests = [test for test in known if all(test in system.tests for system in systems)]
    if not tests:
        listed = "; ".join(f"{system.name}: {', '.join(system.tests)}" for system in systems)
        raise UserError(
            f"the systems have no test set in common ({listed}): give their experiments one in "
            "corpus.tests"
        )
    for test in known:
        if test not in tests:
            say(f"{test} is left out: not all systems are scored on it")
    for test in tests:
        metrics = [*systems[0].tests[test]]
        for system in systems:
            if system.score(test, metrics[0]) is None:
                raise UserError(
                    f"{system.name} is not scored by {title(metrics[0])} on {test}, as "
                    f"{systems[0].name} is: give both the same scoring.metrics and run `augury "
                    "train` again"
                )
        if problems := incomparable(systems, test, metrics):
            raise UserError("; ".join(problems))
    return tests


def _groups(store: Store) -> dict[tuple[str, str], dict[str, list[Folder]]]:
    """Return the runs of the systems of all reports, and then of all sweeps, by the kind and the
    name of both, the reference first."""
    groups = {}
    for name in store.addresses(REPORTS):
        groups[REPORTS, name] = report_systems(store.folder(REPORTS, name))
    for name, definition in state.definitions(store).items():
        systems = groups.setdefault((state.KIND, name), {})
        for configuration in definition["configurations"]:
            group = store.folder(KIND, configuration["address"])
            runs = [group.sub(f"seed-{seed}") for seed in definition["seeds"]]
            systems[configuration["name"]] = runs
    return groups


def _of_group(word: str, storage: str) -> list[tuple[str | None, list[Folder]]]:
    """Return name and scored runs of the systems of a report or sweep, the reference first; empty
    for a word that names neither."""
    kinds, place, name = [REPORTS, state.KIND], storage, word
    *above, kind, last = word.rstrip("/").rsplit("/", 2) if "/" in word else ("", word)
    if kind in kinds:
        kinds, place, name = [kind], "/".join(above) or storage, last
    groups = _groups(Store(place))
    group = next(((kind, name) for kind in kinds if (kind, name) in groups), None)
    if group is None and len(kinds) > 1:
        return []
    if group is None:
        raise unknown(kind.removesuffix("s"), name, [of for kind, of in groups if kind in kinds])
    systems = {
        system: [run for run in runs if run.exists(SCORES)]
        for system, runs in groups[group].items()
    }
    of = f"{group[0].removesuffix('s')} {name}"
    missing = [system for system, runs in systems.items() if not runs]
    if missing and missing[0] == next(iter(systems)):
        raise UserError(
            f"the reference of {of} has no scores yet: give the command again that made it"
        )
    if missing:
        say(f"{of}: without scores, and left out: {'; '.join(missing)}")
    return [(system, runs) for system, runs in systems.items() if runs]


def _system(word: str, storage: str) -> tuple[str | None, list[Folder]]:
    """Return the name, None for an address, and the runs of the system that a word names."""
    if f"/{KIND}/" in f"/{word}":
        return None, _of_address(word, storage)
    store = Store(storage)
    known = {system.name: system.runs for system in named_systems(store)}
    name, _, seed = word.rpartition("/")
    if word in known:
        return word.partition("/")[2], [known[word][seed] for seed in sorted(known[word])]
    if name in known and is_whole(seed) and int(seed) in known[name]:
        return name.partition("/")[2], [known[name][int(seed)]]
    base, colon, stage = word.rpartition(":")
    if colon and "/" not in stage:
        return None, [stored_runs.stage(run, stage) for run in find(base, storage)]
    address = word.partition("/")[0]
    if address and any(of.startswith(address) for of in store.addresses(KIND)):
        return None, _of_address(word, storage)
    names = [f"{system}/{seed}" for system, runs in known.items() for seed in runs]
    if not names:
        raise UserError(
            f"no run '{word}' in {store.root}, which has none yet: `augury train` makes them, and "
            "--storage says where others are"
        )
    nearest = difflib.get_close_matches(word, names, n=SHOWN, cutoff=0.0)
    raise UserError(
        f"no run '{word}' in {store.root}, of which `augury runs` lists all; the nearest are:"
        + "".join(f"\n  {name}" for name in nearest)
    )


def _of_address(word: str, storage: str) -> list[Folder]:
    run = stored_runs.locate(word, storage)
    group = Folder(run.root, run.name.rpartition("/")[0])
    runs = [of for of in map(group.sub, group.subfolders()) if of.exists(DESCRIPTION)]
    return [run] if "/seed-" in word or not runs else sorted(runs, key=_seed)


def _seed(run: Folder) -> int:
    return int(run.name.rpartition("-")[2])


def _address(run: Folder) -> str:
    return run.name.split("/")[1]
