"""The task of a generator: batches of pairs, the model's rows, validation by the likelihood of held-out targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.experiment import parse
from augury.regimes.regime import SOURCE, TARGET, Losses, Progress, Rows
from augury.text import learned
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded
from augury.training.loop import Report, fit_prepared
from augury.training.task import Loaded, Validation
from augury.training.validation import likelihood
from trainables.seq2seq.config import Config
from trainables.seq2seq.model import build, head, hidden_states


class Batch(NamedTuple):
    """`sources` (B, S) and `labels` (B, T), padded on the right."""

    sources: Tensor
    labels: Tensor


class Pairs:
    """The ids of the pairs of a split, special ones included."""

    def __init__(self, sources: Tokens, targets: Tokens):
        self.sources, self.targets = sources, targets
        self.lengths = Lengths(sources.lengths, targets.lengths)

    def batch(self, rows: np.ndarray, pad: int) -> Batch:
        """The pairs of these rows."""
        sides = ([side[row].tolist() for row in rows] for side in (self.sources, self.targets))
        return Batch(*(torch.from_numpy(padded(side, pad)) for side in sides))


class Generation:
    """A model, the pairs that it learns from, and its validation set."""

    def __init__(self, config: dict[str, Any], store: Store):
        experiment = parse(config["experiment"])
        assert isinstance(experiment, Config)
        self.experiment = experiment
        self.corpus = Corpus.load(store, config["corpora"]["train"])
        tokens = {name: Tokens(Folder(store.root, folder)) for name, folder in config["tokens"].items()}
        self.train = Pairs(tokens[SOURCE], tokens[TARGET])
        self.valid = Pairs(tokens[f"valid {SOURCE}"], tokens[f"valid {TARGET}"])
        self.lengths = self.train.lengths
        self.draw_rows = [len(self.lengths.cost)]
        directory = learned.directory(Folder(store.root, config["vocabulary"]))
        self.model = build(experiment.model, directory, config["seed"])
        self.module: nn.Module = self.model
        self.pad = int(self.model.config.pad_token_id)

    def ids(self, examples: np.ndarray) -> list[str]:
        ids = self.corpus.column("id")
        return [ids[example] for example in examples]

    def load(self, examples: np.ndarray, device: torch.device) -> Loaded:
        batch = self.train.batch(examples, self.pad)
        tokens = int(self.lengths.sources[examples].sum() + self.lengths.targets[examples].sum())
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


def train_loop(config: dict[str, Any], device: torch.device, report: Report) -> None:
    """Train one seed of a prepared experiment in this process."""
    task = Generation(config, Store(config["storage"]))
    fit_prepared(task, task.experiment.training, config, device, report)
