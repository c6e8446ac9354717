"""Find runs and systems by the names that users give on the command line."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Sequence

from augury.core.errors import UserError, unknown
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.reporting import reported, run_files, run_names
from augury.reporting.comparison import scored_sets
from augury.reporting.results import SystemResult, load_groups
from augury.scoring.registry import title
from augury.sweeping import state


def load_systems(words: Sequence[str], storage: str) -> list[SystemResult]:
    """Return the systems that words name: runs, configurations, and those of sweeps and of
    experiments' reports.

    A run has the name that a user gave it or, shared by experiments, that in the report with most
    of the systems, the latest among equals; without a report, the one that it was trained with.
    UserError where one does not exist, has no scores, or shares a run with another; one that is
    named twice is told of.
    """
    named: dict[tuple[Folder, ...], str | None] = {}
    for word in words:
        for name, folders in _named(word, storage):
            if tuple(folders) in named:
                say(f"{name or word} is compared already, and not repeated")
            named.setdefault(tuple(folders), name)
    for first, second in itertools.combinations(named, 2):
        if shared := [folder for folder in first if folder in second]:
            raise UserError(f"{shared[0].uri} belongs to two of the systems: name each run once")
    firsts = [group[0] for group in named]
    of_reports = names_in_reports(firsts)
    pairs = zip(named.values(), of_reports, strict=True)
    names = [name or of_report for name, of_report in pairs]
    groups = [{RunRecord.read(folder).seed: folder for folder in group} for group in named]
    systems = load_groups(groups, names)
    for system in systems:
        if not system.tests:
            raise UserError(
                f"{system.name} has no scores yet: `augury train` with its experiment file makes "
                "them"
            )
    return systems


def _named(word: str, storage: str) -> Sequence[tuple[str | None, list[Folder]]]:
    """Return the systems that a word names, with their names in a sweep or report."""
    if place := _place(word, storage):
        kind, store, name = place
        return _configurations(store, name) if kind == state.KIND else _reported(store, name)
    return [(None, run_names.find(word, storage))]


def _place(word: str, storage: str) -> tuple[str, Store, str] | None:
    """Return the kind, store and name of the sweep or report that a word names, by name or path;
    None for others, such as runs."""
    store = Store(storage)
    if word in store.addresses(reported.KIND):
        return reported.KIND, store, word
    if word in state.names(store):
        return state.KIND, store, word
    for kind in (state.KIND, reported.KIND):
        root, found, name = f"/{word.rstrip('/')}".rpartition(f"/{kind}/")
        if found and "/runs/" not in f"/{name}":  # runs may lie below a directory called sweeps
            return kind, Store(root.removeprefix("/") or storage), name
    return None


def sweep_named(word: str, storage: str) -> state.Sweep | None:
    """Return the sweep that a word names; None for other systems."""
    place = _place(word, storage)
    return state.load(*place[1:]) if place and place[0] == state.KIND else None


def _reported(store: Store, name: str) -> list[tuple[str, list[Folder]]]:
    """Return name and scored runs of the systems in the report of an experiment, the baseline
    first."""
    known = store.addresses(reported.KIND)
    if name not in known:
        raise unknown("report", name, known)
    systems = []
    for system, runs in reported.systems(store, name).items():
        scored = [*filter(run_files.is_scored, (Folder(store.root, run) for run in runs))]
        if scored:
            systems.append((system, scored))
    return systems


def names_in_reports(systems: Sequence[Folder]) -> list[str | None]:
    """Return the name of each system, given by one of its runs, in the report that has most of
    them, the latest among equals."""
    reports = []
    for root in dict.fromkeys(run.root for run in systems):
        store = Store(root)
        for name in reported.by_age(store):
            shown = reported.systems(store, name).items()
            reports.append({Folder(root, run): system for system, runs in shown for run in runs})
    ranked = sorted(reports, key=lambda names: sum(run in names for run in systems))
    return [ChainMap(*reversed(ranked)).get(run) for run in systems]


def with_reference(systems: Sequence[SystemResult], name: str) -> list[SystemResult]:
    """Return the systems with one of them first, which the others are compared with; UserError
    for another name."""
    first = next((system for system in systems if system.name == name), None)
    if first is None:
        raise unknown("reference", name, [system.name for system in systems])
    return [first, *(system for system in systems if system is not first)]


def _configurations(store: Store, name: str) -> list[tuple[str, list[Folder]]]:
    """Return name and scored runs of the configurations of a sweep, the reference first."""
    sweep = state.load(store, name)
    scored = {name: list(seeds.values()) for name, seeds in sweep.scored().items()}
    if not scored[sweep.by_address[sweep.reference].name]:
        raise UserError(
            f"the reference of sweep {sweep.name} has no scores yet: `augury sweep` goes on with it"
        )
    if missing := [name for name, folders in scored.items() if not folders]:
        say(f"sweep {sweep.name}: without scores, and left out: {'; '.join(missing)}")
    return [(name, folders) for name, folders in scored.items() if folders]


def common_tests(systems: Sequence[SystemResult]) -> list[str]:
    """Return the test sets that all systems are scored on; UserError where their scores cannot
    be compared."""
    known = scored_sets(systems)
    tests = [test for test in known if all(test in system.tests for system in systems)]
    if not tests:
        listed = "; ".join(f"{system.name}: {', '.join(system.tests)}" for system in systems)
        raise UserError(
            f"the systems have no test set in common ({listed}): give their experiments one in "
            "corpus.tests"
        )
    for test in [test for test in known if test not in tests]:
        say(f"{test} is left out: not all systems are scored on it")
    for test, system in itertools.product(tests, systems[1:]):
        _check_comparable(systems[0], system, test)
    return tests


def _check_comparable(baseline: SystemResult, system: SystemResult, test: str) -> None:
    """Raise UserError unless both systems were scored on the same text in the same way."""
    addresses = (baseline.record.addresses, system.record.addresses)
    texts = [of_roles[test] for of_roles in addresses if test in of_roles]
    if len(set(texts)) > 1:
        raise UserError(
            f"{test} is not one text: {baseline.name} is scored on {texts[0]}, {system.name} on "
            f"{texts[1]}"
        )
    for index, (metric, score) in enumerate(baseline.tests[test].items()):
        other = system.score(test, metric)
        if other is None and index == 0:
            raise UserError(
                f"{system.name} is not scored by {title(metric)} on {test}, as {baseline.name} is: "
                "give both the same scoring.metrics and run `augury train` again"
            )
        if other and other.measure != score.measure:
            raise UserError(
                f"{title(metric)} on {test} is not measured in one way: {baseline.name} has "
                f"{score.measure}, {system.name} has {other.measure}"
            )
