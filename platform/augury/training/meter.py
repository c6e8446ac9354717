"""Measurements of training: means of losses, tokens a second, memory, time, and the processor."""

from __future__ import annotations

import platform
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augury.regimes.regime import Losses
from augury.training.learner import Loaded

CPUINFO = Path("/proc/cpuinfo")


def loss_sums(losses: Losses) -> Tensor:
    """Return loss, divisor and rows of a batch as one detached tensor (3,), in fp32."""
    total = losses.total.detach().float()
    return torch.stack([total, total.new_tensor(losses.divisor), total.new_tensor(losses.rows)])


class Meter:
    """Sums over the batches since the last record, kept on their device.

    A number is read from the device only when a record is due, as reading makes a GPU wait.
    """

    def __init__(self, state: Mapping[str, Any], device: torch.device):
        """`state` is that of the meter to go on from; empty: none."""
        self._names: tuple[str, ...]
        self._sums: Tensor | None
        self.restart()
        if state:
            self._names, self._sums = tuple(state["names"]), torch.tensor(state["sums"]).to(device)
            self._tokens, self._positions = state["tokens"], state["positions"]

    def restart(self) -> None:
        """Begin a new record."""
        self._start = time.monotonic()
        self._names, self._sums = (), None
        self._tokens = self._positions = 0

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

    def state(self) -> dict[str, Any]:
        """Return the sums since the last record, as plain values; empty without a batch."""
        if self._sums is None:
            return {}
        return {
            "names": [*self._names],
            "sums": self._sums.tolist(),
            "tokens": self._tokens,
            "positions": self._positions,
        }

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


def _memory(device: torch.device) -> float:
    """Return the peak memory of this process in GiB: the GPU's where it uses one, else resident."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def processor() -> str:
    """Return the processor's model and vector instructions: `AMD EPYC (26/2), AVX512 bf16`."""
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    facts = {}
    for line in lines:
        name, _, value = line.partition(":")
        facts[name.strip()] = value.strip()
    model = facts.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in facts:  # virtual machines often hide the rest of the name
        model += f" ({facts['cpu family']}/{facts.get('model', '')})"
    bf16 = " bf16" if "avx512_bf16" in facts.get("flags", "") else ""
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}{bf16}"
