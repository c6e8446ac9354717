from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.sweeping.race import (
    PILOTS,
    Exhaustive,
    Race,
    RungDecision,
    Work,
    half_widths,
    pooled_deviation,
    rungs,
)
from benchmarks import halving

Values = Mapping[tuple[str, int], Iterable[float]]
"""(configuration, seed) -> value at every rung; a run with fewer values fails."""


def names(count: int) -> list[str]:
    return [chr(ord("a") + index) for index in range(count)]


def in_order(work: list[Work]) -> Work:
    return work[0]


def finish(
    race: Race | Exhaustive, values: Values, pick: Callable[[list[Work]], Work] = in_order
) -> set[Work]:
    """Train the race to its end and return what was trained."""
    trained = set()
    while work := race.work():
        chosen = pick(work)
        earliest = next(other for other in work if other[:2] == chosen[:2])
        answer(race, values, earliest)
        trained.add(earliest)
    assert race.finished
    return trained


def answer(race: Race | Exhaustive, values: Values, work: Work) -> None:
    run = list(values[work.configuration, work.seed])
    if work.rung < len(run):
        race.tell(*work, run[work.rung])
    else:
        race.fail(work.configuration, work.seed)


def actions(race: Race | Exhaustive, rung: int) -> dict[str, list[str]]:
    """Return the decisions at a rung: action -> configurations, in the order of the decisions."""
    actions: dict[str, list[str]] = {}
    for decision in race.decisions:
        if decision.rung == rung:
            actions.setdefault(decision.action, []).append(decision.configuration)
    return actions


@pytest.mark.parametrize(
    ("validations", "arguments", "expected"),
    [
        (36, {}, [18, None]),
        (3, {}, [2, None]),
        (2, {}, [1, None]),
        (1, {}, [None]),
        (36, {"reduction": 2, "first": 1 / 9}, [4, 8, 16, 32, None]),
        (30, {"reduction": 3, "first": 0.1}, [3, 9, 27, None]),
        (4, {"reduction": 2, "first": 0.1}, [1, 2, None]),
        (10, {"first": 1}, [None]),
    ],
)
def test_rungs_are_fractions_of_the_training(
    validations: int, arguments: dict, expected: list
) -> None:
    assert rungs(validations, **arguments) == expected


def test_the_standard_deviation_is_pooled_over_groups() -> None:
    assert pooled_deviation([[1, 3], [10, 10], [5]]) == (1.0, 2)  # (1 + 1 + 0 + 0) / (1 + 1)
    assert pooled_deviation([[1], [5]]) == (0.0, 0)
    assert np.isclose(pooled_deviation([[1, 2, 4, 7]])[0], np.std([1, 2, 4, 7], ddof=1))


def test_intervals_use_students_t() -> None:
    """12.7062 and 2.7764 are the quantiles of t at 97.5 % for 1 and 4 degrees of freedom."""
    assert half_widths({"a": [1, 3], "b": [5]}, 0.95) == pytest.approx(
        {"a": 12.7062, "b": 12.7062 * 2**0.5}, rel=1e-5
    )
    five = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert half_widths({"a": five}, 0.95)["a"] == pytest.approx(
        2.7764 * np.std(five, ddof=1) / 5**0.5, rel=1e-4
    )
    assert half_widths({"a": [1], "b": [5]}, 0.95) == {}


def test_with_one_seed_it_is_successive_halving() -> None:
    first = dict(zip(names(9), [1, 9, 3, 7, 5, 4, 6, 2, 8], strict=True))
    values = {(name, 1): [value, 10 - value, value] for name, value in first.items()}
    race = Race(names(9), [1], [1, 3, None], mode="max")
    trained = finish(race, values)
    assert actions(race, 0) == {
        "stopped": ["g", "e", "f", "c", "h", "a"],
        "promoted": ["b", "i", "d"],
    }
    assert actions(race, 1) == {"stopped": ["i", "b"], "promoted": ["d"]}
    assert actions(race, 2) == {"chosen": ["d"]}
    assert race.best == "d"
    assert race.eliminated == set("abcefghi")
    assert len(trained) == 9 + 3 + 1
    assert race.decisions[0] == RungDecision("g", 0, "stopped", 1, 6.0, 6.0, 6.0, 6.5)
    assert race.decisions[-1] == RungDecision("d", 2, "chosen", 1, 7.0, 7.0, 7.0, 7.0)


def test_with_one_seed_a_certain_slot_is_filled_before_the_rung_is_complete() -> None:
    race = Race(names(6), [1], [1, None], mode="max", reduction=2)
    for name, value in zip("abcd", [4.0, 2.0, 3.0, 1.0], strict=True):
        race.tell(name, 1, 0, value)
    assert race.work() == [
        Work("e", 1, 0),
        Work("f", 1, 0),
        Work("a", 1, 1),
    ]  # e and f may both still beat c
    race.tell("e", 1, 0, 5.0)
    assert race.work() == [Work("f", 1, 0), Work("e", 1, 1), Work("a", 1, 1)]
    race.fail("f", 1)
    assert actions(race, 0) == {"stopped": ["b", "d"], "promoted": ["e", "a", "c"]}
    assert race.work() == [Work("e", 1, 1), Work("a", 1, 1), Work("c", 1, 1)]


def test_a_rung_by_hand() -> None:
    values = {
        ("a", 1): [10.0, 20.0],
        ("a", 2): [10.2, 20.2],
        ("b", 1): [9.0, 15.0],
        ("b", 2): [9.2, 15.2],
        ("c", 1): [8.9, 15.0],
        ("c", 2): [9.1, 15.2],
        ("d", 1): [1.0],
        ("d", 2): [1.2],
    }
    race = Race(names(4), [1, 2, 3], [5, None], mode="max", reduction=2)
    assert race.work() == [Work(name, 1, 0) for name in "abcd"]
    trained = finish(race, values)
    # The groups deviate by 0.02 / 1 each, so pooled too: 0.1414 with 4 degrees of freedom; 2.7764 *
    # 0.1414 / sqrt(2).
    half = pytest.approx(0.27764, rel=1e-4)
    first, second = race.decisions[:4], race.decisions[4:8]
    assert [tuple(decision) for decision in first] == [
        ("a", 0, "seed added", 1, 10.0, 10.0, 10.0, 8.95),
        ("b", 0, "seed added", 1, 9.0, 9.0, 9.0, 8.95),
        ("c", 0, "seed added", 1, 8.9, 8.9, 8.9, 8.95),
        ("d", 0, "seed added", 1, 1.0, 1.0, 1.0, 8.95),
    ]
    assert [(decision.configuration, decision.action, decision.seeds) for decision in second] == [
        ("d", "stopped", 2),
        ("a", "promoted", 2),
        ("b", "promoted", 2),
        ("c", "promoted", 2),
    ]
    assert [decision.mean for decision in second] == pytest.approx([1.1, 10.1, 9.1, 9.0])
    assert [decision.cut for decision in second] == pytest.approx([9.05] * 4)
    assert all(
        decision.high - decision.mean == half and decision.mean - decision.low == half
        for decision in second
    )
    # At the end two seeds separate them; no third seed is needed.
    assert actions(race, 1) == {
        "seed added": ["a", "b", "c"],
        "stopped": ["b", "c"],
        "chosen": ["a"],
    }
    assert trained == {
        Work(name, seed, rung) for name in "abc" for seed in (1, 2) for rung in (0, 1)
    } | {
        Work("d", 1, 0),
        Work("d", 2, 0),
    }


def test_clear_decisions_need_one_seed() -> None:
    """Seeds agree to 0.01: all but the pilots are decided on their first seed, including
    promoted ones."""
    values = {
        (name, seed): [100 - index + seed / 100] * 2
        for index, name in enumerate(names(20))
        for seed in (1, 2)
    }
    race = Race(names(20), [1, 2], [1, None], mode="max", reduction=2)
    finish(race, values)
    seeds = {
        decision.configuration: decision.seeds for decision in race.decisions if decision.rung == 0
    }
    assert actions(race, 0)["promoted"] == names(10)
    assert [seeds[name] for name in names(20)] == [2] * PILOTS + [1] * (20 - PILOTS)


def test_a_close_call_at_the_end_gets_all_seeds_and_the_best_mean_wins() -> None:
    values = {
        **{("a", seed): [value] for seed, value in enumerate([5.0, 5.2, 5.0, 5.1], start=1)},
        **{("b", seed): [value] for seed, value in enumerate([4.9, 5.1, 5.3, 5.4], start=1)},
        **{("c", seed): [value] for seed, value in enumerate([0.0, 0.2, 0.1, 0.1], start=1)},
    }
    race = Race("abc", [1, 2, 3, 4], [None], mode="max")
    trained = finish(race, values)
    assert {(work.configuration, work.seed) for work in trained} == set(values) - {
        ("c", 3),
        ("c", 4),
    }
    assert actions(race, 0) == {
        "seed added": [*"abc", *"ab", *"ba"],
        "stopped": ["c", "a"],
        "chosen": ["b"],
    }
    chosen = race.decisions[-1]
    assert (race.best, chosen.seeds) == ("b", 4)
    assert (chosen.mean, chosen.cut) == pytest.approx(
        (5.175, 5.125)
    )  # midway to the mean of a, 5.075


def test_added_seeds_train_up_to_the_current_rung() -> None:
    race = Race("ab", [1, 2, 3], [1, None], mode="max", reduction=2)
    for rung in (0, 1):
        for name, seed, value in [("a", 1, 2.0), ("b", 1, 1.9), ("a", 2, 1.8), ("b", 2, 1.9)]:
            race.tell(name, seed, rung, value)
    assert race.work() == [Work("a", 3, 0), Work("a", 3, 1), Work("b", 3, 0), Work("b", 3, 1)]


def test_of_equal_configurations_the_first_wins() -> None:
    values = {(name, seed): [1.0, 2.0] for name in "cab" for seed in (1, 2, 3)}
    single, many = (
        Race("cab", [1], [1, None], mode="max"),
        Race("cab", [1, 2, 3], [1, None], mode="max"),
    )
    finish(single, values)
    finish(many, values)
    assert single.best == many.best == "c"
    assert actions(single, 0) == {"stopped": ["a", "b"], "promoted": ["c"]}
    assert actions(many, 0)["promoted"] == ["c", "a", "b"]  # no interval lies below the cut


def test_a_single_configuration_wins_with_one_seed() -> None:
    race = Race("a", [1, 2, 3], [2, None], mode="min")
    assert finish(race, {("a", 1): [0.5, 0.25]}) == {Work("a", 1, 0), Work("a", 1, 1)}
    assert race.decisions == [
        RungDecision("a", 0, "promoted", 1, 0.5, 0.5, 0.5, 0.5),
        RungDecision("a", 1, "chosen", 1, 0.25, 0.25, 0.25, 0.25),
    ]


def test_a_failed_seed_eliminates_its_configuration_which_still_counts_for_the_slots() -> None:
    values = {(name, 1): [float(index), 10.0 + index] for index, name in enumerate(names(9))}
    values["i", 1], values["h", 1] = [], [7.0]
    race = Race(names(9), [1], [1, None], mode="max")
    finish(race, values)
    assert actions(race, 0)["promoted"] == [
        "h",
        "g",
        "f",
    ]  # three slots for nine, though eight were left
    assert actions(race, 1) == {"stopped": ["f"], "chosen": ["g"]}
    assert race.eliminated == set(names(9)) - {"g"}


def test_an_added_seed_that_fails_eliminates_its_configuration() -> None:
    values = {
        (name, seed): [value + seed / 10]
        for name, value in (("a", 5.0), ("b", 4.9))
        for seed in (1, 2, 3)
    }
    values["a", 3] = []
    race = Race("ab", [1, 2, 3], [None], mode="max")
    finish(race, values)
    assert actions(race, 0) == {"seed added": ["a", "b", "a", "b"], "chosen": ["b"]}
    assert race.best == "b"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_value_that_is_not_finite_is_a_failure(value: str) -> None:
    race = Race("ab", [1], [None], mode="min")
    race.tell("a", 1, 0, float(value))
    race.tell("b", 1, 0, 3.0)
    assert (race.best, race.eliminated) == ("b", {"a"})


@pytest.mark.parametrize("kind", [Race, Exhaustive])
def test_a_race_in_which_all_fail_finishes_without_a_best(
    kind: type[Race] | type[Exhaustive],
) -> None:
    race = kind("ab", [1, 2], [1, None], mode="max")
    finish(race, {(name, seed): [] for name in "ab" for seed in (1, 2)})
    assert (race.finished, race.best, race.work(), race.decisions) == (True, None, [], [])


def test_a_training_that_ended_early_reports_all_rungs_at_once() -> None:
    values = {("a", 1): [3.0, 3.0, 3.0], ("b", 1): [2.0, 2.5, 2.6], ("c", 1): [1.0]}
    race = Race("abc", [1], [1, 2, None], mode="max", reduction=2)
    for rung in range(3):
        race.tell("a", 1, rung, 3.0)
    assert race.work() == [Work("b", 1, 0), Work("c", 1, 0)]
    finish(race, values)
    assert race.best == "a"


def test_the_first_value_of_a_rung_counts() -> None:
    race = Race("ab", [1], [None], mode="max")
    race.tell("a", 1, 0, 1.0)
    race.tell("a", 1, 0, 9.0)
    race.tell("b", 1, 0, 2.0)
    assert race.best == "b"


def test_exhaustive_trains_everything_and_chooses_the_best_mean() -> None:
    values = {
        ("a", 1): [1.0],
        ("a", 2): [5.0],
        ("b", 1): [2.0],
        ("b", 2): [3.0],
        ("c", 1): [9.0],
        ("c", 2): [],
    }
    everything = Exhaustive("abc", [1, 2], [None], mode="max")
    assert everything.work() == [Work(name, seed, 0) for seed in (1, 2) for name in "abc"]
    finish(everything, values)
    assert (everything.best, everything.eliminated) == ("a", frozenset())
    # Deviation sqrt((8 + 0.5) / 2) with 2 degrees of freedom, whose t is 4.302653; the means are 3
    # and 2.5.
    half = 4.302653 * 4.25**0.5 / 2**0.5
    (chosen,) = everything.decisions
    assert chosen == RungDecision("a", 0, "chosen", 2, 3.0, chosen.low, chosen.high, 2.75)
    assert (chosen.low, chosen.high) == pytest.approx((3 - half, 3 + half))


@st.composite
def races(
    draw: st.DrawFn,
) -> tuple[list[str], list[int], list[int | None], int, dict[tuple[str, int], list[float]]]:
    """Configurations, seeds, rungs, reduction and values of every run.

    Some fail, many values are equal.
    """
    configurations, seeds = names(draw(st.integers(1, 14))), list(range(draw(st.integers(1, 4))))
    schedule = [*range(1, draw(st.integers(1, 3))), None]
    drawn = random.Random(draw(st.integers(0, 2**32)))
    noise, failures = draw(st.sampled_from([0.0, 0.3, 3.0])), draw(st.sampled_from([0.0, 0.1]))
    values = {}
    for name in configurations:
        level = drawn.randint(0, 5)
        for seed in seeds:
            reached = drawn.randrange(len(schedule)) if drawn.random() < failures else len(schedule)
            values[name, seed] = [
                level + rung + round(drawn.gauss(0, noise), 1) for rung in range(reached)
            ]
    return configurations, seeds, schedule, draw(st.integers(2, 3)), values


@given(races(), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_decisions_do_not_depend_on_the_order_of_the_values(race: tuple, order: int) -> None:
    configurations, seeds, schedule, reduction, values = race

    def fresh() -> Race:
        return Race(configurations, seeds, schedule, mode="max", reduction=reduction)

    plain, shuffled, flooded = fresh(), fresh(), fresh()
    trained = finish(plain, values)
    assert finish(shuffled, values, pick=random.Random(order).choice) == trained
    runs = random.Random(order).sample(sorted(values), len(values))
    for name, seed in runs:  # all values at once, requested or not
        for rung, value in enumerate(values[name, seed]):
            flooded.tell(name, seed, rung, value)
        if len(values[name, seed]) < len(schedule):
            flooded.fail(name, seed)
    assert plain.decisions == shuffled.decisions == flooded.decisions
    assert plain.best == shuffled.best == flooded.best
    assert plain.eliminated == shuffled.eliminated == flooded.eliminated


@given(races(), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_an_interrupted_race_continues_unchanged(race: tuple, steps: int) -> None:
    configurations, seeds, schedule, reduction, values = race
    whole = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    interrupted = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    trained: list[Work] = []
    while (work := interrupted.work()) and len(trained) < steps:
        trained.append(work[0])
        answer(interrupted, values, work[0])
    resumed = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    for work in sorted(trained):
        answer(resumed, values, work)
    assert resumed.decisions == interrupted.decisions
    assert resumed.work() == interrupted.work()
    finish(resumed, values)
    finish(whole, values)
    assert resumed.decisions == whole.decisions


@given(races(), st.integers(1, 14), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_an_extended_race_ends_like_one_race(race: tuple, fewer: int, seeds_before: int) -> None:
    configurations, seeds, schedule, reduction, values = race
    before = Race(
        configurations[:fewer], seeds[:seeds_before], schedule, mode="max", reduction=reduction
    )
    trained = finish(before, values)
    extended = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    for work in sorted(trained):
        answer(extended, values, work)
    further = finish(extended, values)
    assert not further & trained
    whole = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    finish(whole, values)
    assert extended.decisions == whole.decisions


@given(races())
@settings(max_examples=50, deadline=None)
def test_minimum_mirrors_maximum(race: tuple) -> None:
    configurations, seeds, schedule, reduction, values = race

    def ended(mode: Literal["max", "min"], sign: int) -> Race:
        raced = Race(configurations, seeds, schedule, mode=mode, reduction=reduction)
        finish(raced, {key: [sign * value for value in run] for key, run in values.items()})
        return raced

    up, down = ended("max", 1), ended("min", -1)
    assert down.best == up.best
    assert down.decisions == [
        decision._replace(
            mean=-decision.mean, low=-decision.high, high=-decision.low, cut=-decision.cut
        )
        for decision in up.decisions
    ]


@given(races())
@settings(max_examples=100, deadline=None)
def test_a_rung_fills_its_slots_and_stops_none_above_the_cut(race: tuple) -> None:
    configurations, seeds, schedule, reduction, values = race
    raced = Race(configurations, seeds, schedule, mode="max", reduction=reduction)
    finish(raced, values)
    entered = len(configurations)
    for rung in range(len(schedule) - 1):
        final = [
            decision
            for decision in raced.decisions
            if decision.rung == rung and decision.action != "seed added"
        ]
        promoted = [decision for decision in final if decision.action == "promoted"]
        slots = -(-entered // reduction)
        assert len(promoted) >= min(slots, len(final))
        assert all(
            decision.mean <= decision.cut if len(seeds) == 1 else decision.high < decision.cut
            for decision in final
            if decision.action == "stopped"
        )
        if len(seeds) == 1:
            assert len(promoted) == min(slots, len(final))
        entered = len(promoted)


def test_it_finds_what_all_seeds_find_at_a_third_of_the_cost_and_one_seed_does_not() -> None:
    sample = halving.draw(halving.Surface(), 40, "test")
    best = sample.truth.argmax(1)
    everything = halving.repeats_of_best(sample.values, halving.CONFIGURATIONS)
    raced = halving.race(sample.values)
    assert np.mean(raced.chosen == everything.chosen) >= 0.95
    assert np.mean(raced.chosen == best) >= np.mean(everything.chosen == best) - 0.03
    assert raced.cost.mean() < 1 / 3
    for setting in halving.SETTINGS:
        assert (
            np.mean(halving.halving(sample.values, 1, *setting).chosen == best)
            < np.mean(raced.chosen == best) - 0.1
        )


def test_halving_of_the_benchmark_is_the_race_with_one_seed() -> None:
    sample = halving.draw(halving.Surface(), 5, "test")
    schedule = rungs(halving.VALIDATIONS, 2, 1 / 9)
    picked = halving.halving(sample.values, 1, 2, 1 / 9)
    ends = [rung or halving.VALIDATIONS for rung in schedule]
    for runs, chosen, cost in zip(sample.values, *picked, strict=True):
        race = Race(
            list(map(str, range(halving.CONFIGURATIONS))), [0], schedule, mode="max", reduction=2
        )
        trained = finish(
            race,
            {
                (str(index), 0): runs[index, 0, [end - 1 for end in ends]]
                for index in range(len(runs))
            },
        )
        lasted = {work.configuration: ends[work.rung] for work in sorted(trained)}
        assert race.best == str(chosen)
        assert cost == pytest.approx(
            sum(lasted.values()) / (halving.VALIDATIONS * len(runs) * halving.SEEDS)
        )
