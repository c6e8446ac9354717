"""The progress messages of a running sweep."""

from __future__ import annotations

import io
import logging
import time
from dataclasses import replace
from typing import Any

import pytest

from augury.core.store import Store
from augury.reporting.sweeps import progress as lines
from augury.reporting.sweeps.progress import Display
from augury.sweeping.state import Configuration, Point, Progress, Sweep, Trial


def sweep(*trials: tuple[str, int, Progress, int], error: str | None = None) -> Sweep:
    """Return a sweep of trials (configuration, seed, progress, validations).

    Validation n of seed s is 10 s + n.
    """
    store, groups = Store("results"), dict[str, list[Trial]]()
    for name, seed, progress, validations in trials:
        curve = tuple(Point(n, 8 * n, 2.0 * n, 10.0 * seed + n) for n in range(1, validations + 1))
        folder = store.folder("runs", f"{name}/seed-{seed}")
        groups.setdefault(name, []).append(Trial(seed, folder, progress, error, curve))
    configurations = tuple(
        Configuration(name, name, {}, tuple(group)) for name, group in groups.items()
    )
    folder, ran = store.folder("sweeps", "beta"), (0.0, 0.0, False)
    how = ("valid/bleu", "max", "toy", (), (1, 2), (), "all", "a")
    return Sweep("beta", "Which?", *how, configurations, (), (), *ran, folder)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A fake monotonic clock; tests advance `clock[0]`."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_running_trial_has_a_line_and_none_is_repeated(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "augury")
    display = Display()
    for _ in range(3):
        display.show(sweep(("a", 1, "running", 1), ("b", 1, "running", 0), ("b", 2, "waiting", 0)))
        clock[0] += 30
    trials = [message.split(":")[0] for message in caplog.messages]
    assert sorted(trials) == ["a, seed 1", "b, seed 1", "beta"]
    others: list[Any] = [("b", 1, "failed", 0), ("b", 2, "waiting", 0)]
    for validations in (2, 3):
        display.show(sweep(("a", 1, "running", validations), *others, error="loss is NaN"))
        clock[0] += 2
    assert any(
        "b, seed 1: failed" in message and "loss is NaN" in message for message in caplog.messages
    )
    shown = [message for message in caplog.messages if message.startswith("a, seed 1")]
    assert len(shown) == 2 and "validation 2" in shown[1], "at most every ten seconds per trial"
    assert len(caplog.messages) == len(set(caplog.messages))
    display.close()


def test_trials_of_earlier_commands_are_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "augury")
    Display().show(sweep(("a", 1, "finished", 2), ("a", 2, "running", 1)))
    assert not any(message.startswith("a, seed 1") for message in caplog.messages)
    assert any("1 finished, 1 running" in message for message in caplog.messages)


def test_leaders_and_the_time_left() -> None:
    running = sweep(
        ("a", 1, "finished", 4),
        ("a", 2, "running", 1),
        ("b", 1, "stopped", 3),
        ("b", 2, "waiting", 0),
    )
    best = lines.leader(running)
    # A seed that has just begun says nothing of its end.
    assert best is not None and (best.name, best.mean) == ("a", 14)
    assert lines.seconds_left(running) == (8 - 2) + (8 - 6) + 8
    lowest = lines.leader(replace(running, mode="min"))
    assert lowest is not None and lowest.mean == 11


def test_validations_on_different_corpora_have_no_leader() -> None:
    running = sweep(("a", 1, "running", 1), ("b", 1, "running", 2))
    other = replace(running.configurations[1], point={"corpus.valid.path": "noisy.tsv"})
    assert lines.leader(running)
    assert not lines.leader(replace(running, configurations=(running.configurations[0], other)))


def test_the_rest_of_a_budget_is_shown_where_it_ends_before_the_sweep() -> None:
    running = sweep(("a", 1, "finished", 100), ("a", 2, "running", 50), ("b", 1, "waiting", 0))
    assert "left" in lines.summary(running) and "budget" not in lines.summary(running)
    for seconds, shown in ((60.0, "budget: 1 min 00 s left"), (0.0, "budget spent")):
        limited = lines.summary(replace(running, updated=1000.0, deadline=1000.0 + seconds))
        assert limited.endswith(shown)
