"""Measurements of training: means of losses, tokens a second, memory and time."""

from __future__ import annotations

import resource
import time

import torch
from torch import Tensor

from augury.regimes.regime import Losses
from augury.training.checkpoint import Position
from augury.training.learner import Loaded

RECORD_SECONDS = 2.0


def loss_sums(losses: Losses) -> Tensor:
    """Return loss, divisor and rows of a batch as one detached tensor (3,), in fp32."""
    total = losses.total.detach().float()
    return torch.stack([total, total.new_tensor(losses.divisor), total.new_tensor(losses.rows)])


class Meter:
    """Sums over the batches since the last record, kept on their device.

    A number is read from the device only when a record is due, as reading makes a GPU wait.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin a new record."""
        self._start = time.monotonic()
        self._tokens = self._positions = 0
        self._names: tuple[str, ...] = ()
        self._sums: Tensor | None = None

    def add(self, losses: Losses, loaded: Loaded) -> None:
        """Add a batch."""
        names = tuple(losses.metrics)
        if self._names and names != self._names:  # a regime's warm-up ended: its metrics change
            self.restart()
        metrics = [value.detach().float() for value in losses.metrics.values()]
        sums = torch.cat([loss_sums(losses), *(value.reshape(1) for value in metrics)])
        self._sums = sums if self._sums is None else self._sums + sums
        self._names = names
        self._tokens += loaded.tokens
        self._positions += loaded.positions

    @property
    def due(self) -> bool:
        """Whether it is time for a record."""
        return time.monotonic() - self._start >= RECORD_SECONDS

    def metrics(self, workers: int) -> dict[str, float]:
        """Return the metrics of the batches, and begin a new record; none without a batch.

        Loss and the regime's metrics are means over this worker's rows; tokens a second are those
        of all `workers`.
        """
        if self._sums is None:
            return {}
        elapsed = time.monotonic() - self._start
        total, divisor, rows, *sums = self._sums.tolist()
        metrics = {
            "train/loss": total / divisor,
            "train/tokens_per_second": self._tokens / elapsed * workers,
            "train/padding": 1 - self._tokens / self._positions,
            "train/memory_gib": _memory(self._sums.device),
        }
        for name, value in zip(self._names, sums, strict=True):
            metrics[f"train/{name}"] = value / rows
        self.restart()
        return metrics


class Clock:
    """Wall and processor time of training, added to those of a position."""

    def __init__(self, position: Position):
        self._wall = position.seconds - time.monotonic()
        self._cpu = position.cpu_seconds - time.process_time()

    def stamp(self, position: Position) -> None:
        """Set the times of a position."""
        position.seconds = self._wall + time.monotonic()
        position.cpu_seconds = self._cpu + time.process_time()


def _memory(device: torch.device) -> float:
    """Return the peak memory of this process in GiB: the GPU's where it uses one, else resident."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
