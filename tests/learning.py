"""Train a small model until it has learned: steps that are counted teach less on one processor
than on another."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def learn(
    module: nn.Module,
    losses: Callable[[], Tensor],
    rate: float,
    until: Callable[[Tensor], Tensor | bool],
) -> None:
    """Minimise the mean of the losses with Adam until they meet a condition; AssertionError if
    they never do."""
    optimizer = torch.optim.Adam(module.parameters(), lr=rate)
    for _ in range(2000):
        loss = losses()
        if until(loss.detach()):
            return
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
    raise AssertionError(f"not learned in 2,000 steps: loss {loss.mean()}")
