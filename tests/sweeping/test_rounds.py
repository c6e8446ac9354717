"""Rounds that combine the best methods, train nothing twice, and every seed of what is compared."""

from __future__ import annotations

from collections.abc import Mapping

from augury.sweeping.race import Work
from augury.sweeping.rounds import Rounds, combinations

QUALITY = {"plain": 5.0, "view": 9.0, "noise": 8.0, "bad": 1.0, "view + noise": 11.0}
SEEDS = [1, 2, 3]


def value(work: Work) -> float:
    return QUALITY[work.configuration] + work.seed / 100


def run(rounds: Rounds) -> list[Work]:
    done: list[Work] = []
    while not rounds.finished:
        work = rounds.work()[0]
        done.append(work)
        rounds.tell(*work, value(work))
    return done


def test_the_second_round_races_the_first_with_combinations() -> None:
    rankings: list[list[str]] = []

    def combine(standings: Mapping[str, float]) -> dict[str, list[str]]:
        rankings.append(list(standings))
        return {"view + noise": ["view", "noise"]}

    rounds = Rounds("plain", ["bad", "noise", "view"], SEEDS, [combine], mode="max")
    done = run(rounds)
    assert rankings == [["view", "noise", "bad"]]
    assert len(done) == len(set(done))
    chosen = [decision for decision in rounds.decisions if decision.action == "chosen"]
    assert [decision.configuration for decision in chosen] == ["view", "view + noise"]
    for name in ("plain", "view + noise"):
        assert {work.seed for work in done if work.configuration == name} == set(SEEDS)


def test_nothing_to_combine_is_a_race_of_one_round() -> None:
    rounds = Rounds("plain", ["view", "bad"], SEEDS, [lambda standings: {}], mode="max")
    run(rounds)
    chosen = [item.configuration for item in rounds.decisions if item.action == "chosen"]
    assert chosen == ["view"]


def test_a_failed_combination_leaves_the_winner() -> None:
    combined = {"view + noise": ["view"]}
    rounds = Rounds("plain", ["view", "bad"], SEEDS, [lambda standings: combined], mode="max")
    while not rounds.finished:
        work = rounds.work()[0]
        if work.configuration == "view + noise":
            rounds.fail(work.configuration, work.seed)
        else:
            rounds.tell(*work, value(work))
    assert rounds.decisions[-1].configuration == "view"
    assert rounds.eliminated == {"view + noise"}


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
        ("cipher", "noise"): {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    families = FAMILIES | {"drop": "draws"}
    three = combinations(["noise", "cipher", "drop", "PGD"], ROWS, families)
    assert list(three) == [("noise", "cipher"), ("noise", "drop")]
    assert three["noise", "cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}


def test_rows_without_a_family_are_not_combined() -> None:
    assert combinations(["cipher", "drop"], ROWS, FAMILIES) == {}
