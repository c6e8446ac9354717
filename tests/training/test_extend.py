"""A training that is made longer continues, and ends as if it had been as long from the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from augury.core import config
from augury.core.store import Folder, Store
from augury.training.checkpoint import Checkpoints
from augury.training.extend import take_over
from augury.training.learner import Validation
from augury.training.settings import Training, without_end
from augury.training.trained import OUTCOME, WEIGHTS, TrainingRun
from tests.training import toy

pytestmark = pytest.mark.trains


def new_run(root: Path, address: str, training: Training, seed: int = 1) -> TrainingRun:
    folder = Store(root).folder("runs", f"{address}/seed-{seed}")
    prefix = config.address(without_end(training))
    return TrainingRun(folder=folder, address=address, seed=seed, prefix=prefix)


def train(
    root: Path,
    address: str,
    training: Training,
    seed: int = 1,
    task: type[toy.Toy] = toy.Toy,
) -> Folder:
    """Train as a launcher does; the runs' prefix is that of their settings."""
    run = new_run(root, address, training, seed)
    take_over(run, training)
    return toy.fit_here(run.folder, training, task(), address=address, seed=seed)


def longer(**changes: Any) -> Training:
    return toy.TRAINING.model_copy(update=changes)


def validations(run: Folder) -> list[tuple[int, float, dict[str, float]]]:
    """Return what training has to say at its validations."""
    return [record for record in toy.measured(run) if "valid/loss" in record[2]]


BY_UPDATES = {"max_epochs": None, "max_updates": 40}
BY_SEVEN = {**BY_UPDATES, "validate_every": 7}


class Flat(toy.Toy):
    """Is never better than at its first validation."""

    def validate(self, device: torch.device) -> Validation:
        return super().validate(device)._replace(score=0.5)


@pytest.mark.parametrize(
    ("task", "first", "second", "weights", "since"),
    [
        (toy.Toy, {}, {"max_epochs": 6}, "chosen", 44),
        # Ends between validations.
        (toy.Toy, {**BY_SEVEN, "max_updates": 24}, BY_SEVEN, "chosen", 21),
        (Flat, {"max_epochs": 9, "patience": 2}, {"max_epochs": 9, "patience": 4}, "averaged", 33),
    ],
)
def test_longer_equals_as_long_from_the_start(
    tmp_path: Path,
    task: type[toy.Toy],
    first: dict[str, Any],
    second: dict[str, Any],
    weights: str,
    since: int,
) -> None:
    train(tmp_path / "extended", "short", longer(**first, weights=weights), task=task)
    settings = longer(**second, weights=weights)
    run = new_run(tmp_path / "extended", "long", settings)
    take_over(run, settings)
    assert Checkpoints(run.folder).updates()[-1] == since
    extended = train(tmp_path / "extended", "long", settings, task=task)
    straight = train(tmp_path / "straight", "long", settings, task=task)
    assert extended.read(WEIGHTS) == straight.read(WEIGHTS)
    assert validations(extended) == validations(straight)
    for value in ("updates", "rows", "best", "stopped_by"):
        assert extended.read_record(OUTCOME)[value] == straight.read_record(OUTCOME)[value]


@pytest.mark.parametrize(
    ("first", "second", "seed"),
    [
        ({"max_epochs": 9, "patience": 4}, {"max_epochs": 9, "patience": 2}, 1),
        ({}, {"learning_rate": 0.02}, 1),
        ({}, {"max_epochs": 3}, 1),
        ({}, {"schedule": "linear", "max_updates": 99}, 1),
        ({}, {"max_epochs": 6}, 2),
    ],
)
def test_one_that_went_further_or_differs_before_its_end_is_not_continued(
    tmp_path: Path,
    first: dict[str, Any],
    second: dict[str, Any],
    seed: int,
) -> None:
    train(tmp_path, "first", longer(**first), task=Flat)
    training = longer(**second)
    run = new_run(tmp_path, "other", training, seed)
    take_over(run, training)
    assert Checkpoints(run.folder).updates() == []
