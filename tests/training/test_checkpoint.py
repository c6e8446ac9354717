"""Which checkpoints are kept, and what is averaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from augury.core import store as stores
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.training.checkpoint import MODEL, STATE, Checkpoints, Position, best
from augury.training.trained import OUTCOME, WEIGHTS, Diverged
from tests.training import toy

pytestmark = pytest.mark.trains

SCORES = {10: 3.0, 20: 5.0, 30: 4.0, 40: 5.0, 50: 1.0}


def written(
    run: Folder, keep: int, keep_best: bool, every: int = 1
) -> tuple[Checkpoints, Position, nn.Module]:
    """Checkpoints of a number that is that of the update, written after `every` validations."""
    module = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(module.parameters())
    checkpoints = Checkpoints(run, keep, keep_best=keep_best)
    position = Position("toy", seed=1, world=1)
    for count, (update, score) in enumerate(SCORES.items(), start=1):
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.fill_(float(update))
        position.update, position.scores[update] = update, score
        checkpoints.save(module, optimizer, position)
        if count % every == 0:
            checkpoints.write()
    checkpoints.write()
    return checkpoints, position, module


@pytest.mark.parametrize("every", [1, 2, 3, 9])
@pytest.mark.parametrize(
    ("keep", "keep_best", "last", "kept"),
    [
        (2, False, [40, 50], [40, 50]),
        (1, True, [50], [20, 40, 50]),  # the earlier of equal ones
    ],
)
def test_the_last_and_the_best_are_kept(
    tmp_path: Path, keep: int, keep_best: bool, last: list[int], kept: list[int], every: int
) -> None:
    run = Store(tmp_path).folder("runs", "toy")
    checkpoints, position, module = written(run, keep, keep_best, every)
    assert best(position.scores) == 20
    assert checkpoints.last() == last
    assert checkpoints.updates() == kept
    # Training may go on from the one before the last, and a stage from the best.
    with_state = [20, 40, 50] if keep_best else [40, 50]
    assert [
        update for update in kept if checkpoints.folder.exists(f"{update:08d}/{STATE}")
    ] == with_state
    restored = checkpoints.restore(
        module, torch.optim.Adam(module.parameters()), Position("toy", seed=1, world=1)
    )
    assert restored.scores == SCORES and restored.update == 50
    averaged = checkpoints.average(last)
    assert averaged["weight"].item() == averaged["bias"].item() == sum(last) / len(last)


def test_training_can_stop_before_its_first_validation(tmp_path: Path) -> None:
    module = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(module.parameters())
    checkpoints = Checkpoints(Store(tmp_path).folder("runs", "toy"), 1, keep_best=True)
    checkpoints.save(module, optimizer, Position("toy", seed=1, world=1, update=3), snapshot=True)
    checkpoints.write()
    start = Position("toy", seed=1, world=1)
    assert checkpoints.restore(module, optimizer, start).update == 3


def test_a_damaged_checkpoint_is_passed_over_and_a_foreign_one_refused(tmp_path: Path) -> None:
    """Its weights have one bit that is another."""
    run = Store(tmp_path).folder("runs", "toy")
    checkpoints, _, module = written(run, 2, False)
    optimizer = torch.optim.Adam(module.parameters())
    for address, seed in (("other", 1), ("toy", 2)):
        with pytest.raises(UserError, match="was written by configuration toy, seed 1"):
            checkpoints.restore(module, optimizer, Position(address, seed, world=1))
    weights = Path(checkpoints.folder.path(f"{50:08d}/{MODEL}"))
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    stores._known.clear()  # as in a new process, which knows no checkpoint to be intact
    checkpoints = Checkpoints(run, 2)
    restored = checkpoints.restore(module, optimizer, Position("toy", seed=1, world=1))
    assert restored.update == 40


def test_training_continues_from_the_last_state_that_was_saved_whole(
    tmp_path: Path, remote: Any
) -> None:
    checkpoints, position, module = written(
        Store("remote://bucket").folder("runs", "toy"), 2, False
    )
    optimizer = torch.optim.Adam(module.parameters())

    def save(update: int, **how: Any) -> None:
        position.update = update
        checkpoints.save(module, optimizer, position, **how)
        checkpoints.write()

    def restored() -> int:
        return checkpoints.restore(module, optimizer, Position("toy", seed=1, world=1)).update

    save(53, snapshot=True)
    save(56, snapshot=True)
    assert (
        checkpoints.folder.subfolders() == ["00000040", "00000050", "snapshot-00000056"]
        and restored() == 56
    )
    for update, how in ((58, {"snapshot": True}), (60, {})):
        for files in (0, 1, 2):
            remote.die_after(files)
            with pytest.raises(OSError, match="the writer died"):
                save(update, **how)
            assert checkpoints.updates() == [40, 50] and restored() == 56
    remote.die_after(None)
    save(60)
    assert checkpoints.folder.subfolders() == ["00000050", "00000060"] and restored() == 60


def trained(root: Path, stop_at: int | None = None, weights: str = "chosen") -> Folder:
    """Train the toy task, again after it was stopped at an update."""
    run = Store(root).folder("runs", "toy")
    changes = {"weights": weights, "average_last": 2, "max_examples": 5, "max_epochs": 6}
    changes |= {"schedule": "linear", "warmup_share": 0.2, "max_updates": None}
    training = toy.TRAINING.model_copy(update=changes)
    if stop_at is not None:
        with pytest.raises(Diverged):
            toy.fit_here(run, training, toy.Toy(spoil_at=stop_at))
    return toy.fit_here(run, training)


def scores_of(run: Folder) -> dict[int, float]:
    """Return the accuracy of every validation, by its update."""
    return {
        update: metrics.get("valid/accuracy", 0.0)
        for update, _, metrics in toy.measured(run)
        if "valid/loss" in metrics
    }


@pytest.mark.parametrize("weights", ["averaged", "last", "best", "chosen"])
def test_the_weights_are_those_asked_for(tmp_path: Path, weights: str) -> None:
    run = trained(tmp_path, weights=weights)
    scores = scores_of(run)
    outcome = run.read_record(OUTCOME)["weights"]
    updates = {"averaged": sorted(scores)[-2:], "last": [max(scores)], "best": [best(scores)]}
    assert outcome["updates"] == updates[outcome["kind"]]
    assert (
        outcome["scores"]["best"] == max(scores.values())
        and outcome["scores"]["last"] == scores[max(scores)]
    )
    if weights == "chosen":
        assert outcome["scores"][outcome["kind"]] == max(outcome["scores"].values())
    else:
        assert outcome["kind"] == weights


def test_the_best_may_be_that_of_the_least_loss(tmp_path: Path) -> None:
    run = Store(tmp_path).folder("runs", "toy")
    training = toy.TRAINING.model_copy(update={"weights": "best", "stop_on": "loss"})
    toy.fit_here(run, training.model_copy(update={"learning_rate": 2.0, "clip_norm": 0.0}))
    found = [(metrics, update) for update, _, metrics in toy.measured(run)]
    losses = {update: metrics["valid/loss"] for metrics, update in found if "valid/loss" in metrics}
    assert run.read_record(OUTCOME)["weights"]["updates"] == [min(losses, key=losses.__getitem__)]
    assert max(losses, key=losses.__getitem__) != min(losses, key=losses.__getitem__)


def test_the_weights_are_the_same_however_often_training_was_stopped(tmp_path: Path) -> None:
    straight = trained(tmp_path / "straight")
    outcome = straight.read_record(OUTCOME)
    per_epoch = outcome["updates"] // 6
    for stop_at in (per_epoch - 1, 5 * per_epoch + 2):
        stopped = trained(tmp_path / str(stop_at), stop_at)
        assert stopped.read(WEIGHTS) == straight.read(WEIGHTS)
        assert stopped.read_record(OUTCOME)["weights"] == outcome["weights"]
