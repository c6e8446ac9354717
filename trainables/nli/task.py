"""The NLI task: batches of pairs under several views, the classifier's rows, and validation by loss and accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.core.store import Folder, Store
from augury.corpora.corpus import LABELS, Corpus
from augury.experiments.experiment import parse
from augury.regimes.regime import Embedded, Losses, Progress, Rows
from augury.text import learned
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded
from augury.training.loop import Report, fit_prepared
from augury.training.task import Loaded, Validation
from augury.training.validation import likelihood
from trainables.nli.config import Config
from trainables.nli.examples import Examples, numbered
from trainables.nli.model import Reader, build
from trainables.nli.pieces import Pieces


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B); row b of every view is the same example."""

    ids: Tensor
    labels: Tensor


class Classification:
    """A classifier, its training examples under the draws of its regime, and its validation set."""

    def __init__(self, config: dict[str, Any], store: Store):
        experiment = parse(config["experiment"])
        assert isinstance(experiment, Config)
        self.experiment, self.regime = experiment, experiment.regime
        self.examples = Examples(config, store)
        self.lengths, self.labels = self.examples.lengths, self.examples.labels
        self.draw_rows = self.examples.draw_rows
        self.valid = Tokens(Folder(store.root, config["tokens"]["valid"]))
        self.valid_labels = numbered(Corpus.load(store, config["corpora"]["valid"]).column("label"))
        pieces = Pieces(Folder(store.root, config["vocabulary"]), experiment.max_length)
        model = build(experiment.model, learned.directory(pieces.vocabulary), config["seed"])
        self.tokenizer = pieces.tokenizer()
        self.reader = Reader(model, self.tokenizer, experiment.max_length)
        self.module: nn.Module = model

    def ids(self, examples: np.ndarray) -> list[str]:
        return self.examples.ids(examples)

    def load(self, examples: np.ndarray, device: torch.device) -> Loaded:
        located = self.examples.located(examples)
        tokens = self.examples.tokens
        views = [
            [tokens[draw.views[view]][row].tolist() for draw, row in located]
            for view in range(len(self.examples.draws[0].views))
        ]
        batch = self._batch(views, self.labels[[row for _, row in located]])
        read = sum(len(ids) for view in views for ids in view)
        if device.type == "cuda":
            batch = Batch(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))
        return Loaded(batch, read, batch.ids.numel())

    def _batch(self, views: Sequence[Sequence[Sequence[int]]], labels: np.ndarray) -> Batch:
        width = max(len(ids) for view in views for ids in view)
        ids = np.stack([padded(view, self.reader.pad, width) for view in views])
        return Batch(torch.from_numpy(ids), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """The words of both sentences, special ones included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids, ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """One forward pass over the chosen views, concatenated; a row is an example.

        What is hidden are the logits, projected by the identity: the heads of classifiers are not alike, and three
        classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(len(LABELS), device=logits.device)
        return Rows(logits.unflatten(0, (len(views), -1)), identity, None, batch.labels)

    def loss(self, batch: Batch, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)

    def onset(self, updates_per_pass: float) -> float:
        return self.regime.onset(updates_per_pass)

    def validate(self, device: torch.device) -> Validation:
        """Cross-entropy and accuracy on the validation pairs as they are; the workers share the work."""

        def rows(examples: np.ndarray) -> Rows:
            batch = self._batch([[self.valid[row].tolist() for row in examples]], self.valid_labels[examples])
            return self.rows(Batch(*(tensor.to(device) for tensor in batch)), [0])

        lengths = Lengths(self.valid.lengths, np.ones_like(self.valid.lengths))
        loss, accuracy = likelihood(rows, lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, 100 * accuracy, {"accuracy": 100 * accuracy})


def train_loop(config: dict[str, Any], device: torch.device, report: Report) -> None:
    """Train one seed of a prepared experiment in this process."""
    task = Classification(config, Store(config["storage"]))
    fit_prepared(task, task.experiment.training, config, device, report)
