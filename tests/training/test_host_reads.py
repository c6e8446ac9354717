"""An update reads no number of a tensor, for which the host would wait for a GPU."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from augury.core.store import Folder
from augury.regimes.adversarial import Adversarial
from augury.regimes.coregularised import CoRegularised
from augury.regimes.plain import Plain
from augury.regimes.regime import Regime, Rows
from augury.training.loop import RECORD_UPDATES, Trainer
from augury.training.trained import TrainingRun
from tests.regimes import words
from tests.training.host_reads import NoReads

pytestmark = pytest.mark.trains


class Task(words.Task):
    """Reads every view as the same sentences."""

    def rows(
        self, batch: words.Batch, views: Sequence[int], perturbation: Tensor | None = None
    ) -> Rows:
        rows = super().rows(batch, views, perturbation)
        return rows._replace(hidden=rows.hidden.repeat(len(views), 1, 1))


def unexpected(tensor: Tensor) -> None:
    raise AssertionError("reads a tensor")


def updates(task: Task, storage: Path, patch: pytest.MonkeyPatch) -> None:
    """Make three updates that may read nothing, as on a GPU, where numbers are checked later."""
    run = TrainingRun(folder=Folder(str(storage), "run"), address="words", seed=1)
    training = words.TRAINING.model_copy(update={"clip_norm": 1.0, "accumulation": 2})
    trainer = Trainer(task, training, run, device=torch.device("cpu"))
    trainer.most_unread = RECORD_UPDATES
    planned = list(itertools.islice(trainer.rest_of_epoch(), 3))
    patch.setattr(Tensor, "tolist", unexpected)
    with NoReads():
        for batches in planned:
            trainer.step(batches)
    assert trainer.position.update == 3


@pytest.mark.parametrize(
    "regime",
    [Plain(), CoRegularised(over="identity"), Adversarial(epsilon=0.5, alpha=0.3)],
    ids=lambda regime: regime.name,
)
def test_updates_read_no_tensor(
    regime: Regime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates(Task(regime), tmp_path, monkeypatch)
