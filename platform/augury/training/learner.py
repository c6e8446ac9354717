"""The contract of a learner, what the loop trains; and what learners have in common: the likelihood
of held-out rows, and compiled layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from augury.regimes.objective import view_objective
from augury.regimes.regime import Losses, Progress, Rows
from augury.training import distributed
from augury.training.batching import Lengths, batches_by_length

RECOMPILE_LIMIT = 64
"""Variants of a compiled layer: torch's own limit of 8 is reached by encoder and decoder in
training, evaluation and attack, for sizes of 1 and above."""


class Loaded(NamedTuple):
    """A batch on its device, with its number of tokens and of positions, padding included."""

    batch: Any
    tokens: int
    positions: int


class Validation(NamedTuple):
    """`loss` per row, `score` (higher is better) and further metrics of the validation set."""

    loss: float
    score: float
    metrics: dict[str, float]


class Learner(Protocol):
    """A model with its training examples and its validation set."""

    module: nn.Module
    lengths: Lengths
    group_rows: list[int]
    """The number of rows of every view group of the regime, the first ones."""
    weights: np.ndarray | None
    """How often an epoch reads every row, (rows,); None: each once."""

    def onset(self, updates_per_epoch: float) -> float:
        """Return the number of updates after which all of the regime's loss acts."""

    def load(self, examples: np.ndarray, epoch: int, device: torch.device) -> Loaded:
        """Return the batch of these example numbers in an `epoch`, from 0."""

    def ids(self, examples: np.ndarray) -> list[str]:
        """Return the record ids of these example numbers, for messages."""

    def loss(self, batch: Any, progress: Progress) -> Losses:
        """Return the regime's loss of a batch, at a point of training."""

    def validate(self, device: torch.device) -> Validation:
        """Return loss and score on the validation set, computed by all workers together, equal on
        all."""


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
        terms = view_objective(*batch, weights=[1.0])
        sums += torch.tensor([float(terms.nll[0]), float(terms.correct[0]), batch.labels.numel()])
    nll, correct, count = distributed.sum_over_workers(sums.to(device)).tolist()
    return Likelihood(nll / count, correct / count)


def compile_layers(module: nn.Module, backend: str = "inductor") -> None:
    """Let `torch.compile` translate every layer of a model at its first call, in place.

    Layers, which a model keeps in lists, are compiled one by one: equal ones share their code, so
    that the time to compile does not grow with depth. Sizes above 1 are symbols of it, so that
    batches of other shapes need no other code; a size of 1, evaluation, and an attack do.
    """
    import torch._dynamo  # takes a second

    torch._dynamo.config.recompile_limit = max(
        RECOMPILE_LIMIT, torch._dynamo.config.recompile_limit
    )
    for layer in _layers(module):
        layer.compile(dynamic=True, backend=backend)


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of a model, and not the parts of a layer that are in lists themselves."""
    for child in module.children():
        if isinstance(child, nn.ModuleList):
            yield from child
        else:
            yield from _layers(child)
