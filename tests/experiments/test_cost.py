"""What a training is estimated to cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.experiments.cost import TrainingEstimate, estimate_training
from augury.models.sizes import Size
from tests import tiny

# So large that what every update costs besides is nothing.
SIZE = Size(100_000_000, 10_000_000, 20_000_000)


def experiment(**changes: Any) -> Any:
    settings = {
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "regime": "multi_source",
        "vocabulary": {"size": 500, "size_per_key": 100},
        "training": {"max_tokens": 1000, "max_epochs": 10},
    }
    return tiny.experiment("nmt", Path("store"), **{**settings, **changes})


def estimated(rows: int = 1000, **changes: Any) -> TrainingEstimate:
    return estimate_training(experiment(**changes), SIZE, rows, (10.0, 8.0))


def test_work_grows_with_epochs_rows_and_views() -> None:
    once = estimated()
    longer = estimated(training={"max_tokens": 1000, "max_epochs": 20})
    assert longer.seconds == pytest.approx(2 * once.seconds)
    assert estimated(rows=2000).updates == pytest.approx(2 * once.updates, abs=1)
    both = estimated(regime={"name": "coregularised"})
    assert both.updates == once.updates
    assert both.seconds == pytest.approx(2 * once.seconds, rel=0.01)
    # Three steps, and the update.
    attacked = estimated(regime={"name": "adversarial", "preset": "paper"})
    assert attacked.seconds == pytest.approx(4 * once.seconds, rel=0.01)
