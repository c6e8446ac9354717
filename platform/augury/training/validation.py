"""The likelihood of held-out rows under a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from augury.regimes.objective import view_objective
from augury.regimes.regime import Rows
from augury.training import distributed
from augury.training.batching import Lengths, batches_by_length


class Likelihood(NamedTuple):
    """The mean negative log-likelihood of a row, not smoothed, and the share of rows predicted."""

    loss: float
    accuracy: float

    @property
    def perplexity(self) -> float:
        """The exponential of the loss, or of 50 where that is more."""
        return math.exp(min(self.loss, 50))


def likelihood(
    rows: Callable[[np.ndarray], Rows], lengths: Lengths, max_tokens: int, device: torch.device
) -> Likelihood:
    """Return the likelihood of the first view of all examples, computed by all workers together.

    `rows` are those of a batch of examples, given their numbers; `lengths` (examples) are theirs,
    and a batch has at most `max_tokens` or is one example.
    """
    budget = max(max_tokens, int(lengths.cost.max()))
    sums = torch.zeros(3, dtype=torch.float64)
    for examples in distributed.share(batches_by_length(lengths, budget)):
        batch = rows(examples)
        terms = view_objective(batch.hidden, batch.weight, batch.bias, batch.labels, weights=[1.0])
        sums += torch.tensor([float(terms.nll[0]), float(terms.correct[0]), batch.labels.numel()])
    nll, correct, count = distributed.sum_over_workers(sums.to(device)).tolist()
    return Likelihood(nll / count, correct / count)
