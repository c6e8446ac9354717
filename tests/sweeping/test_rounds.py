"""A race beside a reference, and rounds that combine the best methods and train nothing twice."""

from __future__ import annotations

from collections.abc import Mapping

from augury.sweeping.race import Race, Work
from augury.sweeping.rounds import Rounds, combinations

QUALITY = {
    "plain": 5.0,
    "view": 9.0,
    "noise": 8.0,
    "bad": 1.0,
    "view + noise": 11.0,
    "reference": 5.0,
    "good": 9.0,
}
SEEDS = [1, 2, 3]


def value(work: Work) -> float:
    return QUALITY[work.configuration] + work.seed / 100 + work.rung


def run(rounds: Rounds) -> list[Work]:
    done: list[Work] = []
    while not rounds.finished:
        work = rounds.work()[0]
        done.append(work)
        rounds.tell(*work, value(work))
    return done


def test_the_second_round_races_the_winner_with_combinations() -> None:
    rankings: list[list[str]] = []

    def combine(standings: Mapping[str, float]) -> list[str]:
        rankings.append(list(standings))
        return ["view + noise"]

    rounds = Rounds("plain", ["bad", "noise", "view"], SEEDS, [4, None], [combine], mode="max")
    done = run(rounds)
    assert rankings == [["view", "noise", "bad"]]
    assert len(done) == len(set(done))
    chosen = [decision for decision in rounds.decisions if decision.action == "chosen"]
    assert [decision.configuration for decision in chosen] == ["view", "view + noise"]
    for name in ("plain", "view + noise"):
        ends = {work.seed for work in done if work.configuration == name and work.rung == 1}
        assert ends == set(SEEDS)


def test_nothing_to_combine_is_a_race_of_one_round() -> None:
    rounds = Rounds("plain", ["view", "bad"], SEEDS, [4, None], [lambda standings: []], mode="max")
    run(rounds)
    assert [decision.configuration for decision in rounds.decisions][-1] == "view"


def test_a_failed_combination_leaves_the_winner() -> None:
    rounds = Rounds(
        "plain", ["view", "bad"], SEEDS, [4, None], [lambda standings: ["view + noise"]], mode="max"
    )
    while not rounds.finished:
        work = rounds.work()[0]
        if work.configuration == "view + noise":
            rounds.fail(work.configuration, work.seed)
        else:
            rounds.tell(*work, value(work))
    assert rounds.decisions[-1].configuration == "view"


CIPHER, NOISE, DROP = {"operator": "cipher"}, {"operator": "noise"}, {"operator": "word_drop"}
AGREE, ATTACK, PLAIN = ({"name": name} for name in ("coregularised", "adversarial", "plain"))
ROWS = {
    "cipher": {"augment": [CIPHER], "regime": AGREE},
    "R-Drop": {"augment": [], "regime": AGREE},
    "PGD": {"augment": [], "regime": ATTACK},
    "noise": {"augment": [NOISE], "regime": PLAIN},
    "drop": {"augment": [DROP], "regime": PLAIN},
}
FAMILIES = {"cipher": "views", "R-Drop": "views", "PGD": "attacks", "noise": "records"}


def test_the_best_is_combined_with_the_next_of_other_families_that_have_no_other_regime() -> None:
    assert combinations(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        "cipher + noise": {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    families = FAMILIES | {"drop": "draws"}
    three = combinations(["noise", "cipher", "drop", "PGD"], ROWS, families)
    assert list(three) == ["noise + cipher", "noise + drop"]
    assert three["noise + cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}


def test_rows_without_a_family_are_not_combined() -> None:
    assert combinations(["cipher", "drop"], ROWS, FAMILIES) == {}


def test_the_reference_is_the_first_to_train() -> None:
    rounds = Rounds("baseline", ["a", "b"], [1, 2], [2, None], [], mode="max")
    first, second, *_ = rounds.work()
    assert (first.configuration, first.seed) == ("baseline", 1)
    assert second.configuration in ("a", "b")


def single_race(seeds: list[int]) -> Rounds:
    return Rounds("reference", ["good", "bad"], seeds, [4, None], [], mode="max")


def test_reference_and_winner_train_with_every_seed() -> None:
    scheduler = single_race([1, 2, 3])
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


def test_the_race_decides_as_it_would_alone() -> None:
    scheduler, alone = (
        single_race([1, 2]),
        Race(["good", "bad"], [1, 2], [4, None], mode="max"),
    )
    run(scheduler)
    while not alone.finished:
        alone.tell(*(work := alone.work()[0]), value(work))
    assert scheduler.decisions == alone.decisions
    assert scheduler.eliminated == alone.eliminated == {"bad"}


def test_the_reference_finishes_even_if_all_others_fail() -> None:
    scheduler = single_race([1, 2])
    for name in ("good", "bad"):
        scheduler.fail(name, 1)
    assert scheduler.best is None
    assert {work.configuration for work in run(scheduler)} == {"reference"}


def test_the_sweep_finishes_despite_a_failed_seed_of_the_reference() -> None:
    scheduler = single_race([1, 2])
    scheduler.fail("reference", 2)
    assert {work.seed for work in run(scheduler) if work.configuration == "reference"} == {1}
