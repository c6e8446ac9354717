"""Points that Optuna suggests, and a sweep in rounds of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from augury.core.store import Store
from augury.sweeping import plan as plans
from augury.sweeping import space as spaces
from augury.sweeping.plan import SweepOptions, SweepPlan
from augury.sweeping.proposals import Proposals
from augury.sweeping.schedulers import Scheduler
from augury.sweeping.space import Space
from augury.sweeping.suggestions import suggest

QUICK = str(Path(__file__).with_name("quick.py"))
SEEDS = (1, 2)


def space_of(keys: Any, mode: Any = "max") -> Space:
    return replace(spaces.find(QUICK), keys=keys, mode=mode)


def test_suggestions_are_new_and_a_function_of_the_scores() -> None:
    space = space_of({"regime.beta": [0.5, 2.0, 8.0], "augment.0.keys": [[1], [2], [1, 2]]})
    scored = [({"regime.beta": 2.0, "augment.0.keys": [1]}, 20.0)]
    known = [scored[0][0]]
    first = suggest(space, scored, known, 4)
    assert len(first) == 4 and scored[0][0] not in first
    assert first == suggest(space, scored, known, 4)
    rest = suggest(space, scored, [*known, *first], 20)
    assert len(rest) == 4 and not any(values in first for values in rest)  # all that are left


def test_suggestions_come_near_the_best() -> None:
    """A value that is not of the grid teaches nothing."""
    space = space_of({"beta": [beta / 8 for beta in range(81)]}, "min")
    scored = [({"beta": beta / 4}, abs(beta / 4 - 8.0)) for beta in range(40)]
    scored.append(({"beta": 20.0}, -1000.0))
    points = suggest(space, scored, [], 8)
    assert sum(abs(point["beta"] - 8.0) < 2.0 for point in points) >= 6


def sweep(storage: Path, samples: int, values: Any) -> tuple[SweepPlan, Scheduler]:
    """Return the plan of a sweep of so many suggested points, and its scheduler."""
    space = space_of({"regime.beta": values})
    options = SweepOptions(str(storage), "quick", SEEDS, samples=samples)
    plan = plans.of_options(space, options, Store(str(storage)))
    scheduler = Scheduler(plan.configurations, SEEDS, mode="max")
    scheduler.rounds = Proposals(plan, lambda: None).of_points(samples)
    return plan, scheduler


def train(plan: SweepPlan, scheduler: Scheduler) -> list[float]:
    """Tell a score for every trial; return the values of the suggested points, in order."""
    while not scheduler.finished:
        for address, seed in reversed(scheduler.work()):  # in another order than they are asked
            beta = plan.configurations[address].point.get("regime.beta", -1)  # of the baseline
            scheduler.tell(address, seed, beta + seed)
    return [point["regime.beta"] for point in plan.suggested]


def test_a_sweep_is_continued_and_extended_from_its_scores(tmp_path: Path) -> None:
    values = [0.1 * 1.5**power for power in range(14)]
    points = train(*sweep(tmp_path, 6, values))
    assert len(set(points)) == 6
    assert train(*sweep(tmp_path, 6, values)) == points
    assert train(*sweep(tmp_path, 7, values))[:6] == points
    assert train(*sweep(tmp_path, 3, values)) == points[:3]
