"""Calls on threads: periodic ones, rate limits, and those that run ahead."""

from __future__ import annotations

import threading

import pytest

from augury.core.threads import run_every


def test_a_call_that_fails_does_not_end_the_calls(caplog: pytest.LogCaptureFixture) -> None:
    calls, repeated = [], threading.Event()

    def fail() -> None:
        calls.append(1)
        if len(calls) > 1:
            repeated.set()
        raise OSError("the network is down")

    caplog.set_level("INFO", "augury")
    with run_every(0.01, fail, name="lease"):
        assert repeated.wait(10)
    assert sum("the network is down" in message for message in caplog.messages) == 1
