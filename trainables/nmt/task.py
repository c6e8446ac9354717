"""The translation task: batches of aligned views, the model's rows, and validation by loss and greedy translation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.settings import Decoding
from augury.experiments.experiment import parse
from augury.regimes.regime import SOURCE, TARGET, Draw, Embedded, Losses, Progress, Rows
from augury.scoring.metrics import metric
from augury.text.tokens import Tokens
from augury.text.vocabulary import Vocabulary
from augury.training import distributed
from augury.training.batching import Lengths, locate, padded
from augury.training.loop import Report, fit_prepared
from augury.training.task import Loaded, Validation
from augury.training.validation import likelihood
from trainables.nmt.config import Config
from trainables.nmt.model import build, decoder_input, head, hidden_states, source_embeddings
from trainables.nmt.preparation import kept_examples, tag


class Batch(NamedTuple):
    """`sources` (views, B, S) and `labels` (B, T), padded on the right; row b of every view is the same example."""

    sources: Tensor
    labels: Tensor


class Translation:
    """A model, its training examples under the draws of its regime, and its validation set."""

    def __init__(self, config: dict[str, Any], store: Store):
        experiment = parse(config["experiment"])
        assert isinstance(experiment, Config)
        self.experiment, self.regime = experiment, experiment.regime
        self.corpus = Corpus.load(store, config["corpora"]["train"])
        self.vocabulary = Vocabulary.load(Folder(store.root, config["vocabulary"]))
        tokens = {name: Tokens(Folder(store.root, folder)) for name, folder in config["tokens"].items()}
        self.tokens = {name: tokens[name] for name in (SOURCE, TARGET, *experiment.keys)}
        self.draws = experiment.draws()
        self.rows_kept = kept_examples(self.tokens, experiment.max_pieces).rows
        self.lengths = Lengths(self._pieces(SOURCE), self._pieces(TARGET))
        self.draw_rows = [len(self.rows_kept)] * len(self.draws)
        self.valid = _ValidationSet(
            tokens["valid source"], tokens["valid target"], Corpus.load(store, config["corpora"]["valid"]), self
        )
        self.module: nn.Module = build(
            experiment.model,
            len(self.vocabulary.pieces),
            pad=self.vocabulary.pad,
            eos=self.vocabulary.eos,
            seed=config["seed"],
        )

    def _pieces(self, view: str) -> np.ndarray:
        """The pieces of every kept row, the end of sentence included."""
        return self.tokens[view].lengths[self.rows_kept] + 1

    def _located(self, examples: np.ndarray) -> list[tuple[Draw, int]]:
        """The draw and the row of the corpus of every example."""
        draws, rows = locate(examples, len(self.rows_kept))
        return [(self.draws[draw], int(row)) for draw, row in zip(draws, self.rows_kept[rows], strict=True)]

    def ids(self, examples: np.ndarray) -> list[str]:
        ids = self.corpus.column("id")
        return [f"{ids[row]} ({'+'.join(draw.views)})" for draw, row in self._located(examples)]

    def load(self, examples: np.ndarray, device: torch.device) -> Loaded:
        located = self._located(examples)
        views = [
            [self.source(draw.views[view], row, draw.target) for draw, row in located]
            for view in range(len(self.draws[0].views))
        ]
        labels = [self.label(draw.target, row) for draw, row in located]
        width = max(len(ids) for view in views for ids in view)
        sources = np.stack([padded(view, self.vocabulary.pad, width) for view in views])
        targets = padded(labels, self.vocabulary.pad)
        tokens = sum(len(ids) for view in views for ids in view) + len(views) * sum(map(len, labels))
        positions = sources.size + len(views) * targets.size
        batch = Batch(torch.from_numpy(sources), torch.from_numpy(targets))
        if device.type == "cuda":
            batch = Batch(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))
        return Loaded(batch, tokens, positions)

    def source(self, view: str, row: int, target: str = TARGET) -> list[int]:
        """A view as the encoder reads it: the tag of the language to produce, where there are tags, pieces, end."""
        return [*self.prefix(target), *self.tokens[view][row].tolist(), self.vocabulary.eos]

    def prefix(self, target: str = TARGET) -> list[int]:
        """The tag before a source, or nothing."""
        if not self.experiment.tagged:
            return []
        corpus = self.experiment.corpus
        return [self.vocabulary.tags[tag(corpus.target_language if target == TARGET else corpus.source_language)]]

    def label(self, side: str, row: int) -> list[int]:
        """What the decoder is to predict: pieces and the end of sentence."""
        return [*self.tokens[side][row].tolist(), self.vocabulary.eos]

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """The source as the encoder reads it, tag and end of sentence included."""
        source = batch.sources[view]
        with torch.no_grad():
            embeddings = source_embeddings(self.module, source)
        return Embedded(embeddings, source, source != self.vocabulary.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """One forward pass over the chosen views, concatenated; the rows are the real target positions."""
        sources = batch.sources[list(views)].flatten(0, 1)
        decoder = decoder_input(batch.labels, self.vocabulary.eos, self.vocabulary.pad).repeat(len(views), 1)
        hidden = hidden_states(self.module, sources, sources != self.vocabulary.pad, decoder, perturbation)
        real = batch.labels != self.vocabulary.pad
        hidden = hidden.unflatten(0, (len(views), -1))[:, real]
        return Rows(hidden, *head(self.module), batch.labels[real])

    def loss(self, batch: Batch, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)

    def onset(self, updates_per_pass: float) -> float:
        return self.regime.onset(updates_per_pass)

    def validate(self, device: torch.device) -> Validation:
        loss = self.valid.loss(device)
        score = self.valid.score()
        name = self.experiment.validation.metric
        return Validation(loss, score, {"perplexity": math.exp(min(loss, 50)), name: score})


class _ValidationSet:
    """The plain sources and targets of the validation corpus; the workers share the work."""

    def __init__(self, sources: Tokens, targets: Tokens, corpus: Corpus, task: Translation):
        self.sources, self.targets, self.task = sources, targets, task
        experiment = task.experiment
        self.limit = min(experiment.validation.sentences or corpus.rows, corpus.rows)
        self.references = corpus.column("target")[: self.limit]
        self.metric = metric(experiment.validation.metric, experiment.corpus.target_language)

    def loss(self, device: torch.device) -> float:
        """Negative log-likelihood per target token, not smoothed."""
        task = self.task

        def rows(examples: np.ndarray) -> Rows:
            return task.rows(Batch(*(side.to(device) for side in self._batch(examples))), [0])

        lengths = Lengths(self.sources.lengths + 2, self.targets.lengths + 1)
        return likelihood(rows, lengths, task.experiment.training.max_tokens, device).loss

    def _batch(self, examples: np.ndarray) -> Batch:
        task, eos = self.task, self.task.vocabulary.eos
        sources = [[*task.prefix(), *self.sources[row].tolist(), eos] for row in examples]
        labels = [[*self.targets[row].tolist(), eos] for row in examples]
        batch = [torch.from_numpy(padded(rows, task.vocabulary.pad)) for rows in (sources, labels)]
        return Batch(batch[0][None], batch[1])

    def score(self) -> float:
        """The metric of greedy translations with the present weights."""
        task = self.task
        vocabulary = task.vocabulary
        mine = distributed.share(range(self.limit))
        decoder = CTranslateDecoder.from_model(
            task.module, vocabulary.pieces, unk=vocabulary.unk, threads=torch.get_num_threads()
        )
        sources = [[*task.prefix(), *self.sources[row].tolist()] for row in mine]
        longest = min(200, task.experiment.model.max_positions)
        found = decoder.translate(sources, Decoding(beam=1, max_length=longest), tuple(vocabulary.tags.values()))
        parts = distributed.gather(vocabulary.decode([hypothesis.ids for hypothesis in found]))
        statistics = self.metric.statistics(distributed.unshare(parts), self.references)
        return self.metric.value(statistics.sum(0).tolist())


def train_loop(config: dict[str, Any], device: torch.device, report: Report) -> None:
    """Train one seed of a prepared experiment in this process."""
    task = Translation(config, Store(config["storage"]))
    fit_prepared(task, task.experiment.training, config, device, report)
