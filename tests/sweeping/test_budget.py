"""The estimated cost of a sweep, and what a budget leaves out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.cost import TotalEstimate
from augury.experiments.record import run_folder
from augury.sweeping import plan
from augury.sweeping.applied import apply
from augury.sweeping.budget import estimate, keep_within
from augury.sweeping.declarations import SearchSpace
from augury.sweeping.plan import SweepOptions, SweepPlan
from augury.sweeping.space import resolve
from augury.training.history import History
from tests import tiny

SEEDS = (1, 2)
SPACE = SearchSpace(
    question="Which length?",
    base={"name": "lengths", "task": "nmt"},
    keys={"training.max_updates": [10, 1000, 100, 300]},
    metric="valid/bleu",
    seeds=SEEDS,
)


def plan_of(storage: Path) -> SweepPlan:
    """Plan configurations of 10, 1,000, 100 and 300 updates, the first one the reference."""
    experiment = tiny.experiment("nmt", storage, training={"max_tokens": 400})
    space, _ = apply(resolve(SPACE, "lengths"), experiment)
    return plan.make(space, Store(storage), {})


@pytest.fixture
def planned(tmp_path: Path) -> SweepPlan:
    return plan_of(tmp_path)


def estimated(planned: SweepPlan, at_once: int = 1) -> TotalEstimate:
    cost = estimate(planned, SEEDS, at_once)
    assert cost is not None
    return cost


def within(planned: SweepPlan, budget: float, confirm: int = 0, at_once: int = 1) -> list[str]:
    """Return the names of the configurations that a budget allows."""
    options = SweepOptions(planned.store.root, "lengths", SEEDS, budget=budget, at_once=at_once)
    keep_within(planned, replace(options, confirm=confirm))
    return [configuration.name for configuration in planned.configurations.values()]


def test_the_longest_go_first_and_the_reference_never(planned: SweepPlan) -> None:
    cost = estimated(planned)
    kept = ["max_updates=10", "max_updates=100", "max_updates=300"]
    assert within(planned, cost.first_seed / 2) == kept
    assert [name for name, _ in planned.left_out] == ["max_updates=1000"]
    with pytest.raises(UserError, match="leaves nothing to compare"):
        within(planned, 0.0)


def test_the_time_of_a_confirmation_is_kept_from_the_beginning(tmp_path: Path) -> None:
    """At most half of the budget."""
    cheap = ["max_updates=10", "max_updates=100", "max_updates=300"]
    all_of_them = [cheap[0], "max_updates=1000", *cheap[1:]]
    seed = 1.01 * estimated(plan_of(tmp_path)).first_seed
    assert within(plan_of(tmp_path), seed) == all_of_them
    assert within(plan_of(tmp_path), seed / 2, at_once=2) == all_of_them
    assert within(plan_of(tmp_path), seed, confirm=1) == cheap
    assert within(plan_of(tmp_path), 2 * seed, confirm=9) == all_of_them


def test_what_is_trained_costs_nothing_and_what_is_in_part_the_rest(planned: SweepPlan) -> None:
    before, twice = estimated(planned), estimated(planned, 2)
    assert before.first_seed == pytest.approx(2 * twice.first_seed)
    longest = [*planned.configurations][1]
    run = run_folder(planned.store, longest, 1)
    trained = before.first_seed / 4
    history = History(run)
    history.add(300, 0, {"train/seconds": trained})
    history.flush()
    assert estimated(planned).first_seed == pytest.approx(before.first_seed - trained)
    for address in planned.configurations:
        run_folder(planned.store, address, 1).finish({})
    after = estimated(planned)
    assert after.first_seed == 0
    assert after.all_seeds == pytest.approx(before.all_seeds - before.first_seed)
