"""The training loop: planned batches, one optimizer step per update, validation, checkpoints, early
stopping.

Nothing in it depends on the clock or on earlier randomness: batches are planned from (seed, pass,
world size) and torch is seeded from (seed, update, rank) before every update. A run that was killed
and continued from its last checkpoint therefore ends with the parameters of the undisturbed run,
bit for bit, on the same hardware.
"""

from __future__ import annotations

import math
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from augury.core.progress import say
from augury.core.rng import seed_of
from augury.regimes.regime import Losses, Progress
from augury.training import distributed
from augury.training.batching import plan_pass
from augury.training.beginning import Beginning
from augury.training.checkpoint import Checkpoints, Position, best, load_tensors
from augury.training.history import History
from augury.training.learner import Learner, Validation
from augury.training.processor import processor
from augury.training.run import TrainingRun
from augury.training.schedule import Patience, last_update, learning_rate
from augury.training.settings import Training
from augury.training.trained import OUTCOME, WEIGHTS

RECORD_SECONDS = 2.0
SNAPSHOT_SECONDS = 600.0

Report = Callable[[dict[str, float]], None]


class Diverged(ArithmeticError):
    """A loss or a gradient is not finite.

    The message names the update, the records and the last good checkpoint.
    """


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and has saved its state."""


class _Objective(nn.Module):
    """A task's loss as a module, so that data-parallel training sees one forward pass."""

    def __init__(self, task: Learner):
        super().__init__()
        self.module = task.module
        self._loss = task.loss

    def forward(self, batch: Any, progress: Progress) -> Losses:
        return self._loss(batch, progress)


@dataclass
class _Window:
    """Sums since the last record; tensors stay on their device until the record is due."""

    start: float
    tokens: int = 0
    positions: int = 0
    sums: Tensor | None = None
    names: tuple[str, ...] = ()


class _Clock:
    """Measures wall and processor time, added to those of a position."""

    def __init__(self, position: Position):
        self._wall = position.seconds - time.monotonic()
        self._cpu = (
            None if position.cpu_seconds is None else position.cpu_seconds - time.process_time()
        )

    def update(self, position: Position) -> None:
        position.seconds = self._wall + time.monotonic()
        position.cpu_seconds = None if self._cpu is None else self._cpu + time.process_time()


def fit(
    task: Learner,
    training: Training,
    run: TrainingRun,
    *,
    device: torch.device,
    report: Report | None = None,
    until: int | None = None,
    beginning: Beginning | None = None,
) -> None:
    """Train until the schedule, the patience or an interrupt ends it.

    Continue where an earlier call stopped.

    Training begins with the task's module as it is, or with what `beginning` holds. With `until`,
    return after that validation, counted from the start of the run, ready to be continued. `report`
    is called after every validation, when its checkpoint is written, and may end the call by
    raising. A finished run leaves `checkpoints/`, `history/`, and at the end `weights.safetensors`
    and `outcome.json` in the run's folder. Raises Diverged and Interrupted.
    """
    _Loop(task, training, run, device, report or (lambda metrics: None), until, beginning).run()


class _Loop:
    def __init__(
        self,
        task: Learner,
        training: Training,
        run: TrainingRun,
        device: torch.device,
        report: Report,
        until: int | None,
        beginning: Beginning | None,
    ):
        self.task, self.training, self.folder, self.device, self.report = (
            task,
            training,
            run.folder,
            device,
            report,
        )
        self.seed, self.until = run.seed, until
        self.module = task.module.to(device)
        world = distributed.world_size()
        objective = _Objective(task)
        self.objective: nn.Module = DistributedDataParallel(objective) if world > 1 else objective
        self.trained = [
            parameter for parameter in self.module.parameters() if parameter.requires_grad
        ]
        self.optimizer = _optimizer(self.trained, training)
        averages = training.weights in ("averaged", "chosen")
        self.checkpoints = Checkpoints(
            run.folder,
            training.average_last if averages else 1,
            keep_best=training.weights in ("best", "chosen"),
        )
        self.history = History(run.folder)
        start = Position(run.address, run.seed, world)
        if beginning is not None and not self.checkpoints.begun:
            start.start = beginning.load(self.module, self.optimizer)
        self.position = self.checkpoints.restore(self.module, self.optimizer, start)
        self.patience = Patience(
            training.patience, training.patience_mean, self.position.best, self.position.waited
        )
        self.leads = distributed.rank() == 0
        self.window = _Window(time.monotonic())
        self.unchecked: list[tuple[int, list[np.ndarray], Tensor]] = []
        self.interrupted = False

    def run(self) -> None:
        if self.leads:
            self.history.rewind(self.position.update)
        distributed.barrier()
        clock = _Clock(self.position)
        saved = time.monotonic()
        with self._stoppable():
            while not self._over():
                for update in self._pass():
                    self._step(update)
                    clock.update(self.position)
                    if self._validation_due():
                        self._validate()
                        saved = time.monotonic()
                        if self._over():
                            break
                    elif self.interrupted or (
                        distributed.world_size() == 1
                        and time.monotonic() - saved > SNAPSHOT_SECONDS
                    ):
                        self._save(snapshot=True)
                        saved = time.monotonic()
                    if self.interrupted:
                        raise Interrupted(f"stopped after update {self.position.update}")
        if self._ended():
            self._finish()
        distributed.barrier()
        if self.interrupted:
            raise Interrupted(f"stopped after update {self.position.update}, the last one")

    def _over(self) -> bool:
        return self._ended() or (self.until is not None and self.position.validations >= self.until)

    def _ended(self) -> bool:
        return self.patience.exhausted or self._spent()

    def _spent(self) -> bool:
        """Whether the budget of passes or that of updates is reached."""
        passes, updates = self.training.max_passes, self.training.max_updates
        return (passes is not None and self.position.passes >= passes) or (
            updates is not None and self.position.update >= updates
        )

    def _pass(self) -> Iterator[list[np.ndarray]]:
        """Yield this worker's batches of every update that is left in the pass."""
        plan = plan_pass(
            self.task.lengths,
            max_tokens=self.training.max_tokens,
            max_examples=self.training.max_examples,
            order=self.training.order,
            seed=self.seed,
            number=self.position.passes,
            groups=self.task.group_rows,
            weights=self.task.weights,
            world=self.position.world,
            accumulation=self.training.accumulation,
        )
        self.position.updates_per_pass = len(plan)
        self._warn_of_late_onset()
        if self.position.in_pass >= len(
            plan
        ):  # that of another member of a population, whose pass was longer
            self.position.passes, self.position.in_pass = self.position.passes + 1, 0
            return
        for update in plan[self.position.in_pass :]:
            yield update[distributed.rank()]

    def _warn_of_late_onset(self) -> None:
        per_pass = self.position.updates_per_pass
        onset, last = self.task.onset(per_pass), last_update(self.training, per_pass)
        if self.position.update == 0 and self.leads and onset >= last:
            say(
                f"warning: the regime's warm-up ends after update {onset:,.0f}, and training after "
                f"update {last:,}: "
                "what comes after the warm-up never acts; shorten it (regime.warmup_steps, "
                "regime.warmup_passes, "
                "regime.ramp_passes) or train longer"
            )

    def _step(self, batches: list[np.ndarray]) -> None:
        """Do one update: the gradient of the sum of losses, divided once by the divisor over
        batches and workers."""
        update, progress = (
            self.position.update,
            Progress(self.position.update, self.position.all_passes),
        )
        torch.manual_seed(seed_of(self.seed, "update", update, distributed.rank()))
        self.module.train()
        self.optimizer.zero_grad(set_to_none=True)
        totals = torch.zeros(3, device=self.device)  # loss, divisor, rows
        for index, examples in enumerate(batches):
            loaded = self.task.load(examples, self.position.passes, self.device)
            with self._accumulating(index < len(batches) - 1):
                with torch.autocast(
                    self.device.type, torch.bfloat16, enabled=self.training.precision == "bf16"
                ):
                    losses = self.objective(loaded.batch, progress)
                losses.total.backward()
            totals += torch.stack(
                [
                    losses.total.detach().float(),
                    totals.new_tensor(losses.divisor),
                    totals.new_tensor(losses.rows),
                ]
            )
            self._record(losses, loaded.tokens, loaded.positions)
        distributed.sum_over_workers(totals)
        gradients = [parameter.grad for parameter in self.trained if parameter.grad is not None]
        # Data-parallel training takes the mean over workers.
        torch._foreach_mul_(gradients, self.position.world / totals[1])
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.training.clip_norm:
            torch.nn.utils.clip_grads_with_norm_(self.trained, self.training.clip_norm, norm)
        self.unchecked.append(
            (update, batches, torch.stack([totals[0] / totals[1], norm, totals[2]]))
        )
        if (
            self.device.type == "cpu" or len(self.unchecked) == 20
        ):  # looking at a number makes a GPU wait
            self._check()
        rate = self._rate(update + 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.position.advance()
        self._maybe_write(rate)

    def _rate(self, update: int) -> float:
        """The learning rate of an update, from 1."""
        return learning_rate(
            self.training, self.position.start + update, self.position.updates_per_pass
        )

    @contextmanager
    def _accumulating(self, more: bool) -> Iterator[None]:
        """Exchange gradients between workers only with the last batch of an update."""
        wait = (
            self.objective.no_sync()
            if more and isinstance(self.objective, DistributedDataParallel)
            else nullcontext()
        )
        with wait:
            yield

    def _check(self) -> None:
        """Stop at the first update whose loss or gradient is not finite, before its state can be
        saved."""
        for update, batches, values in self.unchecked:
            loss, norm, rows = values.tolist()
            self.position.rows += int(rows)
            if not (math.isfinite(loss) and math.isfinite(norm)):
                ids = [
                    name
                    for part in distributed.gather([self.task.ids(batch) for batch in batches])
                    for batch in part
                    for name in batch
                ]
                good = self.checkpoints.updates()
                last = f"{self.checkpoints.folder.uri}/{good[-1]:08d}" if good else "none yet"
                more = f" and {len(ids) - 20} more" if len(ids) > 20 else ""
                raise Diverged(
                    f"update {update + 1}: loss {loss}, gradient norm {norm}. Last good "
                    f"checkpoint: {last}. "
                    f"Records of the update: {', '.join(ids[:20])}{more}. "
                    "Lower training.learning_rate, set training.clip_norm, or look at these "
                    "records"
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
            window.sums, window.tokens, window.positions, window.start = (
                None,
                0,
                0,
                time.monotonic(),
            )
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
            "train/tokens_per_second": window.tokens / elapsed * self.position.world,
            "train/padding": 1 - window.tokens / window.positions,
            "train/memory_gib": _memory(self.device),
        }
        metrics |= {
            f"train/{name}": value / rows for name, value in zip(window.names, sums, strict=True)
        }
        self.history.add(self.position.update, self.position.all_passes, metrics)
        self.window = _Window(time.monotonic())

    def _validation_due(self) -> bool:
        position = self.position
        return self._spent() or self.training.validates(
            position.update, position.passes, position.in_pass
        )

    def _validate(self) -> None:
        self._check()
        self._maybe_write(self._rate(self.position.update), now=True)
        validation = self._validation()
        score = self._score(validation)
        self.position.scores[self.position.update] = score
        self.patience.count([*self.position.scores.values()])
        self.position.best, self.position.waited = self.patience.best, self.patience.waited
        self.position.validations += 1
        metrics = {
            "valid/loss": validation.loss,
            **(
                {"valid/best": abs(self.patience.best)} if math.isfinite(self.patience.best) else {}
            ),
            **{f"valid/{name}": value for name, value in validation.metrics.items()},
        }
        if self.leads:
            times = {
                "train/seconds": self.position.seconds,
                "train/cpu_seconds": self.position.cpu_seconds,
            }
            recorded = {name: seconds for name, seconds in times.items() if seconds is not None}
            self.history.add(self.position.update, self.position.all_passes, metrics | recorded)
            self.history.flush()
        self._save(snapshot=False)
        self.report(
            {
                **metrics,
                "validation": self.position.validations,
                "update": self.position.update,
                "passes": self.position.all_passes,
            }
        )
        self.window = _Window(time.monotonic())

    def _save(self, snapshot: bool) -> None:
        self._check()
        if self.leads:
            self.history.flush()
            self.checkpoints.save(self.module, self.optimizer, self.position, snapshot=snapshot)
        distributed.barrier()

    def _validation(self) -> Validation:
        """Measure the present weights on validation text."""
        self.module.eval()
        with torch.no_grad():
            return self.task.validate(self.device)

    def _score(self, validation: Validation) -> float:
        return validation.score if self.training.stop_on == "score" else -validation.loss

    def _finish(self) -> None:
        """Write the weights to report on, and the outcome of training."""
        weights, tensors = self._weights()
        if not self.leads:
            return
        self.folder.write(WEIGHTS, save(tensors))
        cpu_seconds = self.position.cpu_seconds  # of the first worker; all do equal work
        outcome = {
            "updates": self.position.update,
            "passes": self.position.all_passes,
            "onset": self.task.onset(self.position.updates_per_pass),
            "rows": self.position.rows,
            "train_seconds": self.position.seconds,
            "cpu_seconds": None if cpu_seconds is None else cpu_seconds * self.position.world,
            "best": self.patience.best if math.isfinite(self.patience.best) else None,
            "stopped_by": "patience" if self.patience.exhausted else "schedule",
            "weights": weights,
            "workers": self.position.world,
            "device": torch.cuda.get_device_name(self.device)
            if self.device.type == "cuda"
            else "cpu",
            "processor": processor(),
            "parameters": sum(parameter.numel() for parameter in self.trained),
        }
        self.folder.write_json(OUTCOME, outcome)

    def _weights(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the kind of weights, the updates they come from and the scores they were chosen
        by; and tensors."""
        kind: str = self.training.weights
        last, scores = self.checkpoints.last(), self.position.scores
        candidates = {"averaged": last, "best": [best(scores)], "last": last[-1:]}
        by_kind = {"best": max(scores.values()), "last": scores[last[-1]]}
        if kind == "chosen":
            tensors = self.checkpoints.average(last)
            load_tensors(self.module, tensors, "the mean of checkpoints")
            mean = self._score(self._validation()) if len(last) > 1 else by_kind["last"]
            by_kind = {"averaged": mean, **by_kind}
            kind = max(by_kind, key=lambda name: by_kind[name])  # of equal ones the first
        weights = {"kind": kind, "updates": candidates[kind], "scores": by_kind}
        return weights, self.checkpoints.average(candidates[kind])

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Let Ctrl-C end the current update and save, where this process has the terminal."""
        if (
            threading.current_thread() is not threading.main_thread()
            or distributed.world_size() > 1
        ):
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
    """Return Adam, with decoupled decay of what the settings say."""
    kind = torch.optim.AdamW if training.weight_decay else torch.optim.Adam
    groups: list[dict[str, Any]] = [{"params": trained, "weight_decay": training.weight_decay}]
    if training.weight_decay and training.decayed == "matrices":
        matrices = [parameter for parameter in trained if parameter.ndim > 1]
        vectors = [parameter for parameter in trained if parameter.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": training.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
    return kind(
        [group for group in groups if group["params"]],
        lr=training.learning_rate,
        betas=training.adam_betas,
        eps=training.adam_eps,
        fused=True,
    )


def _memory(device: torch.device) -> float:
    """Return the peak memory of this process in GiB: of the GPU where there is one, else
    resident."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
