"""What would settle what a sweep leaves open."""

from __future__ import annotations

import random
from typing import Any

from augury.reporting.sweeps.answer import contenders, front_text
from augury.reporting.sweeps.recommendation import Settlement, settlement
from augury.reporting.sweeps.summary import Summary, summarise


def raced(sweeps: Any, shares: dict[str, float], seeds: int = 2, rows: int = 400) -> Summary:
    """Classifiers that are right on so many of the examples, drawn anew for each seed; the best is
    confirmed."""
    addresses = {name: sweeps.configuration({}, name) for name in shares}
    best = max(shares, key=shares.__getitem__)
    for place, (name, share) in enumerate(shares.items()):
        fresh = (11, 12, 13) if name in ("baseline", best) else ()
        for seed in (*range(1, seeds + 1), *fresh):
            drawn = random.Random(f"{name} {seed}")
            correct = [int(drawn.random() < share) for _ in range(rows)]
            sweeps.trial(addresses[name], seed, [100 * share], seconds=60.0)
            sweeps.results.classified(
                name, addresses[name], seed, correct=correct, seconds=60 * (place + 1)
            )
    sweeps.confirmation = {
        "reference": addresses["baseline"],
        "winner": addresses[best],
        "seeds": [11, 12, 13],
    }
    return summarise(sweeps.load(range(1, seeds + 1), scheduler="race"))


def test_nothing_is_open_where_one_is_the_best_by_far(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.9})
    assert [result.name for result in contenders(summary)] == ["ours"]
    assert settlement(summary) is None


def test_the_seeds_that_tell_the_best_apart_are_a_range(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.86, "theirs": 0.84}, rows=700)
    proposed = settlement(summary)
    assert proposed is not None and proposed.seeds is not None and proposed.seeds >= 2
    assert "ours and theirs" in proposed.text and proposed.command == ""


def test_systems_that_are_nearly_equal_are_not_settled_by_seeds(sweeps: Any) -> None:
    summary = raced(sweeps, {"baseline": 0.5, "ours": 0.8, "theirs": 0.799}, rows=200)
    proposed = settlement(summary)
    assert proposed == Settlement(proposed.text if proposed else "")


def test_the_front_has_what_is_cheaper_or_better(sweeps: Any) -> None:
    text = front_text(raced(sweeps, {"baseline": 0.5, "ours": 0.8, "slower and worse": 0.7}))
    assert "baseline" in text and "ours" in text and "slower" not in text
