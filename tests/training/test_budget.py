"""Where training ends: by time, and by the updates or tokens of the plain text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from augury.core.store import Store
from augury.training.batching import Lengths
from augury.training.checkpoint import Checkpoints
from augury.training.loop import fit
from augury.training.schedule import last_update, worth
from augury.training.trained import Outcome, TrainingRun
from tests.training import toy


def learner(plain: int) -> toy.Toy:
    """100 plain rows of 2 tokens, and as many records of 4, in batches of ten rows."""
    task = toy.Toy()
    lengths = np.repeat([2, 4], 100)
    task.lengths, task.plain_rows = Lengths(lengths, lengths), plain
    return task


def test_budgets_count_the_updates_or_the_tokens_of_plain_text() -> None:
    settings = {"max_examples": 10, "accumulation": 1, "max_tokens": 40, "max_epochs": 3}
    ends = {}
    for unit in ("updates", "tokens"):
        training = toy.TRAINING.model_copy(update={**settings, "equal": unit})
        ends[unit] = last_update(training, *worth(learner(100), training, seed=1, world=1))
        everything = worth(learner(200), training, seed=1, world=1)
        assert everything == pytest.approx((20, 1))
    # 600 tokens are 10 updates an epoch, or 3/6 of 20 updates of 30 tokens each.
    assert ends == {"updates": 30, "tokens": 20}


@pytest.mark.trains
def test_time_ends_training_over_interruptions(tmp_path: Path) -> None:
    run = TrainingRun(folder=Store(tmp_path).folder("runs", "toy"), address="toy", seed=1)
    timed = toy.TRAINING.model_copy(update={"max_epochs": None, "max_minutes": 60.0})
    fit(toy.Toy(), timed, run, device=torch.device("cpu"), deadline=0.0)
    before = Checkpoints(run.folder).last_position()
    assert before is not None and before.seconds > 0 and not run.folder.exists("outcome.json")

    over = timed.model_copy(update={"max_minutes": before.seconds / 60})
    fit(toy.Toy(), over, run, device=torch.device("cpu"))
    assert Outcome.read(run.folder).updates == before.update
