"""The training loop: one optimizer step per update, validations, checkpoints, early stopping.

Nothing in it depends on the clock or on earlier randomness: batches are planned from (seed, epoch,
world size), and torch and dropout are seeded from (seed, update, rank) before every update. A run
that was killed and continued from its last checkpoint therefore ends with the parameters of the
undisturbed run, bit for bit, on the same hardware.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from augury.core.messages import say
from augury.core.rng import seed_of
from augury.regimes.regime import Losses, Progress, late_onset
from augury.training import distributed
from augury.training.batching import plan_epoch
from augury.training.checkpoint import Checkpoints, Position, best, load_tensors
from augury.training.dropout import Dropout
from augury.training.history import REMOTE_FLUSH_SECONDS, History
from augury.training.learner import Learner, Validation
from augury.training.meter import Meter, loss_sums, processor
from augury.training.schedule import Patience, adam, last_update, learning_rate
from augury.training.settings import Training
from augury.training.trained import (
    WEIGHTS,
    Diverged,
    Initialisation,
    OnValidation,
    Outcome,
    ReportedWeights,
    TrainingRun,
)

SNAPSHOT_SECONDS = 600.0
RECORD_UPDATES = 20
"""Updates between two records of the history, and of a GPU's losses that are read at a time: a
number, and not a time, so that the histories of identical runs are identical."""
NOTICE = b"\nstopping after this update; again to stop at once, without saving\n"


class Trainer:
    """One training with its state; `fit` runs it, `step` makes one update.

    It continues where an earlier one stopped; a new run starts with the learner's module as it is,
    or with the state of `init_from`. `own_dropout` says whether masks on a CPU are those of
    `Dropout`, which `torch.compile` cannot read, or torch's.
    """

    def __init__(
        self,
        learner: Learner,
        training: Training,
        run: TrainingRun,
        *,
        device: torch.device,
        init_from: Initialisation | None = None,
        own_dropout: bool = True,
    ):
        self.learner, self.training, self.run, self.device = learner, training, run, device
        self.module = learner.module.to(device)
        self.own_dropout = own_dropout and device.type == "cpu"
        self.parameters = [
            parameter for parameter in self.module.parameters() if parameter.requires_grad
        ]
        objective: nn.Module = _Objective(learner)
        self.objective = (
            DistributedDataParallel(objective) if distributed.world_size() > 1 else objective
        )
        self.optimizer = adam(self.parameters, training)
        averages = training.weights in ("averaged", "chosen")
        self.checkpoints = Checkpoints(
            run.folder,
            training.average_last if averages else 1,
            keep_best=training.weights in ("best", "chosen"),
        )
        self.history = History(run.folder)
        self.written = -math.inf
        """When history and checkpoints were last written to the run's folder."""
        start = Position(run.address, run.seed, distributed.world_size())
        # A run that has begun goes on from its own checkpoint, which is initialised already.
        if init_from is not None and not self.checkpoints.begun:
            start.start = init_from.load(self.module, self.optimizer)
        self.position = self.checkpoints.restore(self.module, self.optimizer, start)
        self.patience = Patience(training.patience)
        for score in self.position.scores.values():
            self.patience.count(score)
        self.meter = Meter(self.position.measured, device)
        self.unread: list[tuple[int, list[np.ndarray], Tensor]] = []
        """Number, batches and (loss, gradient norm, rows) of updates not checked yet."""
        self.most_unread = 1 if device.type == "cpu" else RECORD_UPDATES

    # ----- the loop

    def fit(self, on_validation: OnValidation, deadline: float | None = None) -> None:
        """Train until the schedule, the patience or an interrupt ends it, or to the first
        validation after `deadline`, in Unix time, to be continued.

        `on_validation` is called when the checkpoint of a validation is saved, and may end the call
        by raising. A run leaves `checkpoints/` and its history in its folder, a finished one
        `weights.safetensors` and `outcome.json` too. Raises Diverged and Interrupted.
        """
        position = self.position
        if distributed.rank() == 0:
            if position.update:
                say(f"{self.run.folder.uri}: continues after update {position.update:,}")
            # What a killed call recorded after its last checkpoint, this one trains again.
            self.history.rewind(position.update)
        distributed.barrier()
        saved, late = time.monotonic(), False
        # When training would have begun without interruptions, by both clocks.
        began = time.monotonic() - position.seconds
        cpu_began = time.process_time() - position.cpu_seconds
        with _interrupts() as interrupted, self._writing():
            while not (self.finished or late):
                for batches in self.rest_of_epoch():
                    self.step(batches)
                    position.seconds = time.monotonic() - began
                    position.cpu_seconds = time.process_time() - cpu_began
                    # Where the settings say so, and always at the end.
                    if self.training.validates(position) or self.training.spent(position):
                        on_validation(self._validate())
                        self.meter.restart()  # its tokens a second are of training alone
                        saved = time.monotonic()
                        # On any worker: clocks differ, and all have to agree.
                        past = deadline is not None and time.time() > deadline
                        late = any(distributed.gather(past))
                    elif interrupted.is_set() or (
                        # Clocks differ between workers, and a snapshot needs all of them: one
                        # worker alone makes snapshots.
                        position.world == 1 and time.monotonic() - saved > SNAPSHOT_SECONDS
                    ):
                        self._save(snapshot=True)
                        saved = time.monotonic()
                    # Patience, a budget of updates or a deadline may end training in an epoch.
                    if self.finished or late:
                        break
                    if interrupted.is_set():
                        raise Interrupted(f"stopped after update {position.update}")
        if self.finished:  # first: an interrupt at the last update costs no outcome
            self._write_outcome()
        distributed.barrier()
        if interrupted.is_set():
            raise Interrupted(f"stopped after update {position.update}, the last one")

    def rest_of_epoch(self) -> Iterator[list[np.ndarray]]:
        """Yield this worker's batches of every update that is left in the epoch."""
        position = self.position
        # A function of the epoch's number: a resumed run plans the whole epoch again and goes on
        # in its middle, without any state of the plan in checkpoints.
        plan = plan_epoch(
            self.learner.lengths,
            max_tokens=self.training.max_tokens,
            max_examples=self.training.max_examples,
            order=self.training.order,
            seed=self.run.seed,
            epoch=position.epochs,
            groups=self.learner.group_rows,
            weights=self.learner.weights,
            world=position.world,
            accumulation=self.training.accumulation,
        )
        position.updates_per_epoch = len(plan)  # settings in epochs need their length in updates
        if position.update == 0 and distributed.rank() == 0:
            onset = self.learner.onset(position.updates_per_epoch)
            if late := late_onset(onset, last_update(self.training, len(plan))):
                say(f"warning: {late}")
        for update in plan[position.in_epoch :]:
            yield update[distributed.rank()]

    @property
    def finished(self) -> bool:
        """Whether patience or the budget has ended training."""
        return self.patience.exhausted or self.training.spent(self.position)

    # ----- an update

    def step(self, batches: list[np.ndarray]) -> None:
        """Make one update from this worker's batches."""
        position = self.position
        progress = Progress(position.update, position.all_epochs)
        # Dropout of an update depends on nothing before it, so that a resumed run repeats it.
        seed = seed_of(self.run.seed, "update", position.update, distributed.rank())
        if self.device.type == "cpu":
            # Its generator alone: torch formats a traceback where it cannot seed GPUs yet.
            torch.default_generator.manual_seed(seed)
        else:
            torch.manual_seed(seed)
        bf16 = self.training.precision == "bf16"
        dropout: AbstractContextManager[Any] = Dropout(seed) if self.own_dropout else nullcontext()
        self.module.train()
        self.optimizer.zero_grad(set_to_none=True)

        # Gradients of sums, batch after batch: a mean of means would weigh short batches more.
        sums = torch.zeros(3, device=self.device)  # loss, divisor, rows
        for number, examples in enumerate(batches, start=1):
            loaded = self.learner.load(examples, position.epochs, self.device)
            exchange: AbstractContextManager[None] = nullcontext()
            # One exchange of gradients between workers, at the last batch, is enough.
            if isinstance(self.objective, DistributedDataParallel) and number < len(batches):
                exchange = self.objective.no_sync()
            with exchange:
                with dropout, torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
                    losses: Losses = self.objective(loaded.batch, progress)
                losses.total.backward()
            sums += loss_sums(losses)
            self.meter.add(losses, loaded)

        # Divided once, by the divisor of all batches and workers. Data-parallel training has taken
        # the mean over workers, which the factor `world` undoes.
        loss, divisor, rows = distributed.sum_over_workers(sums)
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        torch._foreach_mul_(gradients, position.world / divisor)
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.training.clip_norm:
            torch.nn.utils.clip_grads_with_norm_(self.parameters, self.training.clip_norm, norm)

        # Reading a number makes a GPU wait: there the check comes some updates late, but always
        # before state is saved.
        self.unread.append((position.update, batches, torch.stack([loss / divisor, norm, rows])))
        if len(self.unread) >= self.most_unread:
            self._check_finite()

        # Schedules count updates from 1, or the first one of a warm-up would have the rate 0.
        rate = self._learning_rate(position.update + 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        position.advance()
        if position.update % RECORD_UPDATES == 0:
            self._record()

    def _learning_rate(self, update: int) -> float:
        """Return the learning rate of an update, from 1."""
        step = self.position.start + update
        return learning_rate(self.training, step, self.position.updates_per_epoch)

    def _check_finite(self) -> None:
        """Stop at the first update whose loss or gradient is not finite; count rows."""
        for update, batches, values in self.unread:
            loss, norm, rows = values.tolist()
            self.position.rows += int(rows)
            if math.isfinite(loss) and math.isfinite(norm):
                continue
            # Sums and norm are those of all workers, so all of them are here, and gathering ends.
            ids: list[str] = []
            for worker in distributed.gather([self.learner.ids(batch) for batch in batches]):
                for batch in worker:
                    ids += batch
            kept = self.checkpoints.updates()
            # By its name in the storage, which keeps the message and can be moved.
            last = self.checkpoints.folder.sub(f"{kept[-1]:08d}").name if kept else "none yet"
            more = f" and {len(ids) - 20} more" if len(ids) > 20 else ""
            raise Diverged(
                f"update {update + 1}: loss {loss}, gradient norm {norm}. Last good checkpoint: "
                f"{last}. Records of the update: {', '.join(ids[:20])}{more}. Lower "
                "training.learning_rate, set training.clip_norm, or look at these records"
            )
        self.unread = []

    def _record(self) -> None:
        """Add the first worker's mean losses since the last record to the history."""
        if distributed.rank() == 0 and (metrics := self.meter.metrics(self.position.world)):
            metrics["train/learning_rate"] = self._learning_rate(self.position.update)
            self.history.add(self.position.update, self.position.all_epochs, metrics)

    # ----- validations and checkpoints

    def _validate(self) -> dict[str, float]:
        """Validate, save a checkpoint, and return the metrics to report."""
        self._check_finite()  # first: scores of diverged weights would look like results
        position = self.position
        self._record()
        validation = self._validation()
        position.scores[position.update] = self._score(validation)
        self.patience.count(position.scores[position.update])

        metrics = {"valid/loss": validation.loss}
        # Patience takes the higher for the better, so that its best loss is a negative number.
        if math.isfinite(self.patience.best):
            metrics["valid/best"] = abs(self.patience.best)
        for name, value in validation.metrics.items():
            metrics[f"valid/{name}"] = value
        if distributed.rank() == 0:
            times = {"train/seconds": position.seconds, "train/cpu_seconds": position.cpu_seconds}
            self.history.add(position.update, position.all_epochs, metrics | times)
        self._save(snapshot=False)
        return metrics | {
            "validation": len(position.scores),
            "update": position.update,
            "epochs": position.all_epochs,
        }

    def _validation(self) -> Validation:
        """Measure the module on the validation set."""
        self.module.eval()
        with torch.no_grad():
            return self.learner.validate(self.device)

    def _score(self, validation: Validation) -> float:
        """Return the quantity that early stopping looks at; higher is better."""
        return validation.score if self.training.stop_on == "score" else -validation.loss

    def _save(self, snapshot: bool) -> None:
        self._check_finite()  # a checkpoint is what one goes back to after a divergence
        if distributed.rank() == 0:
            self.position.measured = self.meter.state()
            self.checkpoints.save(self.module, self.optimizer, self.position, snapshot=snapshot)
            pause = 0.0 if self.run.folder.is_local else REMOTE_FLUSH_SECONDS
            if time.monotonic() - self.written >= pause:
                self._write()
        distributed.barrier()  # a worker that went on and failed would end rank 0 while it writes

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write what is saved when the block ends, however it ends, but by an error of the storage,
        which would have to be waited for again."""
        try:
            yield
        except OSError:
            raise
        except BaseException:
            self._write()
            raise
        self._write()

    def _write(self) -> None:
        """Write history and checkpoints to the run's folder."""
        if distributed.rank() == 0:
            # History first: a resumed run drops records after its checkpoint, and has no others.
            self.history.flush()
            self.checkpoints.write()
            self.written = time.monotonic()

    # ----- the end

    def _write_outcome(self) -> None:
        """Write the weights to report on, and what training came to."""
        weights, tensors = self._reported_weights()  # on all workers, which validate together
        if distributed.rank() > 0:
            return
        position, cuda = self.position, self.device.type == "cuda"
        self.run.folder.write(WEIGHTS, save(tensors))
        outcome = Outcome(
            updates=position.update,
            epochs=position.all_epochs,
            onset=self.learner.onset(position.updates_per_epoch),
            rows=position.rows,
            train_seconds=position.seconds,
            cpu_seconds=position.cpu_seconds * position.world,  # all workers do equal work
            best=self.patience.best if math.isfinite(self.patience.best) else None,
            stopped_by="patience" if self.patience.exhausted else "schedule",
            weights=weights,
            workers=position.world,
            device=torch.cuda.get_device_name(self.device) if cuda else "cpu",
            processor=processor(),
            parameters=sum(parameter.numel() for parameter in self.parameters),
        )
        outcome.write(self.run.folder)

    def _reported_weights(self) -> tuple[ReportedWeights, dict[str, Tensor]]:
        """Return the weights to report on, and their tensors."""
        kind: str = self.training.weights
        last, scores = self.checkpoints.last(), self.position.scores
        updates = {"averaged": last, "best": [best(scores)], "last": last[-1:]}
        score_of = {"best": max(scores.values()), "last": scores[last[-1]]}
        if kind == "chosen":
            # The mean has no score yet: no validation has seen it. One checkpoint is its own mean.
            tensors = self.checkpoints.average(last)
            load_tensors(self.module, tensors, "the mean of checkpoints")
            mean = self._score(self._validation()) if len(last) > 1 else score_of["last"]
            score_of = {"averaged": mean, **score_of}
            kind = max(score_of, key=lambda name: score_of[name])  # averaged wins a tie, then best
        reported = ReportedWeights(kind, tuple(updates[kind]), score_of)
        return reported, self.checkpoints.average(updates[kind])


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and has saved its state."""


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets, so that training ends between two updates, where
    its state can be saved; a second one interrupts at once."""
    requested = threading.Event()
    # Python sets handlers in the main thread only. Of several workers none may stop alone: the
    # others would wait for its gradients.
    if threading.current_thread() is not threading.main_thread() or distributed.world_size() > 1:
        yield requested
        return

    def request(number: int, frame: FrameType | None) -> None:
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()
        # Not a message: what is being printed may be interrupted here.
        with suppress(OSError, ValueError, AttributeError):  # standard error may be no file
            os.write(sys.stderr.fileno(), NOTICE)

    before = signal.signal(signal.SIGINT, request)
    try:
        yield requested
    finally:
        signal.signal(signal.SIGINT, before)


class _Objective(nn.Module):
    """A learner's loss as a module, so that data-parallel training sees one forward pass."""

    def __init__(self, learner: Learner):
        super().__init__()
        self.module = learner.module
        self._loss = learner.loss

    def forward(self, batch: Any, progress: Progress) -> Losses:
        return self._loss(batch, progress)
