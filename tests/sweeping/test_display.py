"""What is shown of a sweep while it runs."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from augury.core.store import Store
from augury.sweeping import display
from augury.sweeping.display import Display
from augury.sweeping.state import Configuration, Point, Progress, Sweep, Trial


def sweep(*trials: tuple[str, int, Progress, int], error: str | None = None) -> Sweep:
    """Configuration, seed, progress, validations of every trial; the n-th validation of seed s is 10 s + n."""
    store, groups = Store("results"), dict[str, list[Trial]]()
    for name, seed, progress, validations in trials:
        curve = tuple(Point(n, 8 * n, 2.0 * n, 10.0 * seed + n) for n in range(1, validations + 1))
        folder = store.folder("runs", f"{name}/seed-{seed}")
        groups.setdefault(name, []).append(Trial(seed, folder, progress, error, curve))
    configurations = tuple(Configuration(name, name, {}, tuple(group)) for name, group in groups.items())
    folder = store.folder("sweeps", "beta")
    return Sweep(
        "beta",
        "Which?",
        "valid/bleu",
        "max",
        "toy",
        (),
        (1, 2),
        (),
        "all",
        "a",
        configurations,
        (),
        (),
        0.0,
        0.0,
        False,
        folder,
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_running_trial_has_a_line_and_no_line_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(display.time, "monotonic", lambda: now)
    stream = io.StringIO()
    shown = Display(stream)
    running = sweep(("a", 1, "running", 1), ("b", 1, "running", 0), ("b", 2, "waiting", 0))
    for now in (1.0, 2.0, 30.0):  # noqa: B007
        shown.show(running)
    lines = stream.getvalue().splitlines()
    assert sum(line.startswith("a, seed 1: running") for line in lines) == 1
    assert sum(line.startswith("b, seed 1: running") for line in lines) == 1
    assert len(lines) == len(set(lines)) == 3
    now = 31.0
    shown.show(sweep(("a", 1, "running", 2), ("b", 1, "failed", 0), ("b", 2, "waiting", 0), error="loss is NaN"))
    now = 33.0
    shown.show(sweep(("a", 1, "running", 3), ("b", 1, "failed", 0), ("b", 2, "waiting", 0), error="loss is NaN"))
    lines = stream.getvalue().splitlines()
    assert any("b, seed 1: failed" in line and "loss is NaN" in line for line in lines)
    assert sum(line.startswith("a, seed 1") for line in lines) == 2, "at most every ten seconds a trial"
    assert len(lines) == len(set(lines))


def test_what_an_earlier_command_has_ended_is_no_news() -> None:
    stream = io.StringIO()
    Display(stream).show(sweep(("a", 1, "finished", 2), ("a", 2, "running", 1)))
    lines = stream.getvalue().splitlines()
    assert not any(line.startswith("a, seed 1") for line in lines)
    assert any("1 finished, 1 running" in line for line in lines)


def test_a_terminal_shows_the_running_trials_alone_with_the_best() -> None:
    stream = Terminal()
    shown = Display(stream)
    shown.show(sweep(("a", 1, "running", 2), ("b", 1, "paused", 1), ("b", 2, "finished", 2)))
    shown.close()
    text = stream.getvalue()
    assert "seed 1" in text and "12.00" in text
    assert "best so far" in text


def test_leaders_and_the_time_left() -> None:
    running = sweep(("a", 1, "finished", 4), ("a", 2, "running", 1), ("b", 1, "stopped", 3), ("b", 2, "waiting", 0))
    assert [(configuration.name, value) for configuration, value in display.leaders(running)] == [("a", 17.5)]
    assert display.seconds_left(running) == (8 - 2) + 8
    assert display.leaders(replace(running, mode="min"))[0][1] == (11 + 21) / 2
