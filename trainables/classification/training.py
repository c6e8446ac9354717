"""The learner of a classifier of one or two sentences: batches, rows of logits, validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from augury.augment.draw import Symbols
from augury.experiments.graph import VALID, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, Embedded, Rows, ViewGroup
from augury.text.subwords.tokenizer import Subwords
from augury.text.tokens import Tokens
from augury.training.batching import Lengths
from augury.training.learner import Loaded, Validation, likelihood
from trainables.classification.model import Reader, build
from trainables.training import RegimeTraining, pad_views, to_device


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B).

    Row b of every view is the same example.
    """

    ids: Tensor
    labels: Tensor


class Classification(RegimeTraining):
    """A classifier with its training examples, in view groups, and its validation set."""

    def __init__(
        self,
        run: Run,
        labels: Sequence[str],
        subwords: Subwords,
        symbols: Callable[[], Symbols],
    ):
        super().__init__(run, symbols)
        self.classes = labels
        self.labels = self._numbered(self.examples.column("label"))
        sources = self.examples.lengths(SOURCE)
        self.lengths = Lengths(sources, np.ones_like(sources))
        self.valid = Tokens(run.stored_folder(run.tokens[held_out(SOURCE)]))
        self.valid_labels = self._numbered(run.corpus(VALID).column("label"))
        self.module = build(self.experiment.model, labels, subwords.directory, run.seed)
        self.tokenizer = subwords.tokenizer()
        self.reader = Reader(self.module, self.tokenizer, self.experiment.max_length)

    def _numbered(self, labels: Sequence[str]) -> np.ndarray:
        positions = {label: position for position, label in enumerate(self.classes)}
        return np.array([positions[label] for label in labels], np.int64)

    def collate(
        self,
        located: Sequence[tuple[ViewGroup, int]],
        views: Sequence[Sequence[np.ndarray]],
        number: int,
    ) -> Loaded:
        batch = self._batch(views, self.labels[[row for _, row in located]])
        return Loaded(batch, sum(len(ids) for view in views for ids in view), batch.ids.numel())

    def _batch(self, views: Sequence[Sequence[np.ndarray]], labels: np.ndarray) -> Batch:
        return Batch(pad_views(views, self.reader.pad), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the word embeddings of a view, those of special tokens included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids, ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the examples of some views as rows, computed in one forward pass.

        `hidden` has the logits, and the projection is the identity: classifiers have different
        heads, and the logits of a few classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(len(self.classes), device=logits.device)
        return Rows(logits.unflatten(0, (len(views), -1)), identity, None, batch.labels)

    def validate(self, device: torch.device) -> Validation:
        """Return cross-entropy and accuracy on the plain validation rows, shared by the workers."""

        def rows(examples: np.ndarray) -> Rows:
            batch = self._batch(
                [[self.valid[row] for row in examples]], self.valid_labels[examples]
            )
            return self.rows(to_device(batch, device), [0])

        lengths = Lengths(self.valid.lengths, np.ones_like(self.valid.lengths))
        loss, accuracy = likelihood(rows, lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, 100 * accuracy, {"accuracy": 100 * accuracy})
