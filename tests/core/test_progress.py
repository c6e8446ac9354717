from __future__ import annotations

import io
import logging
import re
import subprocess
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


def test_a_terminal_has_a_line_for_every_stage_that_goes_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with messages.shown():
        with Stage("train", 100, "updates") as train, Stage("decode", 10, "sentences") as decode:
            train.advance(10)
            decode.advance(5)
            display = messages.display()
            assert display is not None
            assert [task.percentage for task in display.tasks] == [10.0, 50.0]
            logger.info("above them")
        assert not display.tasks and not display.live.is_started
    drawn = terminal.getvalue()
    ended = drawn.index("decode · 5 sentences ·"), drawn.rindex("train · 10 updates ·")
    assert drawn.index("above them") < ended[0] < ended[1]


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


def test_a_program_that_imports_augury_shows_nothing_and_can_listen(
    caplog: pytest.LogCaptureFixture,
) -> None:
    code = (
        "from augury.core.progress import Stage, say\n"
        "say('warning: hm')\n"
        "with Stage('work') as s: s.advance()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, check=True
    )
    assert (result.stdout, result.stderr) == ("", "")
    with caplog.at_level(logging.INFO, "augury"):
        say("heard")
    assert caplog.messages == ["heard"]
