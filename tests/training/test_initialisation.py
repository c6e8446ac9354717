"""A stage begins with what another training ended with, and ends the same however often it is
stopped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.training.checkpoint import STATE, Checkpoints, parameters
from augury.training.loop import Trainer
from augury.training.trained import (
    OUTCOME,
    WEIGHTS,
    Carry,
    Initialisation,
    TrainingRun,
)
from tests.training import toy

pytestmark = pytest.mark.trains


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A training that was best before its end."""
    folder = Store(tmp_path_factory.mktemp("before")).folder("runs", "before")
    training = toy.TRAINING.model_copy(update={"weights": "best"})
    return toy.fit_here(folder, training, address="before")


def begun(before: Folder, carry: Carry, **changes: Any) -> Trainer:
    """A stage that is about to make its first update."""
    run = TrainingRun(folder=Folder(before.root, f"runs/{carry}"), address=carry, seed=1)
    training = toy.TRAINING.model_copy(update=changes)
    return Trainer(
        toy.Toy(),
        training,
        run,
        device=torch.device("cpu"),
        init_from=Initialisation(before, carry),
    )


def test_a_stage_begins_with_the_weights_that_are_reported_on(before: Folder) -> None:
    stage, reported = begun(before, "weights"), load(before.read(WEIGHTS))
    assert all(
        torch.equal(tensor, reported[name]) for name, tensor in parameters(stage.module).items()
    )
    assert stage.position.update == stage.position.start == 0 and not stage.optimizer.state


def test_the_optimizer_goes_on_from_the_checkpoint_of_these_weights(before: Folder) -> None:
    (update,) = before.read_record(OUTCOME)["weights"]["updates"]
    stage = begun(before, "optimizer", learning_rate=0.5)
    _, state = Checkpoints(before).state(update)
    steps = {float(moments["step"]) for moments in stage.optimizer.state_dict()["state"].values()}
    assert (
        steps == {float(update)} and stage.position.start == update and stage.position.update == 0
    )
    for number, moments in stage.optimizer.state_dict()["state"].items():
        assert torch.equal(moments["exp_avg_sq"], state["state"][number]["exp_avg_sq"])
    assert stage.optimizer.param_groups[0]["lr"] == 0.5  # settings are the stage's own


def test_noam_continues_from_a_large_step(before: Folder) -> None:
    """Golden values of OpenNMT's Noam schedule: 2 · 512^-0.5 · min(s^-0.5, s · 8000^-1.5)."""
    stage = begun(
        before, "optimizer", learning_rate=2 * 512**-0.5 * 8000**-0.5, warmup_updates=8000
    )
    stage.position.start = 8000
    assert stage._learning_rate(0) == pytest.approx(0.000988212, abs=1e-9)
    assert stage._learning_rate(207_000) == pytest.approx(0.000190623, abs=1e-9)


def test_a_state_that_was_not_kept_is_refused(before: Folder, tmp_path: Path) -> None:
    shutil.copytree(before.root, tmp_path / "store")
    copy = Store(tmp_path / "store").folder("runs", "before")
    for update in Checkpoints(copy).updates():
        copy.remove(f"checkpoints/{update:08d}/{STATE}")
    with pytest.raises(UserError, match="no state of the optimizer after update"):
        begun(copy, "optimizer")


def test_one_that_is_stopped_ends_as_the_undisturbed_one(before: Folder, tmp_path: Path) -> None:
    def ended(name: str, stops: int) -> bytes:
        folder = Store(tmp_path).folder("runs", name)
        init_from = Initialisation(before, "optimizer")
        for _ in range(stops):
            toy.fit_here(folder, address="stage", init_from=init_from, deadline=0.0)
            assert not folder.exists(OUTCOME)
        return toy.fit_here(folder, address="stage", init_from=init_from).read(WEIGHTS)

    assert ended("stopped", 2) == ended("straight", 0) != before.read(WEIGHTS)
