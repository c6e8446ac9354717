"""What words name in a storage: runs, systems, reports of experiments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.reporting.find import (
    REPORTS,
    SUMMARY,
    find,
    load_systems,
    name_of,
    with_earlier_seeds,
)
from tests.run_folders import Results, outcome, write_scores

A, B, C = "aa" * 8, "bb" * 8, "cc" * 8
Add = Callable[..., Folder]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def add(store: Store) -> Add:
    def add(system: str, address: str, seed: int, experiment: str = "my") -> Folder:
        run = store.folder("runs", f"{address}/seed-{seed}")
        RunRecord(system, address, seed, "nmt", experiment).write_description(run, {})
        return run

    return add


def report(store: Store, name: str, **systems: list[Folder]) -> Folder:
    content = {system: [run.name for run in runs] for system, runs in systems.items()}
    folder = store.folder(REPORTS, name)
    folder.write_record(SUMMARY, {"systems": content})
    return folder


@pytest.mark.parametrize(
    "word",
    ["my/keys 1/2/10", f"{A[:4]}/seed-10", f"runs/{A}/seed-10", "other/plain/10"],
)
def test_one_run_has_several_names(store: Store, add: Add, word: str) -> None:
    """Of a system with a slash in its name, which another experiment shares."""
    add("baseline", B, 10)
    other, run = add("keys 1/2", A, 2), add("keys 1/2", A, 10)
    report(store, "other", plain=[run])
    assert find(word, store.root) == [run] and find("my/keys 1/2/2", store.root) == [other]


@pytest.mark.parametrize("word", ["my/one key", A, A[:4], f"runs/{A}"])
def test_a_system_is_all_its_seeds_in_the_order_of_numbers(
    store: Store, add: Add, word: str
) -> None:
    runs = [add("one key", A, seed) for seed in (10, 2)]
    add("baseline", B, 2)
    report(store, "my", **{"one key": runs[:1]})
    assert find(word, store.root) == runs[::-1]


def test_equal_names_are_told_apart_by_addresses_until_a_report_has_one(
    store: Store, add: Add
) -> None:
    older, later = add("one key", A, 1), add("one key", B, 1)
    for word in ("my/one key", "my/one key/1"):
        with pytest.raises(UserError, match="my/one key@aaaaaaaa"):
            find(word, store.root)
    assert find(f"my/one key@{A[:8]}/1", store.root) == [older]
    report(store, "my", **{"one key": [later]})
    assert find("my/one key/1", store.root) == [later]


def test_the_name_of_a_run_finds_it(store: Store, add: Add) -> None:
    for run in (add("one key", A, 1), add("one key", B, 1), add("baseline", C, 1, "other")):
        assert find(name_of(run), store.root) == [run]


@pytest.mark.parametrize(
    ("word", "named"), [("my/one kex", "my/one key/1"), ("one key/7", "key/1")]
)
def test_unknown_runs_are_told_the_nearest(store: Store, add: Add, word: str, named: str) -> None:
    with pytest.raises(UserError, match="augury train"):  # of an empty storage
        find(word, store.root)
    add("one key", A, 1)
    with pytest.raises(UserError, match=named):
        find(word, store.root)


def test_a_report_names_all_its_systems(results: Results) -> None:
    """Runs that it shares with other experiments too; those without scores are left out."""
    runs = [results.run("first", address, bleu=30.0) for address in (A, B)]
    report(results.store, "mine", base=runs[:1], ours=runs[1:], later=[results.run("later", C)])
    root = results.store.root
    for words in (["reports/mine"], [f"{root}/reports/mine"], ["mine"], ["mine/base", "mine/ours"]):
        assert [system.name for system in load_systems(words, root)] == ["base", "ours"]
    with pytest.raises(UserError, match="did you mean 'mine'"):
        load_systems(["reports/mime"], root)


def test_a_report_keeps_earlier_seeds_of_the_same_systems_alone(store: Store, add: Add) -> None:
    """With other settings, or another way of scoring, they are others."""
    runs = [add("a", A, 1), add("a", A, 3), add("a", B, 2)]
    for run in runs:
        write_scores(run, {}, outcome(1.0))
        run.finish({})
    page = report(store, "my", a=runs[:1])
    assert with_earlier_seeds(page, {"a": {3: runs[1]}}) == {"a": {1: runs[0], 3: runs[1]}}
    assert with_earlier_seeds(page, {"a": {2: runs[2]}}) == {"a": {2: runs[2]}}
    scores = runs[1].read_record("scores.json")
    runs[1].write_record("scores.json", scores | {"evaluations": {"test": "another beam"}})
    assert with_earlier_seeds(page, {"a": {3: runs[1]}}) == {"a": {3: runs[1]}}


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
