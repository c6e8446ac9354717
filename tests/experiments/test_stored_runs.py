"""Runs of a storage: which there are, their histories, and what goes with one that is deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.experiments.stored_runs import dependents, locate, remove, size

TEACHER, STUDENT, TUNED, OTHER = (letter * 16 for letter in "abcd")
TRANSLATION, RECORDS, VIEW, TOKENS = (letter * 16 for letter in "0123")


def described(store: Store, address: str, **settings: Any) -> Folder:
    folder = store.folder("runs", f"{address}/seed-1")
    RunRecord("system", address, 1, "nmt", "my").write_description(folder, settings)
    return folder


@pytest.fixture
def family(tmp_path: Path) -> Store:
    """A teacher, texts that it made, a student trained on them, the student's second stage, and a
    run that has nothing to do with them."""
    store = Store(tmp_path / "results")
    described(store, TEACHER)
    store.folder("translations", TRANSLATION).finish({"inputs": [f"runs/{TEACHER}/seed-1"]})
    store.folder("records", RECORDS).finish(
        {"side_data": {"models": {"teacher": f"runs/{TEACHER}/seed-1"}}}
    )
    store.folder("views", VIEW).finish({"inputs": ["fits/0123456789abcdef"]})
    store.folder("tokens", TOKENS).finish({"inputs": [f"records/{RECORDS}"]})
    described(store, STUDENT, records={"made": f"records/{RECORDS}"}, prefix="p")
    described(store, TUNED, before=STUDENT)
    described(store, OTHER, views={"rot-1": f"views/{VIEW}"})
    return store


def test_what_a_model_made_and_what_was_trained_on_it_depend_on_it(family: Store) -> None:
    found = dependents([family.folder("runs", f"{TEACHER}/seed-1")], family)
    assert [folder.name for folder in found] == [
        f"records/{RECORDS}",
        f"runs/{STUDENT}/seed-1",
        f"runs/{TUNED}/seed-1",
        f"tokens/{TOKENS}",
        f"translations/{TRANSLATION}",
    ]
    assert dependents([family.folder("runs", f"{OTHER}/seed-1")], family) == []


def test_a_removed_run_is_no_beginning_of_a_longer_one(family: Store) -> None:
    entries = family.folder("prefixes", "p/seed-1")
    entries.write(STUDENT, f"runs/{STUDENT}/seed-1")
    remove([family.folder("runs", f"{STUDENT}/seed-1")])
    assert not entries.exists(STUDENT) and STUDENT not in family.addresses("runs")


def test_other_seeds_of_a_removed_run_stay(family: Store) -> None:
    second = family.folder("runs", f"{OTHER}/seed-2")
    second.write("weights", b"123")
    remove([family.folder("runs", f"{OTHER}/seed-1")])
    assert size(second) == 3


def test_the_first_seed_is_the_smallest_number(family: Store) -> None:
    for seed in (10, 2):
        family.folder("runs", f"{'e' * 16}/seed-{seed}").write("run.json", b"{}")
    assert locate("eee", family.root).name.endswith("/seed-2")
    with pytest.raises(UserError, match="has no 'seed-3': there are seed-2, seed-10"):
        locate("eee/seed-3", family.root)
