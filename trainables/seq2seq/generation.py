"""The task of a generator: batches of pairs, the model's rows, validation by the likelihood of held-out targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.augment.draw import Symbols
from augury.experiments.preparation import examples_of, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, TARGET, Losses, Progress, Rows
from augury.text import learned
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded
from augury.training.task import Loaded, Validation
from augury.training.validation import likelihood
from trainables.seq2seq.config import Config
from trainables.seq2seq.model import build, head, hidden_states


class Batch(NamedTuple):
    """`sources` (B, S) and `labels` (B, T), padded on the right."""

    sources: Tensor
    labels: Tensor


class Pairs:
    """The ids of the pairs of the validation set, special ones included."""

    def __init__(self, sources: Tokens, targets: Tokens):
        self.sources, self.targets = sources, targets
        self.lengths = Lengths(sources.lengths, targets.lengths)

    def batch(self, rows: np.ndarray, pad: int) -> Batch:
        """Return the pairs of these rows."""
        return _batch([self.sources[row] for row in rows], [self.targets[row] for row in rows], pad)


class Generation:
    """A model, the pairs that it learns from, and its validation set."""

    def __init__(self, run: Run, symbols: Callable[[], Symbols]):
        experiment = run.experiment
        assert isinstance(experiment, Config)
        self.experiment = experiment
        self.examples = examples_of(run, symbols)
        self.draw_rows, self.weights, self.ids = self.examples.draw_rows, self.examples.weights, self.examples.ids
        self.lengths = Lengths(self.examples.lengths(SOURCE), self.examples.lengths(TARGET))
        self.valid = Pairs(*(Tokens(run.stored(run.tokens[held_out(side)])) for side in (SOURCE, TARGET)))
        self.model = build(experiment.model, learned.directory(run.stored(run.tokenizer)), run.seed)
        self.module: nn.Module = self.model
        self.pad = int(self.model.config.pad_token_id)

    def load(self, examples: np.ndarray, number: int, device: torch.device) -> Loaded:
        located = self.examples.located(examples)
        (sources,), targets = self.examples.views(located, number), self.examples.labels(located, number)
        batch = _batch(sources, targets, self.pad)
        tokens = sum(map(len, sources)) + sum(map(len, targets))
        positions = sum(side.numel() for side in batch)
        if device.type == "cuda":
            batch = Batch(*(side.pin_memory().to(device, non_blocking=True) for side in batch))
        return Loaded(batch, tokens, positions)

    def rows(self, batch: Batch, views: Sequence[int]) -> Rows:
        """One forward pass; the rows are the real target positions, the end of the sentence included."""
        hidden = hidden_states(self.model, batch.sources, batch.labels)
        real = batch.labels != self.pad
        return Rows(hidden[real][None], *head(self.model), batch.labels[real])

    def loss(self, batch: Batch, progress: Progress) -> Losses:
        return self.experiment.regime.loss(self, batch, progress)

    def onset(self, updates_per_pass: float) -> float:
        return self.experiment.regime.onset(updates_per_pass)

    def validate(self, device: torch.device) -> Validation:
        def rows(examples: np.ndarray) -> Rows:
            return self.rows(Batch(*(side.to(device) for side in self.valid.batch(examples, self.pad))), [0])

        loss, accuracy = likelihood(rows, self.valid.lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, -loss, {"perplexity": math.exp(min(loss, 50)), "accuracy": 100 * accuracy})


def _batch(sources: Sequence[np.ndarray], targets: Sequence[np.ndarray], pad: int) -> Batch:
    return Batch(*(torch.from_numpy(padded(side, pad)) for side in (sources, targets)))
