"""The learner of encoder-decoders: batches of views and targets, rows, likelihood of held-out
targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from augury.augment.draw import Symbols
from augury.experiments.graph import VALID, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, TARGET, Embedded, Rows, ViewGroup
from augury.tasks import encoder_decoder
from augury.tasks.regime_training import RegimeTraining, pad_views, to_device
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded
from augury.training.learner import Likelihood, Loaded, likelihood

Ids = Sequence[int] | np.ndarray


class Batch(NamedTuple):
    """`sources` (views, B, S) and `labels` (B, T), padded on the right; `real` (2, rows) has the
    row and the position of every label that is no pad.

    Row b of every view is the same example.
    """

    sources: Tensor
    labels: Tensor
    real: Tensor


class SequenceTraining(RegimeTraining):
    """The learner of an encoder-decoder; rows are target positions, end of sentence included."""

    module: PreTrainedModel

    def __init__(self, run: Run, module: PreTrainedModel, symbols: Callable[[], Symbols]):
        super().__init__(run, symbols)
        self.module, self.pad = module, int(module.config.pad_token_id)
        self.lengths = Lengths(self.examples.lengths(SOURCE), self.examples.lengths(TARGET))

    def source(self, subwords: np.ndarray, tag: str | None, target: str = TARGET) -> Ids:
        """Return the ids of a source that the encoder reads; `tag` is the tag of its text, `target`
        the side to predict."""
        return subwords

    def label(self, subwords: np.ndarray) -> Ids:
        """Return the ids of a target that the decoder is to predict."""
        return subwords

    def collate(
        self,
        located: Sequence[tuple[ViewGroup, int]],
        views: Sequence[Sequence[np.ndarray]],
        number: int,
    ) -> Loaded:
        sources: list[list[Ids]] = []
        for view in views:
            sources.append([])
            for (group, row), subwords in zip(located, view, strict=True):
                sources[-1].append(self.source(subwords, self.examples.tag(row), group.target))
        targets = self.examples.labels(located, number)
        labels = [self.label(subwords) for subwords in targets]
        batch = self.batch(sources, labels)
        # The decoder reads the labels once under every view of the source.
        tokens = sum(sum(map(len, view)) for view in sources) + len(views) * sum(map(len, labels))
        positions = batch.sources.numel() + len(views) * batch.labels.numel()
        return Loaded(batch, tokens, positions)

    def batch(self, sources: Sequence[Sequence[Ids]], labels: Sequence[Ids]) -> Batch:
        """Return sources, view by view, and labels as one batch."""
        ids = padded(labels, self.pad)
        # Found here: a GPU could not go on before the host knows how many there are.
        real = torch.from_numpy(np.stack(np.nonzero(ids != self.pad)))
        return Batch(pad_views(sources, self.pad), torch.from_numpy(ids), real)

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the source as the encoder reads it, tag and end of sentence included."""
        source = batch.sources[view]
        with torch.no_grad():
            return Embedded(
                encoder_decoder.source_embeddings(self.module, source), source, source != self.pad
            )

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the target positions of the chosen views without pads, in one concatenated forward
        pass."""
        sources = batch.sources[list(views)].flatten(0, 1)
        labels = batch.labels.repeat(len(views), 1)
        hidden = encoder_decoder.hidden_states(self.module, sources, labels, perturbation)
        rows, positions = batch.real
        real = rows * batch.labels.shape[1] + positions
        return Rows(
            hidden.reshape(len(views), -1, hidden.shape[-1]).index_select(1, real),
            *self.head(),
            batch.labels.flatten()[real],
        )

    def head(self) -> tuple[Tensor, Tensor | None]:
        """Return the projection to the vocabulary: weight (V, D), and bias (V) or None."""
        return encoder_decoder.head(self.module)

    def likelihood(self, pairs: HeldOut, device: torch.device) -> Likelihood:
        """Return the likelihood of held-out targets per token, computed by all workers together."""

        def rows(examples: np.ndarray) -> Rows:
            return self.rows(to_device(self.held_out_batch(pairs, examples), device), [0])

        none = np.empty(0, np.int64)
        added = len(self.source(none, pairs.tag)), len(self.label(none))
        lengths = Lengths(pairs.sources.lengths + added[0], pairs.targets.lengths + added[1])
        return likelihood(rows, lengths, self.experiment.training.max_tokens, device)

    def held_out_batch(self, pairs: HeldOut, examples: np.ndarray) -> Batch:
        """Return held-out pairs, by their numbers, as a batch."""
        sources = [self.source(pairs.sources[row], pairs.tag) for row in examples]
        return self.batch([sources], [self.label(pairs.targets[row]) for row in examples])


class HeldOut:
    """The subwords of the plain sources and targets of a validation corpus, and the tag of its
    text."""

    def __init__(self, run: Run, split: str = VALID):
        self.sources, self.targets = (
            Tokens(run.stored_folder(run.tokens[held_out(side, split)]))
            for side in (SOURCE, TARGET)
        )
        self.tag = run.experiment.corpus.tag(split)
