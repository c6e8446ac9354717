from __future__ import annotations

import re

import pytest

from augury.core import messages, progress
from augury.core.messages import logger, say
from augury.core.progress import Stage


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until it is set."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_elsewhere_than_on_a_terminal_lines_come_now_and_then(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with Stage("encipher", 2000) as stage:
        for _ in range(20):
            clock[0] += 1
            stage.advance(100)
    assert capsys.readouterr().err.splitlines() == [
        "encipher · 1,000/2,000 rows · 100 rows/s · 10 s left",
        "encipher · 2,000 rows · 100 rows/s · 20 s",
    ]


@pytest.mark.parametrize(
    ("verbosity", "expected"),
    [
        (-1, ["a warning"]),
        (0, ["a message", "a warning"]),
        (1, ["a detail", "a message", "a warning"]),
    ],
)
def test_levels(verbosity: int, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with messages.shown(verbosity):
        logger.debug("a detail")
        say("a message")
        say("warning: a warning")
    lines = capsys.readouterr().err.splitlines()
    times = [re.match(r"\d\d:\d\d:\d\d ", line) is not None for line in lines]
    assert times == [verbosity > 0] * len(expected)
    assert all(line.endswith(text) for line, text in zip(lines, expected, strict=True))
