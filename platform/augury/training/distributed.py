"""The collective operations of the loop; without a process group there is one worker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import psutil
import torch.distributed as dist
from torch import Tensor


def connect_by(address: str) -> None:
    """Let gloo use the network interface with an IP address, unless the environment names one.

    By itself it takes that of the machine's name, which leads to 127.0.0.1 on many machines.
    """
    for name, addresses in psutil.net_if_addrs().items():
        if any(known.address == address for known in addresses):
            os.environ.setdefault("GLOO_SOCKET_IFNAME", name)


def rank() -> int:
    """Return this worker's number."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Return the number of workers."""
    return dist.get_world_size() if dist.is_initialized() else 1


def sum_over_workers(values: Tensor) -> Tensor:
    """Sum a tensor over workers, in place, and return it."""
    if world_size() > 1:
        dist.all_reduce(values)
    return values


def gather(value: Any) -> list[Any]:
    """Return every worker's value, in the order of ranks, on every worker."""
    if world_size() == 1:
        return [value]
    values: list[Any] = [None] * world_size()
    dist.all_gather_object(values, value)
    return values


def barrier() -> None:
    """Wait for all workers."""
    if world_size() > 1:
        dist.barrier()


def share(items: Sequence[Any]) -> list[Any]:
    """Return this worker's part of `items`: every world-size-th from its rank on."""
    return list(items[rank() :: world_size()])


def unshare(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the whole sequence from every worker's `share`, in order."""
    total = sum(len(part) for part in parts)
    return [parts[index % len(parts)][index // len(parts)] for index in range(total)]
