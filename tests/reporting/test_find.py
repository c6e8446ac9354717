"""What words name in a storage: runs, systems, reports of experiments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import REPORTS
from augury.reporting.find import (
    SUMMARY,
    find,
    load_systems,
)
from tests.run_folders import Results, Sweeps

A, B, C = "aa" * 8, "bb" * 8, "cc" * 8
Add = Callable[..., Folder]


def report(store: Store, name: str, **systems: list[Folder]) -> Folder:
    content = {system: [run.name for run in runs] for system, runs in systems.items()}
    folder = store.folder(REPORTS, name)
    folder.write_record(SUMMARY, {"systems": content})
    return folder


def test_runs_and_systems_have_several_names(results: Results) -> None:
    """Systems with a slash in the name, of which another experiment shares a run; seeds are in the
    order of numbers."""
    results.run("baseline", B, 10)
    run, other = (results.run("keys 1/2", A, seed) for seed in (10, 2))
    report(results.store, "other", plain=[run])
    root = results.store.root
    for word in ("ciphers/keys 1/2/10", f"{A[:4]}/seed-10", f"runs/{A}/seed-10", "other/plain/10"):
        assert find(word, root) == [run]
    report(results.store, "ciphers", **{"keys 1/2": [run]})
    for word in ("ciphers/keys 1/2", A, A[:4], f"runs/{A}"):
        assert find(word, root) == [other, run]


def test_equal_names_are_told_apart_by_addresses_until_a_report_has_one(results: Results) -> None:
    older, later = (results.run("one key", address) for address in (A, B))
    root = results.store.root
    with pytest.raises(UserError, match="ciphers/one key@aaaaaaaa"):
        find("ciphers/one key/1", root)
    assert find(f"ciphers/one key@{A[:8]}/1", root) == [older]
    report(results.store, "ciphers", **{"one key": [later]})
    assert find("ciphers/one key/1", root) == [later]


def test_unknown_runs_are_told_the_nearest(results: Results) -> None:
    root = results.store.root
    with pytest.raises(UserError, match="augury train"):  # of an empty storage
        find("ciphers/one key", root)
    results.run("one key", A)
    for word, named in (("ciphers/one kex", "ciphers/one key/1"), ("one key/7", "key/1")):
        with pytest.raises(UserError, match=named):
            find(word, root)


def test_a_report_names_all_its_systems(results: Results) -> None:
    """Runs that it shares with other experiments too; those without scores are left out."""
    runs = [results.run("first", address, bleu=30.0) for address in (A, B)]
    report(results.store, "mine", base=runs[:1], ours=runs[1:], later=[results.run("later", C)])
    root = results.store.root
    for words in (["reports/mine"], ["mine"], ["mine/base", "mine/ours"]):
        assert [system.name for system in load_systems(words, root)] == ["base", "ours"]
    with pytest.raises(UserError, match="the nearest are: .*mine/ours/1"):
        load_systems(["reports/mime"], root)


def test_a_sweep_is_told_from_a_report_of_its_name(results: Results) -> None:
    """Also where it is confirmed by seeds that runs of the report have."""
    sweeps, root = Sweeps(results, "same"), results.store.root
    first, second = (sweeps.configuration({}, name) for name in ("base", "ours"))
    for address in (first, second):
        for seed in (1, 2):
            sweeps.trial(address, seed, [30])
    sweeps.confirmation = {"reference": first, "winner": second, "seeds": [2]}
    sweeps.load([1])
    both = [results.run("mine", address, seed, bleu=30.0) for address in (A, B) for seed in (1, 2)]
    report(results.store, "same", plain=both[:2], other=both[2:])
    for word, names, seeds in (
        ("sweeps/same", ["base", "ours"], [2]),
        ("reports/same", ["plain", "other"], [1, 2]),
        ("same", ["plain", "other"], [1, 2]),
    ):
        systems = load_systems([word], root)
        assert [system.name for system in systems] == names
        assert [[*system.runs] for system in systems] == [seeds, seeds]


def test_all_seeds_are_found_in_a_storage_that_is_called_as_a_seed_is(tmp_path: Path) -> None:
    results = Results(tmp_path / "seed-study")
    runs = [results.run("ours", A, seed) for seed in (1, 2)]
    folder = f"{results.store.root}/runs/{A}"
    assert find(folder, "results") == runs and find(f"{folder}/seed-2/", "results") == runs[1:]


def test_a_stage_is_named_behind_its_run(results: Results) -> None:
    """The first stage, the one called `tune` and the last are systems that can be compared."""
    before = None
    for address, stage in ((A, "first"), (B, "tune"), (C, "again")):
        run = results.run("double", address, bleu=30.0, parameters={"stage.name": stage})
        described = run.read_record("run.json")
        run.write_record("run.json", {**described, "run": {**described["run"], "before": before}})
        before = address
    root = results.store.root
    words = [f"{C[:6]}:first", f"{run.uri}:tune", f"{run.uri}:again"]
    assert [system.address for system in load_systems(words, root)] == [A, B, C]
    with pytest.raises(UserError, match="'tun': did you mean 'tune'"):
        find(f"{C}:tun", root)
