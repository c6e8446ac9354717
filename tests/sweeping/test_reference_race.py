"""A race with a reference that takes no part in it."""

from __future__ import annotations

from augury.sweeping.race import Race, Work
from augury.sweeping.reference_race import ReferenceRace

QUALITY = {"reference": 5.0, "good": 9.0, "bad": 1.0}


def value(work: Work) -> float:
    return QUALITY[work.configuration] + work.seed / 100 + work.rung


def scheduler_of(seeds: list[int]) -> ReferenceRace:
    return ReferenceRace("reference", ["good", "bad"], seeds, [4, None], mode="max")


def run(scheduler: ReferenceRace) -> list[Work]:
    done: list[Work] = []
    while not scheduler.finished:
        work = scheduler.work()[0]
        done.append(work)
        scheduler.tell(*work, value(work))
    return done


def seeds_at_the_end(done: list[Work], name: str) -> set[int]:
    return {work.seed for work in done if work.configuration == name and work.rung == 1}


def test_the_reference_is_the_first_to_train() -> None:
    first, second, *_ = scheduler_of([1, 2]).work()
    assert (first.configuration, first.seed) == ("reference", 1)
    assert second.configuration in ("good", "bad")


def test_reference_and_winner_train_with_every_seed() -> None:
    scheduler = scheduler_of([1, 2, 3])
    done = run(scheduler)
    assert seeds_at_the_end(done, "reference") == seeds_at_the_end(done, "good") == {1, 2, 3}
    assert not seeds_at_the_end(done, "bad")
    assert scheduler.work() == []


def test_the_race_decides_as_it_would_alone() -> None:
    scheduler = scheduler_of([1, 2])
    alone = Race(["good", "bad"], [1, 2], [4, None], mode="max")
    run(scheduler)
    while not alone.finished:
        alone.tell(*(work := alone.work()[0]), value(work))
    assert scheduler.decisions == alone.decisions
    assert scheduler.eliminated == alone.eliminated == {"bad"}


def test_the_reference_finishes_even_if_all_others_fail() -> None:
    scheduler = scheduler_of([1, 2])
    for name in ("good", "bad"):
        scheduler.fail(name, 1)
    assert scheduler.best is None
    assert {work.configuration for work in run(scheduler)} == {"reference"}


def test_the_sweep_finishes_despite_a_failed_seed_of_the_reference() -> None:
    scheduler = scheduler_of([1, 2])
    scheduler.fail("reference", 2)
    assert {work.seed for work in run(scheduler) if work.configuration == "reference"} == {1}
