"""What would settle what a sweep leaves open."""

from __future__ import annotations

import random
from typing import Any

import pytest

from augury.reporting.sweeps.answer import contenders, front_text
from augury.reporting.sweeps.recommendation import settlement
from augury.reporting.sweeps.summary import Summary, summarise


def raced(sweeps: Any, shares: dict[str, float], seeds: int = 2, rows: int = 400) -> Summary:
    """Classifiers that are right on so many of the examples, drawn anew for each seed."""
    for place, (name, share) in enumerate(shares.items()):
        address = sweeps.configuration({}, name)
        for seed in range(1, seeds + 1):
            drawn = random.Random(f"{name} {seed}")
            correct = [int(drawn.random() < share) for _ in range(rows)]
            sweeps.trial(address, seed, [100 * share], seconds=60.0)
            sweeps.results.classified(
                name, address, seed, correct=correct, seconds=60 * (place + 1)
            )
    return summarise(sweeps.load(range(1, seeds + 1), scheduler="race"))


def test_nothing_is_open_where_one_is_the_best_by_far(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.9})
    assert [result.name for result in contenders(summary)] == ["ours"]
    assert settlement(summary) is None


def test_more_seeds_are_proposed_as_a_command_with_their_time(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.86, "theirs": 0.84}, rows=700)
    proposed = settlement(summary)
    assert proposed is not None and proposed.seeds is not None and proposed.seeds > 2
    seeds = " ".join(map(str, range(1, proposed.seeds + 1)))
    assert f"--seeds {seeds} " in f"{proposed.command} "
    further = {"baseline": 1, "ours": 1, "theirs": 1}
    assert proposed.seconds == pytest.approx(60 * (proposed.seeds - 2) * len(further))


def test_systems_that_are_nearly_equal_are_not_settled_by_seeds(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.8, "theirs": 0.8}, rows=200)
    proposed = settlement(summary)
    assert proposed is not None and (proposed.command, proposed.seeds) == ("", None)


def test_one_seed_asks_for_three(sweeps: Any) -> None:
    proposed = settlement(raced(sweeps, {"baseline": 0.5, "ours": 0.8}, seeds=1))
    assert proposed is not None and "--seeds 1 2 3 " in f"{proposed.command} "


def test_the_front_has_what_is_cheaper_or_better(sweeps: Any) -> None:
    text = front_text(raced(sweeps, {"baseline": 0.5, "ours": 0.8, "slower and worse": 0.7}))
    assert "baseline" in text and "ours" in text and "slower" not in text


def test_no_command_is_printed_for_what_the_race_does_not_train_on(sweeps: Any) -> None:
    """It gave `theirs` two of three seeds."""
    raced(sweeps, {"baseline": 0.5, "ours": 0.86, "theirs": 0.82}, seeds=3, rows=200)
    (sweeps.results.store.folder("runs", f"{2:016x}/seed-3")).remove()
    sweeps.trials[f"{2:016x}/seed-3"]["progress"] = "waiting"
    proposed = settlement(summarise(sweeps.load((1, 2, 3), scheduler="race")))
    assert proposed is not None and proposed.command == ""
    assert "the race gave theirs 2 of 3" in proposed.text
