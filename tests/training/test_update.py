"""What an update depends on: all of its rows alike, the seed, its number and the worker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from augury.core.store import Store
from augury.training import distributed
from augury.training.loop import Trainer
from tests.training import toy

pytestmark = pytest.mark.trains


def trainer(storage: Path, seed: int = 1, dropout: float = 0.3) -> Trainer:
    """Return a training of the toy that has not begun, without clipped gradients."""
    folder = Store(storage).folder("runs", f"toy/seed-{seed}")
    run = toy.ToyRun(
        folder=folder, address="toy", seed=seed, kill_at=None, spoil_at=None, init_from=None
    )
    task = toy.Toy()
    task.module[2].p = dropout  # type: ignore[index]
    training = toy.TRAINING.model_copy(update={"clip_norm": None})
    made = Trainer(task, training, run, device=torch.device("cpu"))
    made.position.updates_per_epoch = 9
    return made


def test_gradients_are_those_of_the_mean_over_all_rows(tmp_path: Path) -> None:
    """A mean of the means of batches would weigh short ones more."""
    made, expected = trainer(tmp_path, dropout=0.0), toy.Toy()
    logits = expected.module.eval()(expected.inputs[:37])
    nn.functional.cross_entropy(logits, expected.labels[:37]).backward()
    made.step([np.arange(30), np.arange(30, 37)])
    for parameter, reference in zip(made.parameters, expected.module.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, reference.grad)


def mask(made: Trainer) -> Tensor:
    """Return what dropout drops in an update."""
    dropped: list[Tensor] = []
    made.module[2].register_forward_hook(  # type: ignore[index]
        lambda _, inputs, output: dropped.append((output == 0) & (inputs[0] != 0))
    )
    made.step([np.arange(50)])
    return dropped[0]


def test_dropout_is_a_function_of_seed_update_and_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mask(trainer(tmp_path))
    assert torch.equal(mask(trainer(tmp_path)), first)
    later = trainer(tmp_path)
    later.position.update = 1
    assert not torch.equal(mask(later), first)
    assert not torch.equal(mask(trainer(tmp_path, seed=2)), first)
    monkeypatch.setattr(distributed, "rank", lambda: 1)
    assert not torch.equal(mask(trainer(tmp_path)), first)


def test_batches_are_a_function_of_seed_and_epoch(tmp_path: Path) -> None:
    def batches(seed: int, epoch: int) -> list[list[int]]:
        made = trainer(tmp_path, seed)
        made.position.epochs = epoch
        return [rows.tolist() for update in made.rest_of_epoch() for rows in update]

    assert batches(1, 0) == batches(1, 0)
    assert batches(1, 0) != batches(1, 1) and batches(1, 0) != batches(2, 0)
    assert sorted(sum(batches(2, 0), [])) == list(range(200))
