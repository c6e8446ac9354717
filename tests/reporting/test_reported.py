"""The folder of a report belongs to its systems."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.reporting import reported
from tests.run_folders import outcome, write_scores


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A storage with a report on two systems, a and b, with one seed."""
    store = Store(tmp_path / "results")
    systems = {name: [run(store, address, 1).name] for name, address in (("a", "A"), ("b", "B"))}
    store.folder(reported.KIND, "my").write_record(reported.SUMMARY, {"systems": systems})
    return store


def run(store: Store, address: str, seed: int) -> Folder:
    folder = store.folder("runs", f"{address}/seed-{seed}")
    RunRecord("a", address, seed, "nmt", "my").write_description(folder, {})
    write_scores(folder, {}, outcome(1.0))
    folder.finish({})
    return folder


@pytest.mark.parametrize(
    ("addresses", "name"),
    [
        ({"a": "A", "b": "B"}, "my"),
        ({"a": "A", "b": "B", "c": "C"}, "my"),
        ({"a": "A", "b": ""}, "my"),  # all of its runs have failed
        ({"a": "A"}, "my-2"),
        ({"a": "A", "b": "other settings"}, "my-2"),
        ({"b": "B", "a": "A"}, "my-2"),  # another baseline
    ],
)
def test_a_report_is_extended_by_its_systems_and_more(
    store: Store, addresses: dict[str, str], name: str
) -> None:
    assert reported.folder_of(store, "my", addresses).name == f"reports/{name}"


def test_other_systems_find_their_report_again(store: Store) -> None:
    for address in ("C", "D"):
        folder = reported.folder_of(store, "my", {"a": address})
        folder.write_record(reported.SUMMARY, {"systems": {"a": [run(store, address, 1).name]}})
    assert reported.folder_of(store, "my", {"a": "C"}).name == "reports/my-2"
    assert reported.folder_of(store, "my", {"a": "D"}).name == "reports/my-3"


def test_the_latest_report_of_an_experiment_is_known(store: Store) -> None:
    for age, (name, of) in enumerate([("other-2", "other-2"), ("my-2", "my"), ("my", "my")]):
        folder = store.folder(reported.KIND, name)
        folder.write_record(reported.SUMMARY, {"systems": {}, "experiment": of})
        os.utime(folder.path(reported.SUMMARY), (2e9 - age, 2e9 - age))
    assert reported.latest(store, "my").name == "reports/my-2"
    assert reported.latest(store, "other").name == "reports/other"


def test_a_report_keeps_the_seeds_that_it_shows(store: Store) -> None:
    report, third = store.folder(reported.KIND, "my"), run(store, "A", 3)
    extended = reported.with_earlier_seeds(report, {"a": {3: third}})
    assert list(extended["a"]) == [1, 3]


def test_seeds_that_are_scored_otherwise_are_left_out(store: Store) -> None:
    report, third = store.folder(reported.KIND, "my"), run(store, "A", 3)
    scores = third.read_record("scores.json")
    third.write_record("scores.json", scores | {"evaluations": {"test": "another beam"}})
    assert list(reported.with_earlier_seeds(report, {"a": {3: third}})["a"]) == [3]
