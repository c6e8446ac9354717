"""The line that shows the progress of a run."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.progress import StatusLine
from augury.experiments.make import ProgressMonitor
from augury.training.settings import Training


@pytest.fixture
def line(run: Any) -> str:
    """The line of a run half of whose updates are made, validated by a metric of the user's."""
    training = Training(max_updates=200, max_tokens=100)
    run.raw("00000050", {"update": 50, "epochs": 1.0, "time": 1.7e9, "metrics": {"train/loss": 4}})
    metrics = {"valid/loss": 3.0, "valid/best": 20.0, "valid/mine": 20.0, "valid/clean/mine": 21.0}
    times = {"train/seconds": 60.0, "train/tokens_per_second": 1500.0}
    run.raw("00000100", {"update": 100, "epochs": 2.0, "time": 1.7e9, "metrics": metrics | times})
    monitor = ProgressMonitor(run.folder, "run 1", training, StatusLine("run 1"))
    monitor.refresh()
    return monitor.text()


def test_the_metrics_of_the_run_are_shown(line: str) -> None:
    shown = line.split(" · ")
    assert shown[3:] == ["loss 4.00", "mine 20.00", "clean/mine 21.00", "1,500 tokens/s"]


def test_the_time_that_is_left_is_shown(line: str) -> None:
    assert line.split(" · ")[:3] == [
        "run 1",
        "1 min 00 s left at most",
        "update 100/200, epoch 2.0",
    ]
