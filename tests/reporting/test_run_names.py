"""The names by which runs of a storage are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.reporting import reported
from augury.reporting.run_names import find, name_of

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


def report(store: Store, name: str, **systems: list[Folder]) -> None:
    content = {system: [run.name for run in runs] for system, runs in systems.items()}
    store.folder(reported.KIND, name).write_record(reported.SUMMARY, {"systems": content})


@pytest.mark.parametrize(
    "word", ["my/one key/10", "one key/10", f"{A[:4]}/seed-10", f"runs/{A}/seed-10"]
)
def test_one_run_has_several_names(store: Store, add: Add, word: str) -> None:
    add("baseline", B, 10)
    add("one key", A, 2)
    run = add("one key", A, 10)
    assert find(word, store.root) == [run]


@pytest.mark.parametrize("word", ["my/one key", "one key", A, A[:4], f"runs/{A}"])
def test_a_system_is_all_its_seeds_in_the_order_of_numbers(
    store: Store, add: Add, word: str
) -> None:
    runs = [add("one key", A, seed) for seed in (10, 2)]
    add("baseline", B, 2)
    assert find(word, store.root) == runs[::-1]


def test_the_name_of_an_experiment_with_one_system_beside_the_baseline_will_do(
    store: Store, add: Add
) -> None:
    run = add("one key", A, 1)
    assert find("my", store.root) == [run]
    add("baseline", B, 1)
    assert find("my", store.root) == [run]
    add("two keys", C, 1)
    with pytest.raises(UserError, match=r"(?s)several systems.*my/"):
        find("my", store.root)


def test_a_system_counts_before_its_experiment(store: Store, add: Add) -> None:
    add("baseline", B, 1)
    run = add("my", A, 1)
    assert find("my", store.root) == find("my/1", store.root) == [run]


def test_a_system_may_have_a_slash_in_its_name(store: Store, add: Add) -> None:
    run = add("keys 1/2", A, 1)
    assert find("my/keys 1/2/1", store.root) == find("keys 1/2", store.root) == [run]


def test_a_shared_run_has_a_name_in_every_experiment(store: Store, add: Add) -> None:
    run = add("baseline", A, 1)
    report(store, "other", plain=[run])
    for word in ("my/baseline/1", "other/plain/1", "baseline", "plain"):
        assert find(word, store.root) == [run]


def test_seeds_that_a_report_does_not_show_are_the_systems_too(store: Store, add: Add) -> None:
    runs = [add("baseline", A, seed) for seed in (1, 2)]
    report(store, "my", baseline=runs[:1])
    assert find("baseline", store.root) == runs


def test_equal_names_are_told_apart_by_addresses(store: Store, add: Add) -> None:
    older, later = add("one key", A, 1), add("one key", B, 1)
    for word in ("my/one key", "my/one key/1"):
        with pytest.raises(UserError, match=r"(?s)several systems.*my/one key@aaaaaaaa"):
            find(word, store.root)
    assert find(f"my/one key@{A[:8]}/1", store.root) == [older]
    report(store, "my", **{"one key": [later]})
    assert find("my/one key/1", store.root) == [later]


def test_the_name_of_a_run_finds_it(store: Store, add: Add) -> None:
    for run in (add("one key", A, 1), add("one key", B, 1), add("baseline", C, 1, "other")):
        assert find(name_of(run), store.root) == [run]


def test_unknown_runs_are_told_the_nearest_with_dates(store: Store, add: Add) -> None:
    run = add("one key", A, 1)
    run.sub("history").write(
        "00000001.jsonl", '{"update": 1, "epochs": 1, "time": 1.7e9, "metrics": {}}\n'
    )
    hint = r"did you mean 'my/one key'\? The nearest are:\n  my/one key/1 \(2023-11-14 22:13\)"
    with pytest.raises(UserError, match=hint):
        find("my/one kex", store.root)


def test_a_seed_that_was_not_trained_names_those_that_were(store: Store, add: Add) -> None:
    for seed in (1, 12):
        add("baseline", A, seed)
    with pytest.raises(UserError, match="are 1, 12"):
        find("my/baseline/7", store.root)


def test_an_empty_storage_says_what_makes_runs(store: Store) -> None:
    with pytest.raises(UserError, match="augury train"):
        find("my/one key", store.root)
