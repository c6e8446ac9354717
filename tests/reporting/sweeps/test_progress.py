"""The progress messages of a running sweep."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from augury.core.progress import StatusLine
from augury.core.store import Store
from augury.reporting.sweeps import progress as lines
from augury.reporting.sweeps.progress import Display
from augury.sweeping.state import Configuration, Sweep, TrialProgress, TrialState, ValidationPoint


def sweep(*trials: tuple[str, int, TrialProgress, int]) -> Sweep:
    """Return a sweep of trials (configuration, seed, progress, validations).

    Validation n of seed s is 10 s + n.
    """
    store, groups = Store("results"), dict[str, list[TrialState]]()
    for name, seed, progress, validations in trials:
        curve = tuple(
            ValidationPoint(8 * n, 2.0 * n, 10.0 * seed + n) for n in range(1, validations + 1)
        )
        folder = store.folder("runs", f"{name}/seed-{seed}")
        groups.setdefault(name, []).append(TrialState(seed, folder, progress, None, curve))
    configurations = tuple(
        Configuration(name, name, {}, tuple(group)) for name, group in groups.items()
    )
    folder, ran = store.folder("sweeps", "beta"), (0.0, 0.0, False)
    how = ("valid/bleu", "max", "toy", (), (1, 2), (), (), "all", "a")
    return Sweep("beta", "Which?", *how, configurations, (), None, *ran, folder)


def test_trials_that_finish_are_said_and_the_status_where_it_has_changed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Not trials of earlier commands; the status every ten seconds at most."""
    caplog.set_level(logging.INFO, "augury")
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with StatusLine("beta") as line:
        display = Display(line)
        others: list[Any] = [("b", 1, "finished", 3), ("b", 2, "waiting", 0)]
        for validations in (1, 2, 2):
            now[0] += 30
            display.show(sweep(("a", 1, "running", validations), *others))
        display.show(sweep(("a", 1, "finished", 2), *others))
        now[0] += 30
        display.show(sweep(("a", 1, "finished", 2), others[0], ("b", 2, "failed", 0)))
    first, finished, _, last = caplog.messages
    assert first == "beta: best so far b BLEU 13.00, 1 finished, 1 running, 1 waiting, 10 s left"
    assert finished == "a, seed 1: finished, update 16, BLEU 12.00, 4.0 s"
    assert last == "beta: best so far b BLEU 13.00, 2 finished, 1 failed"


def test_the_time_left() -> None:
    trials = ("a", 1, "finished", 4), ("a", 2, "running", 1), ("b", 1, "stopped", 3)
    running = sweep(*trials, ("b", 2, "waiting", 0))
    assert lines.seconds_left(running) == (8 - 2) + (8 - 6) + 8
