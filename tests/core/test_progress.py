from __future__ import annotations

import io
import re
import sys

import pytest

from augury.core import messages, progress
from augury.core.messages import logger, say
from augury.core.progress import Stage


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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


def test_a_terminal_has_one_line_below_what_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with (
        messages.shown(),
        Stage("train", 100, "updates") as train,
        Stage("decode", 10, "sentences") as decode,
    ):
        train.advance(10)
        decode.advance(5)
        logger.info("above it")
    drawn = [line.rpartition(messages.ERASE)[2] for line in terminal.getvalue().split("\n")]
    assert drawn[0] == "above it" and drawn[-1] == ""
    assert drawn[1].startswith("decode · 5 sentences ·")
    assert drawn[2].startswith("train · 10 updates ·")
    assert f"{messages.ERASE} 10% train · 10/100" in terminal.getvalue()


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
