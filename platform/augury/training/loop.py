"""The training loop: planned batches, one optimizer step per update, validation, checkpoints, early stopping.

Nothing in it depends on the clock or on earlier randomness: batches are planned from (seed, epoch, world size) and
torch is seeded from (seed, update, rank) before every update. A run that was killed and continued from its last
checkpoint therefore ends with the parameters of the undisturbed run, bit for bit, on the same hardware.
"""

from __future__ import annotations

import math
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from augury.regimes.regime import Losses
from augury.rng import seed_of
from augury.store import Folder, Store
from augury.training import distributed
from augury.training.batching import plan_epoch
from augury.training.checkpoint import Checkpoints, Position
from augury.training.history import History
from augury.training.schedule import Patience, learning_rate
from augury.training.settings import Training
from augury.training.task import Task
from augury.training.trained import AVERAGED, OUTCOME

RECORD_SECONDS = 2.0
SNAPSHOT_SECONDS = 600.0

Report = Callable[[dict[str, float]], None]


class Diverged(ArithmeticError):
    """A loss or a gradient is not finite; the message names the update, the records and the last good checkpoint."""


class Interrupted(KeyboardInterrupt):
    """Training was asked to stop and has saved its state."""


class _Objective(nn.Module):
    """A task's loss as a module, so that data-parallel training sees one forward pass."""

    def __init__(self, task: Task):
        super().__init__()
        self.module = task.module
        self._loss = task.loss

    def forward(self, batch: Any, update: int) -> Losses:
        return self._loss(batch, update)


@dataclass
class _Window:
    """Sums since the last record; tensors stay on their device until the record is due."""

    start: float
    tokens: int = 0
    positions: int = 0
    sums: Tensor | None = None
    names: tuple[str, ...] = ()


def fit(
    task: Task,
    training: Training,
    run: Folder,
    *,
    address: str,
    seed: int,
    device: torch.device,
    report: Report | None = None,
    until: int | None = None,
) -> None:
    """Train until the schedule, the patience or an interrupt ends it; continue where an earlier call stopped.

    With `until`, return after that validation, counted from the start of the run, ready to be continued. `report` is
    called after every validation, when its checkpoint is written, and may end the call by raising. A finished run
    leaves `checkpoints/`, `history/`, and at the end `averaged.safetensors` and `outcome.json` in the run's folder.
    Raises Diverged and Interrupted.
    """
    _Loop(task, training, run, address, seed, device, report or (lambda metrics: None), until).run()


def fit_prepared(
    task: Task, training: Training, config: Mapping[str, Any], device: torch.device, report: Report
) -> None:
    """`fit` as a `train_loop` is asked to: `config` says `storage`, `run`, `address`, `seed` and perhaps `until`."""
    fit(
        task,
        training,
        Folder(Store(config["storage"]).root, config["run"]),
        address=config["address"],
        seed=config["seed"],
        device=device,
        report=report,
        until=config.get("until"),
    )


class _Loop:
    def __init__(
        self,
        task: Task,
        training: Training,
        run: Folder,
        address: str,
        seed: int,
        device: torch.device,
        report: Report,
        until: int | None,
    ):
        self.task, self.training, self.folder, self.device, self.report = task, training, run, device, report
        self.seed, self.until = seed, until
        self.module = task.module.to(device)
        world = distributed.world_size()
        objective = _Objective(task)
        self.objective: nn.Module = DistributedDataParallel(objective) if world > 1 else objective
        self.trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        self.optimizer = _optimizer(self.trained, training)
        self.checkpoints = Checkpoints(run, keep=training.average_last, select=training.select)
        self.history = History(run)
        self.at = self.checkpoints.restore(self.module, self.optimizer, Position(address, seed, world))
        self.patience = Patience(training.patience, self.at.best, self.at.waited)
        self.leads = distributed.rank() == 0
        self.window = _Window(time.monotonic())
        self.unchecked: list[tuple[int, list[np.ndarray], Tensor]] = []
        self.interrupted = False

    def run(self) -> None:
        if self.leads:
            self.history.rewind(self.at.update)
        distributed.barrier()
        started, already = time.monotonic(), self.at.seconds
        saved = started
        with self._stoppable():
            while not self._over():
                for update in self._epoch():
                    self._step(update)
                    self.at.seconds = already + time.monotonic() - started
                    if self._validation_due():
                        self._validate()
                        saved = time.monotonic()
                        if self._over():
                            break
                    elif self.interrupted or (
                        distributed.world_size() == 1 and time.monotonic() - saved > SNAPSHOT_SECONDS
                    ):
                        self._save(snapshot=True)
                        saved = time.monotonic()
                    if self.interrupted:
                        raise Interrupted(f"stopped after update {self.at.update}")
        if self.leads and self._ended():
            self._finish()
        distributed.barrier()
        if self.interrupted:
            raise Interrupted(f"stopped after update {self.at.update}, the last one")

    def _over(self) -> bool:
        return self._ended() or (self.until is not None and self.at.validations >= self.until)

    def _ended(self) -> bool:
        epochs, updates = self.training.max_epochs, self.training.max_updates
        return (
            self.patience.exhausted
            or (epochs is not None and self.at.epoch >= epochs)
            or (updates is not None and self.at.update >= updates)
        )

    def _epoch(self) -> Iterator[list[np.ndarray]]:
        """This worker's batches of every update that is left in the epoch; moves on to the next epoch at its end."""
        plan = plan_epoch(
            self.task.lengths,
            max_tokens=self.training.max_tokens,
            max_examples=self.training.max_examples,
            seed=self.seed,
            epoch=self.at.epoch,
            world=self.at.world,
            accumulation=self.training.accumulation,
        )
        self.updates_per_epoch = len(plan)
        for update in plan[self.at.in_epoch :]:
            self.at.in_epoch += 1
            if self.at.in_epoch == len(plan):
                self.at.epoch, self.at.in_epoch = self.at.epoch + 1, 0
            yield update[distributed.rank()]

    def _step(self, batches: list[np.ndarray]) -> None:
        """One update: the gradient of the sum of losses, divided once by the divisor over batches and workers."""
        update = self.at.update
        distributed.seed_all(seed_of(self.seed, "update", update, distributed.rank()))
        self.module.train()
        self.optimizer.zero_grad(set_to_none=True)
        totals = torch.zeros(3, device=self.device)  # loss, divisor, rows
        for index, examples in enumerate(batches):
            loaded = self.task.load(examples, self.device)
            with self._accumulating(index < len(batches) - 1):
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.training.precision == "bf16"):
                    losses = self.objective(loaded.batch, update)
                losses.total.backward()
            totals += torch.stack(
                [losses.total.detach().float(), totals.new_tensor(losses.divisor), totals.new_tensor(losses.rows)]
            )
            self._record(losses, loaded.tokens, loaded.positions)
        distributed.sum_over_workers(totals)
        gradients = [parameter.grad for parameter in self.trained if parameter.grad is not None]
        torch._foreach_mul_(gradients, self.at.world / totals[1])  # data-parallel training takes the mean over workers
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.training.clip_norm:
            torch.nn.utils.clip_grads_with_norm_(self.trained, self.training.clip_norm, norm)
        self.unchecked.append((update, batches, torch.stack([totals[0] / totals[1], norm, totals[2]])))
        if self.device.type == "cpu" or len(self.unchecked) == 20:  # looking at a number makes a GPU wait
            self._check()
        rate = learning_rate(self.training, update + 1, self.updates_per_epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.at.update += 1
        self._maybe_write(rate)

    @contextmanager
    def _accumulating(self, more: bool) -> Iterator[None]:
        """Exchange gradients between workers only with the last batch of an update."""
        wait = (
            self.objective.no_sync() if more and isinstance(self.objective, DistributedDataParallel) else nullcontext()
        )
        with wait:
            yield

    def _check(self) -> None:
        """Stop at the first update whose loss or gradient is not finite, before its state can be saved."""
        for update, batches, values in self.unchecked:
            loss, norm, rows = values.tolist()
            self.at.rows += int(rows)
            if not (math.isfinite(loss) and math.isfinite(norm)):
                ids = [
                    name
                    for part in distributed.gather([self.task.ids(batch) for batch in batches])
                    for batch in part
                    for name in batch
                ]
                good = self.checkpoints.updates()
                last = f"{self.checkpoints.folder.uri}/{good[-1]:08d}" if good else "none yet"
                others = f" and {len(ids) - 20} more" if len(ids) > 20 else ""
                raise Diverged(
                    f"update {update + 1}: loss {loss}, gradient norm {norm}. Last good checkpoint: {last}. "
                    f"Records of the update: {', '.join(ids[:20])}{others}. "
                    f"Lower training.learning_rate, set training.clip_norm, or look at these records"
                )
        self.unchecked = []

    def _record(self, losses: Losses, tokens: int, positions: int) -> None:
        window = self.window
        names = tuple(losses.metrics)
        values = torch.stack(
            [
                losses.total.detach().float(),
                losses.total.new_tensor(losses.divisor).float(),
                losses.total.new_tensor(float(losses.rows)).float(),
                *(value.detach().float() for value in losses.metrics.values()),
            ]
        )
        if window.names and names != window.names:  # a regime's warm-up ended: its metrics change
            window.sums, window.tokens, window.positions, window.start = None, 0, 0, time.monotonic()
        window.names = names
        window.sums = values if window.sums is None else window.sums + values
        window.tokens += tokens
        window.positions += positions

    def _maybe_write(self, rate: float, now: bool = False) -> None:
        window, elapsed = self.window, time.monotonic() - self.window.start
        if window.sums is None or (elapsed < RECORD_SECONDS and not now) or not self.leads:
            return
        total, divisor, rows, *sums = window.sums.tolist()
        metrics = {
            "train/loss": total / divisor,
            "train/learning_rate": rate,
            "train/tokens_per_second": window.tokens / elapsed * self.at.world,
            "train/padding": 1 - window.tokens / window.positions,
            "train/memory_gib": _memory(self.device),
        }
        metrics |= {f"train/{name}": value / rows for name, value in zip(window.names, sums, strict=True)}
        metrics["train/epochs"] = self.at.epoch + self.at.in_epoch / self.updates_per_epoch
        self.history.add(self.at.update, self.at.epoch, metrics)
        self.window = _Window(time.monotonic())

    def _validation_due(self) -> bool:
        every, epochs, updates = self.training.validate_every, self.training.max_epochs, self.training.max_updates
        last = (updates is not None and self.at.update >= updates) or (epochs is not None and self.at.epoch >= epochs)
        return last or (self.at.in_epoch == 0 if every is None else self.at.update % every == 0)

    def _validate(self) -> None:
        self._check()
        self._maybe_write(learning_rate(self.training, self.at.update, self.updates_per_epoch), now=True)
        self.module.eval()
        with torch.no_grad():
            validation = self.task.validate(self.device)
        score = validation.score if self.training.stop_on == "score" else -validation.loss
        self.patience.improved(score)
        self.at.best, self.at.waited = self.patience.best, self.patience.waited
        self.at.scores[self.at.update] = score
        self.at.validations += 1
        metrics = {
            "valid/loss": validation.loss,
            "valid/best": abs(self.patience.best),
            **{f"valid/{name}": value for name, value in validation.metrics.items()},
        }
        if self.leads:
            self.history.add(self.at.update, self.at.epoch, {**metrics, "train/seconds": self.at.seconds})
            self.history.flush()
        self._save(snapshot=False)
        self.report({**metrics, "validation": self.at.validations, "update": self.at.update, "epoch": self.at.epoch})
        self.window = _Window(time.monotonic())

    def _save(self, snapshot: bool) -> None:
        self._check()
        if self.leads:
            self.history.flush()
            self.checkpoints.save(self.module, self.optimizer, self.at, snapshot=snapshot)
        distributed.barrier()

    def _finish(self) -> None:
        chosen = self.checkpoints.chosen(self.at.scores)
        self.folder.write(AVERAGED, save(self.checkpoints.average(chosen)))
        reason = "patience" if self.patience.exhausted else "schedule"
        self.folder.write_json(OUTCOME, {
            "updates": self.at.update, "epochs": self.at.epoch, "rows": self.at.rows, "train_seconds": self.at.seconds,
            "best": self.patience.best if math.isfinite(self.patience.best) else None, "stopped_by": reason,
            "averaged": chosen, "workers": self.at.world,
            "device": torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu",
            "parameters": sum(parameter.numel() for parameter in self.trained),
        })  # fmt: skip

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Let Ctrl-C end the current update and save, where this process has the terminal."""
        if threading.current_thread() is not threading.main_thread() or distributed.world_size() > 1:
            yield
            return

        def ask(number: int, frame: Any) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def _optimizer(trained: list[nn.Parameter], training: Training) -> torch.optim.Optimizer:
    kind = torch.optim.AdamW if training.weight_decay else torch.optim.Adam
    return kind(
        trained,
        lr=training.learning_rate,
        betas=training.adam_betas,
        eps=training.adam_eps,
        weight_decay=training.weight_decay,
        fused=True,
    )


def _memory(device: torch.device) -> float:
    """Peak memory of this process in GiB: of the GPU where there is one, else resident."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
