"""An update is a function of all of its rows, the seed, its number and the worker: killed and
continued equals undisturbed, to the last bit."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from augury.core.store import Store
from augury.regimes.adversarial import Adversarial
from augury.regimes.coregularised import CoRegularised
from augury.regimes.regime import Losses, Progress, Regime, Rows
from augury.training import distributed
from augury.training.learner import Loaded
from augury.training.loop import RECORD_UPDATES, Interrupted, Trainer
from augury.training.trained import WEIGHTS, Diverged, TrainingRun
from tests.regimes import words
from tests.training import toy
from tests.training.host_reads import NoReads

pytestmark = pytest.mark.trains


def final(storage: Path) -> bytes:
    return Store(storage).folder("runs", "toy").read(WEIGHTS)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    storage = tmp_path_factory.mktemp("straight")
    torch.set_num_threads(1)
    toy.main([str(storage)])
    return storage


def measured(storage: Path) -> list[tuple[int, float, dict[str, float]]]:
    return toy.measured(Store(storage).folder("runs", "toy"))


@pytest.mark.slow
def test_one_worker_killed_and_started_again(straight: Path, tmp_path: Path) -> None:
    assert toy.run(tmp_path, "--kill-at", "9").returncode == -9
    toy.main([str(tmp_path), "--kill-at", "9"])
    assert final(tmp_path) == final(straight)
    assert measured(tmp_path) == measured(straight)


def test_one_that_was_interrupted_between_two_records_has_the_same(
    straight: Path, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        toy.main([str(tmp_path), "--interrupt-at", "13"])
    run = Store(tmp_path).folder("runs", "toy")
    assert run.sub("checkpoints").subfolders()[-1] == "snapshot-00000014"
    toy.main([str(tmp_path)])
    assert measured(tmp_path) == measured(straight)
    updates = [update for update, _, metrics in measured(straight) if "train/loss" in metrics]
    assert {20, 40} < set(updates)
    assert final(tmp_path) == final(straight)


def test_workers_connect_by_the_interface_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth9")
    distributed.connect_by("127.0.0.1")
    assert os.environ["GLOO_SOCKET_IFNAME"] == "eth9"
    monkeypatch.delenv("GLOO_SOCKET_IFNAME")
    distributed.connect_by("192.0.2.1")  # of no machine (RFC 5737)
    assert "GLOO_SOCKET_IFNAME" not in os.environ
    distributed.connect_by("127.0.0.1")
    assert os.environ["GLOO_SOCKET_IFNAME"].startswith("lo")


PROCESSES = ("--processes", "--workers", "2")
TWO_ON_RAY = ("--workers", "2")


@pytest.fixture(scope="module")
def straight_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    storage = tmp_path_factory.mktemp("straight-of-two")
    done = toy.run(storage, *PROCESSES)
    assert done.returncode == 0, done.stderr
    return storage


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_workers_end_together_where_the_clock_of_one_is_past_the_deadline(
    straight_of_two: Path, tmp_path: Path
) -> None:
    assert toy.run(tmp_path, *PROCESSES, "--late", "1").returncode == 0
    run = Store(tmp_path).folder("runs", "toy")
    assert not run.exists("outcome.json") and len(run.sub("checkpoints").subfolders()) == 1
    assert toy.run(tmp_path, *PROCESSES).returncode == 0
    assert final(tmp_path) == final(straight_of_two)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ray_train_restarts_what_is_killed_says_so_and_ends_equal(
    straight_of_two: Path, tmp_path: Path
) -> None:
    """Equal to two processes that no launcher looks after."""
    disturbed = toy.run(tmp_path, *TWO_ON_RAY, "--kill-at", "6")
    assert disturbed.returncode == 0, disturbed.stderr[-2000:]
    assert (tmp_path / "killed").exists()
    assert re.search(r"^warning: worker \d of toy, seed 1 died", disturbed.stdout, re.MULTILINE)
    # Ray may write lines of its own between them.
    said = [line for line in disturbed.stdout.splitlines() if line.startswith("validation")]
    assert said[-2:] == ["validation 3", "validation 4"]
    assert final(tmp_path) == final(straight_of_two)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
def test_workers_that_die_too_often_end_it_in_a_line(tmp_path: Path) -> None:
    crashed = toy.run(tmp_path, *TWO_ON_RAY, "--max-failures", "0", "--kill-at", "6")
    assert crashed.returncode == 1
    last = crashed.stderr.splitlines()[-1]
    assert "Crashed: the workers of toy, seed 1 died 1 times" in last, crashed.stderr[-2000:]
    assert last.endswith("the same command continues it from its last checkpoint")


def test_a_loss_that_is_not_finite_names_update_records_and_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(
        Diverged, match="update 21: loss nan.* Records of the update: toy-"
    ) as raised:
        toy.main([str(tmp_path), "--spoil-at", "20"])
    good = Store(tmp_path).folder("runs", "toy").sub("checkpoints").subfolders()[-1]
    assert f"Last good checkpoint: runs/toy/checkpoints/{good}" in str(raised.value)


def trainer(
    storage: Path, seed: int = 1, dropout: float = 0.3, learner: type[toy.Toy] = toy.Toy
) -> Trainer:
    """Return a training of the toy that has not begun, without clipped gradients."""
    folder = Store(storage).folder("runs", f"toy/seed-{seed}")
    run = TrainingRun(folder=folder, address="toy", seed=seed)
    task = learner()
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


def test_the_sum_is_divided_by_what_the_loss_counts(tmp_path: Path) -> None:
    """The losses of translations count tokens, not rows."""

    class OfTokens(toy.Toy):
        def loss(self, batch: Any, progress: Progress) -> Losses:
            losses = super().loss(batch, progress)
            return losses._replace(divisor=4 * losses.divisor)

    by_rows = trainer(tmp_path / "a", dropout=0.0)
    by_tokens = trainer(tmp_path / "b", dropout=0.0, learner=OfTokens)
    for made in (by_rows, by_tokens):
        made.step([np.arange(37)])
    for one, other in zip(by_rows.parameters, by_tokens.parameters, strict=True):
        torch.testing.assert_close(one.grad, 4 * other.grad)


def test_the_first_update_has_the_first_rate(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    rates = []
    for _ in range(2):
        made.step([np.arange(50)])
        rates.append(made.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.01 / 5, 2 * 0.01 / 5])


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


def unread(tensor: Tensor) -> None:
    raise AssertionError("reads a tensor")


class Sentences(toy.Toy):
    """Reads every view of the toy's examples as the same sentences, under a regime."""

    def __init__(self, regime: Regime):
        super().__init__()
        self.regime, self.model = regime, words.Words(dropout=0.1)
        self.module, self.batch = self.model.module, words.sentences(200)

    def load(self, examples: np.ndarray, epoch: int, device: torch.device) -> Loaded:
        ids, labels = self.batch
        return Loaded(words.Batch(ids[examples], labels[examples]), len(examples), len(examples))

    def rows(
        self, batch: words.Batch, views: Sequence[int], perturbation: Tensor | None = None
    ) -> Rows:
        rows = self.model.rows(batch, views, perturbation)
        return rows._replace(hidden=rows.hidden.repeat(len(views), 1, 1))

    def embedded(self, batch: words.Batch, view: int) -> Any:
        return self.model.embedded(batch, view)

    def loss(self, batch: Any, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)


@pytest.mark.parametrize(
    "task",
    [
        toy.Toy(),
        Sentences(CoRegularised(over="identity", warmup_steps=1)),
        Sentences(Adversarial(epsilon=0.5, alpha=0.3)),
    ],
    ids=["plain", "coregularised", "adversarial"],
)
def test_updates_read_no_tensor(
    task: toy.Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU, which the host would wait for, and where numbers are checked later."""
    run = TrainingRun(folder=Store(tmp_path).folder("runs", "toy"), address="toy", seed=1)
    training = toy.TRAINING.model_copy(update={"clip_norm": 1.0})
    made = Trainer(task, training, run, device=torch.device("cpu"))
    made.most_unread = RECORD_UPDATES
    planned = list(itertools.islice(made.rest_of_epoch(), 3))
    monkeypatch.setattr(Tensor, "tolist", unread)
    with NoReads():
        for batches in planned:
            made.step(batches)
    assert made.position.update == 3
