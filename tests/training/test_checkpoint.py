"""Which checkpoints are kept, and what is averaged."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from augury.store import Folder, Store
from augury.training import history
from augury.training.checkpoint import STATE, Checkpoints, Position
from augury.training.loop import fit
from augury.training.trained import AVERAGED, OUTCOME

SCORES = {10: 3.0, 20: 5.0, 30: 4.0, 40: 5.0, 50: 1.0}


def written(run: Folder, keep: int, select: str) -> tuple[Checkpoints, Position, nn.Module]:
    """Checkpoints of a number that is that of the update, written one after the other."""
    module = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(module.parameters())
    checkpoints = Checkpoints(run, keep, select)  # type: ignore[arg-type]
    position = Position("toy", seed=1, world=1)
    for update, score in SCORES.items():
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.fill_(float(update))
        position.update, position.scores[update] = update, score
        checkpoints.save(module, optimizer, position)
    return checkpoints, position, module


@pytest.mark.parametrize(("keep", "select", "chosen", "kept"), [
    (2, "last", [40, 50], [40, 50]),
    (9, "last", [10, 20, 30, 40, 50], [10, 20, 30, 40, 50]),
    (1, "best", [20], [20, 50]),  # the earlier of equal ones; the latest stays for a resume
    (2, "best", [20, 40], [20, 40, 50]),
    (3, "best", [20, 30, 40], [20, 30, 40, 50]),
])  # fmt: skip
def test_the_last_or_the_best_are_kept_and_averaged(
    tmp_path: Path, keep: int, select: str, chosen: list[int], kept: list[int]
) -> None:
    checkpoints, position, _ = written(Store(tmp_path).folder("runs", "toy"), keep, select)
    assert checkpoints.chosen(position.scores) == chosen
    assert checkpoints.updates() == kept
    assert [update for update in kept if checkpoints.folder.exists(f"{update:08d}/{STATE}")] == [50]
    averaged = checkpoints.average(chosen)
    assert averaged["weight"].item() == averaged["bias"].item() == sum(chosen) / len(chosen)


def test_scores_are_restored(tmp_path: Path) -> None:
    checkpoints, _, module = written(Store(tmp_path).folder("runs", "toy"), 2, "best")
    found = checkpoints.restore(module, torch.optim.Adam(module.parameters()), Position("toy", seed=1, world=1))
    assert found.scores == SCORES and found.update == 50


def test_training_continues_from_the_last_state_that_was_saved_whole(tmp_path: Path, remote: Any) -> None:
    checkpoints, position, module = written(Store("remote://bucket").folder("runs", "toy"), 2, "last")
    optimizer = torch.optim.Adam(module.parameters())

    def save(update: int, **how: Any) -> None:
        position.update = update
        checkpoints.save(module, optimizer, position, **how)

    def restored() -> int:
        return checkpoints.restore(module, optimizer, Position("toy", seed=1, world=1)).update

    save(53, snapshot=True)
    save(56, snapshot=True)
    assert checkpoints.folder.subfolders() == ["00000040", "00000050", "snapshot-00000056"] and restored() == 56
    for update, how in ((58, {"snapshot": True}), (60, {})):
        for files in (0, 1, 2):
            remote.die_after(files)
            with pytest.raises(OSError, match="the writer died"):
                save(update, **how)
            assert checkpoints.updates() == [40, 50] and restored() == 56
    remote.die_after(None)
    save(60)
    assert checkpoints.folder.subfolders() == ["00000050", "00000060"] and restored() == 60


class Stopped(Exception):
    """What ends a process, from inside of it."""


def toy(stop_at: int | None) -> Any:
    """The toy task; it stops at an update."""
    spec = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Stopping(module.Toy):  # type: ignore[name-defined, misc]
        def loss(self, batch: Any, update: int) -> Any:
            if update == stop_at:
                raise Stopped
            return super().loss(batch, update)

    changes = {"select": "best", "average_last": 2, "schedule": "linear", "warmup_share": 0.2, "max_examples": 5,
               "max_epochs": 6, "max_updates": None}  # fmt: skip
    return Stopping(), module.TRAINING.model_copy(update=changes)


def trained(root: Path, stop_at: int | None = None) -> Folder:
    """Train the toy task, again after it was stopped."""
    torch.set_num_threads(1)
    run = Store(root).folder("runs", "toy")
    for each in [stop_at, None] if stop_at else [None]:
        task, training = toy(each)
        try:
            fit(task, training, run, address="toy", seed=1, device=torch.device("cpu"))
        except Stopped:
            assert each is not None
    return run


def test_the_best_validations_are_averaged_however_often_training_was_stopped(tmp_path: Path) -> None:
    straight = trained(tmp_path / "straight")
    found = {record["update"]: record["metrics"]["valid/accuracy"] for record in history.read(straight)
             if "valid/accuracy" in record["metrics"]}  # fmt: skip
    assert len(found) == 6
    best = sorted(sorted(found, key=lambda update: (-found[update], update))[:2])
    outcome = straight.read_json(OUTCOME)
    assert outcome["averaged"] == best and outcome["best"] == max(found.values())
    per_epoch = outcome["updates"] // 6
    for stop_at in (per_epoch - 1, 3 * per_epoch, 5 * per_epoch + 2):
        stopped = trained(tmp_path / str(stop_at), stop_at)
        assert stopped.read(AVERAGED) == straight.read(AVERAGED)
        assert stopped.read_json(OUTCOME)["averaged"] == best


def test_the_rate_ends_at_zero_with_the_last_epoch(tmp_path: Path) -> None:
    run = trained(tmp_path)
    rates = [record["metrics"]["train/learning_rate"] for record in history.read(run)
             if "train/learning_rate" in record["metrics"]]  # fmt: skip
    assert rates[-1] == 0.0 and max(rates) > 0.005
