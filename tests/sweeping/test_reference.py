"""The reference and the winner train with every seed; the race decides as it would alone."""

from __future__ import annotations

from augury.sweeping.race import Race, Work
from augury.sweeping.reference import RaceWithReference


def value(work: Work) -> float:
    return (
        {"reference": 5.0, "good": 9.0, "bad": 1.0}[work.configuration]
        + work.seed / 100
        + work.rung
    )


def run(scheduler: RaceWithReference) -> list[Work]:
    done = []
    while not scheduler.finished:
        work = scheduler.work()[0]
        done.append(work)
        scheduler.tell(*work, value(work))
    return done


def test_reference_and_winner_train_with_every_seed():
    scheduler = RaceWithReference("reference", ["good", "bad"], [1, 2, 3], [4, None], mode="max")
    done = run(scheduler)
    assert {work.seed for work in done if work.configuration == "reference" and work.rung == 1} == {
        1,
        2,
        3,
    }
    assert {work.seed for work in done if work.configuration == "good" and work.rung == 1} == {
        1,
        2,
        3,
    }
    assert not [work for work in done if work.configuration == "bad" and work.rung == 1]
    assert scheduler.work() == []


def test_the_race_decides_as_it_would_alone():
    scheduler, alone = (
        RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max"),
        Race(["good", "bad"], [1, 2], [4, None], mode="max"),
    )
    run(scheduler)
    while not alone.finished:
        alone.tell(*(work := alone.work()[0]), value(work))
    assert scheduler.decisions == alone.decisions
    assert scheduler.eliminated == alone.eliminated == {"bad"}


def test_the_reference_finishes_even_if_all_others_fail():
    scheduler = RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max")
    for name in ("good", "bad"):
        scheduler.fail(name, 1)
    assert scheduler.race.best is None
    assert {work.configuration for work in run(scheduler)} == {"reference"}


def test_the_sweep_finishes_despite_a_failed_seed_of_the_reference():
    scheduler = RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max")
    scheduler.fail("reference", 2)
    assert {work.seed for work in run(scheduler) if work.configuration == "reference"} == {1}
