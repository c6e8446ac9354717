from __future__ import annotations

import pytest

from augury.core import progress
from augury.core.progress import ProgressLine


def test_elsewhere_than_on_a_terminal_lines_come_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with ProgressLine("encipher", 2000) as line:
        for _ in range(20):
            clock[0] += 1
            line.advance(100)
    assert capsys.readouterr().err.splitlines() == [
        "encipher · 1,000/2,000 rows · 100 rows/s · 10 s left",
        "encipher · 2,000 rows · 100 rows/s · 20 s",
    ]
