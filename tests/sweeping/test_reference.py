"""The reference and the winner have every seed; the race is the race."""

from __future__ import annotations

from augury.sweeping.race import Race, Work
from augury.sweeping.reference import RaceWithReference


def value(work: Work) -> float:
    return {"reference": 5.0, "good": 9.0, "bad": 1.0}[work.configuration] + work.seed / 100 + work.rung


def run(rival: RaceWithReference) -> list[Work]:
    done = []
    while not rival.over:
        work = rival.work()[0]
        done.append(work)
        rival.tell(*work, value(work))
    return done


def test_reference_and_winner_train_with_every_seed():
    rival = RaceWithReference("reference", ["good", "bad"], [1, 2, 3], [4, None], mode="max")
    done = run(rival)
    assert {work.seed for work in done if work.configuration == "reference" and work.rung == 1} == {1, 2, 3}
    assert {work.seed for work in done if work.configuration == "good" and work.rung == 1} == {1, 2, 3}
    assert not [work for work in done if work.configuration == "bad" and work.rung == 1]
    assert rival.work() == []


def test_the_race_decides_as_it_would_alone():
    rival, alone = (
        RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max"),
        Race(["good", "bad"], [1, 2], [4, None], mode="max"),
    )
    run(rival)
    while not alone.over:
        alone.tell(*(work := alone.work()[0]), value(work))
    assert rival.decisions == alone.decisions
    assert rival.out == alone.out == {"bad"}


def test_where_all_others_fail_the_reference_still_ends():
    rival = RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max")
    for name in ("good", "bad"):
        rival.fail(name, 1)
    assert rival.race.best is None
    assert {work.configuration for work in run(rival)} == {"reference"}


def test_a_failed_seed_of_the_reference_does_not_keep_the_sweep_from_ending():
    rival = RaceWithReference("reference", ["good", "bad"], [1, 2], [4, None], mode="max")
    rival.fail("reference", 2)
    assert {work.seed for work in run(rival) if work.configuration == "reference"} == {1}
