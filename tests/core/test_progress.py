from __future__ import annotations

import io

import pytest

from augury.core import progress
from augury.core.progress import Stage, duration, say_once


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_durations_for_people() -> None:
    assert [duration(seconds) for seconds in (0.42, 12.3, 185, 7800)] == ["0.4 s", "12 s", "3 min 05 s", "2 h 10 min"]


def test_elsewhere_than_on_a_terminal_a_stage_is_one_line() -> None:
    stream = io.StringIO()
    with Stage("encipher", 2000, "rows", stream) as stage:
        for _ in range(20):
            stage.advance(100, "key 2")
    assert len(stream.getvalue().splitlines()) == 1
    assert stream.getvalue().startswith("encipher               2,000 rows") and "key 2" in stream.getvalue()


def test_a_terminal_line_is_redrawn_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    stream = Terminal()
    with Stage("train", 100, "updates", stream) as stage:
        stage.advance(10)
        stage.advance(90)
    drawn = stream.getvalue().split("\r\x1b[K")
    assert "10/100 updates" in drawn[1] and " left" in drawn[1]
    assert drawn[-1].endswith("\n") and "100 updates" in drawn[-1]


def test_a_stage_that_fails_says_so() -> None:
    stream = io.StringIO()
    with pytest.raises(RuntimeError), Stage("train", 100, "updates", stream) as stage:
        stage.advance(7)
        raise RuntimeError
    assert "7 updates" in stream.getvalue() and "stopped" in stream.getvalue()


def test_say_once() -> None:
    stream = io.StringIO()
    for _ in range(3):
        say_once("a note for this test alone", stream)
    assert stream.getvalue() == "a note for this test alone\n"
