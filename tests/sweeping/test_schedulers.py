"""Schedulers: what is trained with which seeds, what is chosen, and what confirms it; and the
simulated sweeps of `benchmarks/race.py`, at their smallest."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.rng import generator
from augury.sweeping.knowledge_gradient import pooled_deviation
from augury.sweeping.race import Race
from augury.sweeping.schedulers import (
    Confirmation,
    Decision,
    Listed,
    Scheduler,
    Trial,
    fresh_seeds,
    half_widths,
    net,
    price,
)
from benchmarks.race import BASELINE, PROCEDURES, World, equal, says_help, simulate, sweep
from benchmarks.race import listed as benchmark_list

SEEDS = [1, 2, 3]
Scores = Mapping[str, Sequence[float]]
"""Configuration -> score by seed, from 1."""
Make = Callable[..., Scheduler]


def run(scheduler: Scheduler, scores: Scores) -> list[Trial]:
    """Train to the end, the most urgent first; return what was trained."""
    trained = []
    while work := scheduler.work():
        trained.append(work[0])
        scheduler.tell(*work[0], scores[work[0].configuration][work[0].seed - 1])
    assert scheduler.finished
    return trained


def counts(trained: Sequence[Trial]) -> dict[str, int]:
    """Return how many seeds each configuration was trained with."""
    names = [trial.configuration for trial in trained]
    return {name: names.count(name) for name in names}


NAMES = ["base", "a", "b"]


def listed(mode: Literal["max", "min"] = "max", fresh: Sequence[int] = ()) -> Listed:
    return Listed(NAMES, SEEDS, mode, fresh)


def race(mode: Literal["max", "min"] = "max", fresh: Sequence[int] = ()) -> Race:
    return Race(NAMES, SEEDS, mode, fresh)


def confirmed() -> Race:
    return race(fresh=(4, 5))


MAKERS: list[Make] = [listed, race, confirmed]


def test_the_standard_deviation_is_pooled_over_groups() -> None:
    assert pooled_deviation([[1, 3], [10, 10], [5]]) == (1.0, 2)  # (1 + 1 + 0 + 0) / (1 + 1)
    assert pooled_deviation([[1], [5]]) == (0.0, 0)
    assert np.isclose(pooled_deviation([[1, 2, 4, 7]])[0], np.std([1, 2, 4, 7], ddof=1))


def test_intervals_use_students_t() -> None:
    """12.7062 and 2.7764 are the quantiles of t at 97.5 % for 1 and 4 degrees of freedom."""
    halves = half_widths({"a": [1, 3], "b": [5]})
    assert halves == pytest.approx({"a": 12.7062, "b": 12.7062 * 2**0.5}, rel=1e-5)
    five = [1.0, 2.0, 3.0, 4.0, 5.0]
    expected = 2.7764 * np.std(five, ddof=1) / 5**0.5
    assert half_widths({"a": five})["a"] == pytest.approx(expected, rel=1e-4)
    assert half_widths({"a": [1], "b": [5]}) == {}


def test_each_doubling_of_the_time_costs_as_much_and_makes_a_score_worse() -> None:
    assert [price(factor, 0.1) for factor in (0.5, 1, 2, 8)] == pytest.approx([-0.1, 0, 0.1, 0.3])
    assert (net(30.0, 0.2, "max"), net(1.0, 0.2, "min")) == (29.8, 1.2)


def test_a_list_is_trained_seed_by_seed_and_the_best_mean_wins() -> None:
    scheduler = listed()
    order = [Trial(name, seed) for seed in SEEDS for name in ("base", "a", "b")]
    assert scheduler.work() == order
    scores = {"base": [1.0, 2, 3], "a": [5.0, 1, 1], "b": [3.0, 3, 3]}
    assert run(scheduler, scores) == order
    assert scheduler.best == "b"
    half = half_widths(scores)["b"]
    assert [*scheduler.decisions] == [
        Decision("b", "chosen", 3, 3.0, 3 - half, 3 + half, pytest.approx(7 / 3))
    ]


def test_seeds_go_to_those_that_may_be_the_best() -> None:
    scores = {
        "base": [20.0, 20.3, 19.8],
        "close": [22.1, 22.1, 22.0],
        "closer": [22.0, 22.2, 22.4],
        "far": [15.0, 15.1, 14.8],
    }
    scheduler = Race(scores, SEEDS)
    trained = counts(run(scheduler, scores))
    assert trained["close"] == trained["closer"] == 3 and trained["far"] == 1 + 1  # a pilot
    assert scheduler.best == "closer"


def test_noisy_scores_get_more_seeds_than_quiet_ones() -> None:
    """What a seed must be expected to gain is in points, whatever the noise."""
    random_scores = np.random.default_rng(1).standard_normal((8, 5))
    trained = []
    for deviation in (0.01, 0.5):
        scores = {str(row): list(20 + deviation * of) for row, of in enumerate(random_scores)}
        trained.append(len(run(Race(scores, range(1, 6)), scores)))
    assert trained[0] == 8 + 4 < trained[1]


@pytest.mark.parametrize("make", [listed, race])
def test_the_reference_is_chosen_where_nothing_is_better(make: Make) -> None:
    scheduler = make()
    run(scheduler, {"base": [20.0, 20.3, 19.8], "a": [15.1, 14.9, 15.0], "b": [12.1, 12.0, 12.4]})
    assert scheduler.best == "base"


@pytest.mark.parametrize("make", [listed, race])
def test_a_loss_mirrors_a_score(make: Make) -> None:
    scores = {"base": [3.0, 3.1, 2.9], "a": [2.0, 2.2, 1.9], "b": [2.3, 2.1, 2.4]}
    low, high = make("min"), make("max")
    run(low, scores)
    run(high, {name: [-score for score in of] for name, of in scores.items()})
    assert low.best == high.best == "a"
    mirrored = [
        item._replace(mean=-item.mean, low=-item.high, high=-item.low, cut=-item.cut)
        for item in high.decisions
    ]
    assert [*low.decisions] == mirrored


def test_one_seed_chooses_the_best_score_and_equal_scores_are_chosen_among() -> None:
    scheduler = Race(NAMES, [1])
    assert len(run(scheduler, {"base": [1.0], "a": [2.0], "b": [3.0]})) == 3
    assert scheduler.best == "b"
    alike = race()
    run(alike, {name: [50.0] * 3 for name in ("base", "a", "b")})
    assert alike.best in ("base", "a", "b")


@pytest.mark.parametrize("make", [listed, race])
def test_one_with_a_failed_seed_is_never_chosen(make: Make) -> None:
    scheduler = make()
    scheduler.fail("a", 2)
    scheduler.tell("a", 3, float("nan"))
    trained = run(scheduler, {"base": [1.0, 1.1, 1], "a": [9.0, 9, 9], "b": [3.0, 3.2, 3.1]})
    assert scheduler.best == "b"
    assert not {Trial("a", 2), Trial("a", 3)} & {*trained}


@pytest.mark.parametrize("make", MAKERS)
def test_where_all_fail_nothing_is_chosen(make: Make) -> None:
    scheduler = make()
    while work := scheduler.work():
        scheduler.fail(*work[0])
    assert scheduler.finished and scheduler.best is None


@pytest.mark.parametrize("make", MAKERS)
def test_decisions_do_not_depend_on_the_order_of_scores(make: Make) -> None:
    random_scores = np.random.default_rng(3).normal(20, 1, (3, 5))
    scores = {name: [*of] for name, of in zip(("base", "a", "b"), random_scores, strict=True)}
    told = make()
    trained = run(told, scores)
    for seed in range(20):
        shuffled = random.Random(seed).sample(trained, len(trained))
        again = make()
        for trial in shuffled:
            again.tell(*trial, scores[trial.configuration][trial.seed - 1])
        assert [*again.decisions] == [*told.decisions] and again.finished


@given(st.integers(0, 2**16), st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_an_interrupted_race_goes_on_unchanged(seed: int, steps: int) -> None:
    random_scores = np.random.default_rng(seed).normal(20, 1, (5, 5))
    scores = {name: [*of] for name, of in zip([*NAMES, "c", "d"], random_scores, strict=True)}
    whole, begun, resumed = (Race(scores, SEEDS, fresh=(4, 5)) for _ in range(3))
    trained = run(whole, scores)
    for trial in itertools.islice(trained, steps):
        begun.tell(*trial, scores[trial.configuration][trial.seed - 1])
    for trial in sorted(trained[:steps]):
        resumed.tell(*trial, scores[trial.configuration][trial.seed - 1])
    assert resumed.work() == begun.work()
    assert not {*begun.work()} & {*trained[:steps]}
    run(resumed, scores)
    assert [*resumed.decisions] == [*whole.decisions]


QUALITY = {"plain": 5.0, "view": 9.0, "noise": 8.0, "bad": 1.0, "view + noise": 11.0}
OF_ROUNDS = {name: [value + seed / 100 for seed in SEEDS] for name, value in QUALITY.items()}


def test_a_later_round_races_the_first_with_combinations() -> None:
    rankings: list[list[str]] = []

    def combine(standings: Mapping[str, float]) -> dict[str, list[str]]:
        rankings.append(list(standings))
        return {"view + noise": ["view", "noise"]}

    scheduler = Race(["plain", "bad", "noise", "view"], SEEDS)
    scheduler.rounds = [combine]
    trained = run(scheduler, OF_ROUNDS)
    assert rankings == [["view", "noise", "bad"]]
    assert len(trained) == len(set(trained))
    chosen = [item.configuration for item in scheduler.decisions if item.action == "chosen"]
    assert chosen == ["view", "view + noise"]


def test_a_failed_combination_leaves_the_winner() -> None:
    combined = {"view + noise": ["view"]}
    scheduler = Race(["plain", "view", "bad"], SEEDS)
    scheduler.rounds = [lambda known: combined]
    while work := scheduler.work():
        if work[0].configuration == "view + noise":
            scheduler.fail(*work[0])
        else:
            scheduler.tell(*work[0], OF_ROUNDS[work[0].configuration][work[0].seed - 1])
    assert scheduler.finished and scheduler.best == "view"


SIX = {
    "base": [1.0, 1.2, 1.1, 1.0, 1.1, 1.2],
    "a": [2.0, 2.2, 2.1, 9.0, 9.0, 9.0],
    "b": [3.0, 3.1, 3.2, 1.3, 1.4, 1.5],
}


@pytest.mark.parametrize("make", [listed, race])
def test_a_choice_is_confirmed_by_seeds_that_had_no_part_in_it(make: Make) -> None:
    scheduler = make(fresh=fresh_seeds(SEEDS))
    assert scheduler.confirmation is None
    for seed in (4, 5, 6):
        scheduler.tell("a", seed, 9.0)  # of an earlier winner
    trained = run(scheduler, SIX)
    assert scheduler.best == "b"
    assert scheduler.confirmation == Confirmation("base", "b", (4, 5, 6))
    assert {*trained[-6:]} == {*scheduler.confirmation.trials}
    last = scheduler.decisions[-1]
    assert (last.action, last.configuration, last.seeds) == ("confirmed", "b", 3)
    assert (last.mean, last.cut) == pytest.approx((1.4, 1.1))
    assert last.high - last.mean == pytest.approx(2.7764 * 0.1 / 3**0.5, rel=1e-4)


def test_a_reference_that_wins_needs_no_confirmation() -> None:
    scheduler = listed(fresh=(4, 5, 6))
    trained = run(scheduler, {"base": [5.0] * 6, "a": [1.0] * 6, "b": [2.0] * 6})
    assert scheduler.confirmation is None and len(trained) == 9


def test_fresh_seeds_that_fail_are_left_out() -> None:
    scheduler = listed(fresh=(4, 5, 6))
    for trial in (Trial("b", 4), Trial("b", 5)):
        scheduler.fail(*trial)
    run(scheduler, SIX)
    assert scheduler.decisions[-1].action == "confirmed" and scheduler.decisions[-1].seeds == 1


@pytest.mark.parametrize("make", [listed, race])
def test_a_budget_chooses_among_what_is_known(make: Make) -> None:
    scheduler = make(fresh=(4, 5))
    for name in ("base", "a", "b"):
        scheduler.tell(name, 1, SIX[name][0])
    assert scheduler.confirmation is None
    scheduler.choose()
    assert scheduler.best == "b"
    assert scheduler.work() == [Trial(name, seed) for seed in (4, 5) for name in ("base", "b")]
    scheduler.tell("a", 2, 99.0)  # too late
    assert scheduler.best == "b"
    run(scheduler, SIX)


def test_a_budget_ends_rounds() -> None:
    scheduler = Race(["plain", "view", "bad"], SEEDS)
    scheduler.rounds = [lambda known: {"x": []}]
    for name in ("plain", "view", "bad"):
        scheduler.tell(name, 1, QUALITY[name])
    scheduler.choose()
    assert scheduler.finished and scheduler.best == "view" and not scheduler.work()


def test_the_rounds_of_a_sweep_run_without_training() -> None:
    name = "race, later rounds"
    row = simulate(name, 0.45, draws=1, seed=1)
    assert 26 + 4 + 6 < row["trainings"] < 5 * (26 + 2 + 6)
    assert row == simulate(name, 0.45, draws=1, seed=1) and name in PROCEDURES


def test_what_helps_nothing_is_confirmed_in_as_many_sweeps_as_promised() -> None:
    """Of twenty equal systems with three seeds: 2.5 % of 150 are 4, by twice the error 8; without
    confirmation, one in eight."""
    helps, unconfirmed, differences = 0, 0, []
    for draw in range(150):
        world = World(0.8, generator("test", draw))
        equal(20)(world)
        outcome = sweep(world, benchmark_list)
        helps += outcome.helps
        unconfirmed += says_help(outcome.flattering)
        if outcome.confirmed:
            differences.append(outcome.confirmed.value)
    assert helps <= 8 and unconfirmed > 12
    assert abs(np.mean(differences)) < 0.15


def test_a_confirmed_winner_is_another_system_than_the_reference() -> None:
    world = World(0.45, generator("test of one"))
    equal(3, 5.0)(world)
    outcome = sweep(world, benchmark_list)
    assert outcome.helps and outcome.truth == 5.0 and BASELINE in world.truth
    assert outcome.trainings == 3 * 3 + 6
