"""Budgets that are derived from the baseline's: in settings, in addresses, and in what training
does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment, parse
from augury.experiments.systems import canonical, expand
from augury.sweeping.driver import run_experiment
from augury.training.trained import Outcome
from tests import tiny

SYSTEMS: dict[str, Any] = {
    "baseline": {},
    "twice": {"augment": [{"operator": "eda", "copies": 1}]},
}


def systems(storage: Path, equal: str, training: dict[str, Any], **changes: Any) -> Experiment:
    settings = {"max_tokens": 400, "patience": 99, **training}
    return parse(
        tiny.content(
            "nli", storage, equal=equal, training=settings, **{"systems": SYSTEMS, **changes}
        )
    )


def test_the_budget_of_every_system_is_the_baselines(tmp_path: Path) -> None:
    longer = {"baseline": {}, "longer": {"training.max_updates": 70, "training.patience": 9}}
    both = systems(tmp_path, "updates", {"max_updates": 7}, systems=longer)
    assert [system.training.max_updates for system in expand(both).values()] == [7, 7]
    timed = {"max_minutes": 1.5, "schedule": "constant", "warmup_share": None}
    for system in expand(systems(tmp_path, "time", timed)).values():
        training = system.training
        assert (training.max_minutes, training.max_epochs, training.max_updates) == (
            1.5,
            None,
            None,
        )
    counted = expand(systems(tmp_path, "tokens", {"max_epochs": 3}))
    assert counted["twice"].to_dict()["training"]["equal"] == "tokens"


def test_it_is_part_of_addresses_where_it_acts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    addresses: dict[str, list[str]] = {}
    for unit in ("epochs", "updates", "tokens"):
        for name, system in expand(systems(tmp_path, unit, {"max_epochs": 3})).items():
            addresses.setdefault(name, []).append(
                Graph(store).plan(canonical(system, store).experiment).address
            )
    assert len(set(addresses["baseline"])) == 1
    assert len(set(addresses["twice"])) == 3


@pytest.mark.parametrize(
    ("unit", "changes", "message"),
    [
        ("time", {}, "set training.max_minutes"),
        ("updates", {"systems": {"a": SYSTEMS["twice"], "b": {}}}, "the baseline has records"),
        ("updates", {"systems": {"a": {}, "b": {"training.max_tokens": 900}}}, "max_tokens of b"),
    ],
)
def test_what_cannot_be_derived_is_refused(
    tmp_path: Path, unit: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        expand(systems(tmp_path, unit, {"max_epochs": 3}, **changes))


@pytest.mark.trains
@pytest.mark.parametrize("unit", ["epochs", "updates", "tokens"])
def test_systems_with_records_train_as_much(tmp_path: Path, unit: str) -> None:
    runs, failures, _ = run_experiment(systems(tmp_path, unit, {"max_epochs": 2}))
    assert not failures
    plain, twice = (Outcome.read(of_seed[1]) for of_seed in runs.values())
    ratios = {
        "epochs": twice.epochs / plain.epochs,
        "updates": twice.updates / plain.updates,
        "tokens": twice.rows / plain.rows,
    }
    assert ratios[unit] == pytest.approx(1.0, abs=0.1)
    if unit == "epochs":
        assert ratios["updates"] > 1.5
