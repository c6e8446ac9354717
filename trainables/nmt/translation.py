"""The translation task: batches of aligned views, the model's rows, and validation by loss and greedy translation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.augment.draw import Symbols
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.settings import Decoding
from augury.experiments.preparation import VALID, dev_sets, examples_of, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, TARGET, Embedded, Losses, Progress, Rows
from augury.scoring.metrics import metric
from augury.text.tokens import Tokens
from augury.text.vocabulary import Vocabulary
from augury.training import distributed
from augury.training.batching import Lengths, padded
from augury.training.task import Loaded, Validation
from augury.training.validation import likelihood
from trainables.nmt.config import Config
from trainables.nmt.embeddings import tabulated
from trainables.nmt.model import build, decoder_input, head, hidden_states, source_embeddings


class Batch(NamedTuple):
    """`sources` (views, B, S) and `labels` (B, T), padded on the right; row b of every view is the same example."""

    sources: Tensor
    labels: Tensor


class Translation:
    """A model, its training examples under the draws of its regime, and its validation set."""

    def __init__(self, run: Run):
        experiment = run.experiment
        assert isinstance(experiment, Config)
        self.experiment, self.regime = experiment, experiment.regime
        self.vocabulary = Vocabulary.load(run.stored(run.tokenizer))
        self.examples = examples_of(run, self._symbols)
        self.draw_rows, self.weights, self.ids = self.examples.draw_rows, self.examples.weights, self.examples.ids
        # The end of sentence included; the tag, which some regimes need, does not count.
        self.lengths = Lengths(self.examples.lengths(SOURCE) + 1, self.examples.lengths(TARGET) + 1)
        self.dev_sets = {split: _ValidationSet(run, self, split) for split in dev_sets(experiment)}
        self.module: nn.Module = build(
            experiment.model,
            len(self.vocabulary.pieces),
            pad=self.vocabulary.pad,
            eos=self.vocabulary.eos,
            seed=run.seed,
        )

    def _symbols(self) -> Symbols:
        vocabulary = self.vocabulary
        special = [vocabulary.pad, vocabulary.unk, vocabulary.eos, *vocabulary.tags.values()]
        return Symbols(vocabulary.unk, np.setdiff1d(np.arange(len(vocabulary)), special), vocabulary.resegmenter)

    def load(self, examples: np.ndarray, number: int, device: torch.device) -> Loaded:
        located = self.examples.located(examples)
        prefixes = [self.prefix(self.examples.tag(row), draw.target) for draw, row in located]
        views = [
            [[*prefix, *pieces.tolist(), self.vocabulary.eos] for prefix, pieces in zip(prefixes, sources, strict=True)]
            for sources in self.examples.views(located, number)
        ]
        labels = [[*pieces.tolist(), self.vocabulary.eos] for pieces in self.examples.labels(located, number)]
        width = max(len(ids) for view in views for ids in view)
        batch = Batch(
            torch.from_numpy(np.stack([padded(view, self.vocabulary.pad, width) for view in views])),
            torch.from_numpy(padded(labels, self.vocabulary.pad)),
        )
        tokens = sum(len(ids) for view in views for ids in view) + len(views) * sum(map(len, labels))
        positions = batch.sources.numel() + len(views) * batch.labels.numel()
        if device.type == "cuda":
            batch = Batch(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))
        return Loaded(batch, tokens, positions)

    def prefix(self, domain: str | None, target: str = TARGET) -> list[int]:
        """The tags before a source, or nothing."""
        return [self.vocabulary.tags[symbol] for symbol in self.experiment.prefix(domain, target)]

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
        """The first set decides; what is measured on the others is called after them: `clean/bleu`."""
        results = {split: (dev_set.loss(device), dev_set.score()) for split, dev_set in self.dev_sets.items()}
        metrics: dict[str, float] = {}
        for split, (loss, score) in results.items():
            name = f"{split.removeprefix(VALID).strip()}/".removeprefix("/")
            measured = {"perplexity": math.exp(min(loss, 50)), self.experiment.validation.metric: score}
            metrics |= {f"{name}{metric}": value for metric, value in measured.items()}
        return Validation(*results[VALID], metrics)


class _ValidationSet:
    """The plain sources and targets of a validation corpus; the workers share the work."""

    def __init__(self, run: Run, task: Translation, split: str):
        sides = (run.stored(run.tokens[held_out(side, split)]) for side in (SOURCE, TARGET))
        self.sources, self.targets = map(Tokens, sides)
        self.task, experiment, corpus = task, task.experiment, run.corpus(split)
        self.prefix = task.prefix(experiment.corpus.tag(split))
        self.limit = min(experiment.validation.sentences or corpus.rows, corpus.rows)
        self.references = corpus.column("target")[: self.limit]
        self.metric = metric(experiment.validation.metric, experiment.corpus.target_language)

    def loss(self, device: torch.device) -> float:
        """Negative log-likelihood per target token, not smoothed."""
        task = self.task

        def rows(examples: np.ndarray) -> Rows:
            return task.rows(Batch(*(side.to(device) for side in self._batch(examples))), [0])

        lengths = Lengths(self.sources.lengths + 2 + (len(self.prefix) > 1), self.targets.lengths + 1)
        return likelihood(rows, lengths, task.experiment.training.max_tokens, device).loss

    def _batch(self, examples: np.ndarray) -> Batch:
        task, eos = self.task, self.task.vocabulary.eos
        sources = [[*self.prefix, *self.sources[row].tolist(), eos] for row in examples]
        labels = [[*self.targets[row].tolist(), eos] for row in examples]
        batch = [torch.from_numpy(padded(rows, task.vocabulary.pad)) for rows in (sources, labels)]
        return Batch(batch[0][None], batch[1])

    def score(self) -> float:
        """The metric of greedy translations with the present weights."""
        task = self.task
        vocabulary = task.vocabulary
        mine = distributed.share(range(self.limit))
        decoder = CTranslateDecoder.from_model(
            tabulated(task.module), vocabulary.pieces, unk=vocabulary.unk, threads=torch.get_num_threads()
        )
        sources = [[*self.prefix, *self.sources[row].tolist()] for row in mine]
        longest = min(200, task.experiment.model.max_positions)
        hypotheses = decoder.translate(sources, Decoding(beam=1, max_length=longest), tuple(vocabulary.tags.values()))
        parts = distributed.gather(vocabulary.decode([hypothesis.ids for hypothesis in hypotheses]))
        statistics = self.metric.statistics(distributed.unshare(parts), self.references)
        return self.metric.value(statistics.sum(0).tolist())
