"""The simulated race of `benchmarks/race.py`, at its smallest."""

from __future__ import annotations

from benchmarks.race import noise_of, simulate


def test_the_rounds_of_a_sweep_run_without_training() -> None:
    noise = noise_of()
    assert noise.systems >= 2 and noise.components.seeds_and_sentences > 0
    result = simulate("usual", noise, draws=2, seed=1, seeds=2)
    assert 0 < result.cost[0] < 1
    assert result == simulate("usual", noise, draws=2, seed=1, seeds=2)
