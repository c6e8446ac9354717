from __future__ import annotations

import pytest

from augury.core import messages, progress
from augury.core.messages import logger, say
from augury.core.progress import Stage


def test_elsewhere_than_on_a_terminal_lines_come_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with Stage("encipher", 2000) as stage:
        for _ in range(20):
            clock[0] += 1
            stage.advance(100)
    assert capsys.readouterr().err.splitlines() == [
        "encipher · 1,000/2,000 rows · 100 rows/s · 10 s left",
        "encipher · 2,000 rows · 100 rows/s · 20 s",
    ]


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_levels(verbosity: int, capsys: pytest.CaptureFixture[str]) -> None:
    with messages.shown(verbosity):
        logger.debug("detail")
        say("message")
        say("warning: warning")
    said = [line.split()[-1] for line in capsys.readouterr().err.splitlines()]
    assert said == ["detail", "message", "warning"][1 - verbosity :]
