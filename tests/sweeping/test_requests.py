"""What a sweep asks of a storage where every question is a request."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from augury.cli import main
from augury.sweeping import writer
from tests.sweeping.sweeps import QUICK

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(600)]

MOST_REQUESTS = 450
"""Of a sweep of three trials, which writes 150 files; what it shows meanwhile adds some, on a slow
machine more."""


def test_a_sweep_asks_little(remote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = Counter[str]()
    monkeypatch.setattr(writer, "REMOTE_WRITE_SECONDS", 3600.0)

    def counted(name: str) -> Any:
        ask = getattr(remote, name)

        def call(*arguments: Any, **options: Any) -> Any:
            requests[name] += 1
            return ask(*arguments, **options)

        return call

    for name in ("info", "find", "open", "rm"):
        monkeypatch.setattr(remote, name, counted(name))
    flags = ["--seeds", "1", "--set", "training.max_updates=16"]
    flags += ["--set", "execution.executor=local", "--storage", "remote://bucket"]
    assert main(["sweep", QUICK, "--name", "quick", *flags]) == 0
    assert 0 < requests.total() <= MOST_REQUESTS, requests
