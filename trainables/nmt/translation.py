"""The learner of encoder-decoders, validated by the likelihood of targets and by greedy
translation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence, Sized
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from augury.augment.draw import Symbols
from augury.decoding.settings import Decoding
from augury.experiments.graph import VALID, held_out, validation_sets
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, TARGET, Embedded, Rows
from augury.scoring.registry import metric
from augury.text.tokens import Tokens
from augury.training import distributed
from augury.training.batching import Lengths, padded
from augury.training.learner import Likelihood, Loaded, Validation, likelihood
from trainables.nmt.config import SequenceExperiment
from trainables.nmt.embeddings import tabulated
from trainables.nmt.pretrained import architecture_of
from trainables.sequence import head, hidden_states, source_embeddings
from trainables.training import Located, RegimeTraining, Views, pad_views, to_device

LONGEST = 200


def longest_translation(source: Sized) -> int:
    """Return the number of tokens after which a greedy translation is cut in validation.

    Greedy search repeats itself endlessly more often than a beam, and a few such sentences would
    decide the score of a small set. (fairseq's recipes use 1.2 times the source plus 10; the
    lengths of some pairs of languages differ more.)
    """
    return min(LONGEST, 2 * len(source) + 10)


class Batch(NamedTuple):
    """`sources` (views, B, S) and `labels` (B, T), padded on the right; `real` (2, rows) has the
    row and the position of every label that is no pad.

    Row b of every view is the same example.
    """

    sources: Tensor
    labels: Tensor
    real: Tensor


class Translation(RegimeTraining):
    """An encoder-decoder, its training examples in the view groups of its regime, and its
    validation sets; rows are target positions, end of sentence included."""

    module: PreTrainedModel

    def __init__(self, run: Run):
        self.architecture = architecture_of(run)
        self.vocabulary, self.positions = self.architecture.vocabulary, self.architecture.positions
        super().__init__(run)
        self.module = self.architecture.untrained(run.seed)
        self.pad = int(self.module.config.pad_token_id)
        self.prefix = cache(self.architecture.prefix)  # called for every row
        # The end of sentence included; the tag, which some regimes need, does not count.
        before, first = len(self.vocabulary.before), len(self.vocabulary.first)
        self.lengths = Lengths(
            self.examples.lengths(SOURCE) + before + 1, self.examples.lengths(TARGET) + first + 1
        )
        self.validation_sets = {
            split: DevSet(run, split) for split in validation_sets(run.experiment)
        }

    def symbols(self) -> Symbols:
        vocabulary = self.vocabulary
        return Symbols(vocabulary.unk, vocabulary.ordinary, vocabulary.resegmenter)

    def source(self, subwords: np.ndarray, tag: str | None, target: str = TARGET) -> list[int]:
        """Return the ids of a source that the encoder reads; `tag` is the tag of its text, `target`
        the side to predict."""
        return [*self.prefix(tag, target), *subwords.tolist(), self.vocabulary.eos]

    def label(self, subwords: np.ndarray) -> list[int]:
        """Return the ids of a target that the decoder is to predict."""
        return [*self.vocabulary.first, *subwords.tolist(), self.vocabulary.eos]

    def collate(self, located: Located, views: Views, epoch: int) -> Loaded:
        sources: list[list[list[int]]] = []
        for view in views:
            sources.append([])
            for (group, row), subwords in zip(located, view, strict=True):
                sources[-1].append(self.source(subwords, self.examples.tag(row), group.target))
        labels = list(map(self.label, self.examples.labels(located, epoch)))
        batch = self.batch(sources, labels)
        # The decoder reads the labels once under every view of the source.
        tokens = sum(sum(map(len, view)) for view in sources) + len(views) * sum(map(len, labels))
        positions = batch.sources.numel() + len(views) * batch.labels.numel()
        return Loaded(batch, tokens, positions)

    def batch(self, sources: Sequence[Sequence[list[int]]], labels: Sequence[list[int]]) -> Batch:
        """Return sources, view by view, and labels as one batch."""
        ids = padded(labels, self.pad)
        # Found here: a GPU could not go on before the host knows how many there are.
        real = torch.from_numpy(np.stack(np.nonzero(ids != self.pad)))
        return Batch(pad_views(sources, self.pad), torch.from_numpy(ids), real)

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the source as the encoder reads it, tag and end of sentence included."""
        source = batch.sources[view]
        with torch.no_grad():
            return Embedded(source_embeddings(self.module, source), source != self.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the target positions of the chosen views without pads, in one concatenated forward
        pass."""
        sources = batch.sources[list(views)].flatten(0, 1)
        labels = batch.labels.repeat(len(views), 1)
        hidden = hidden_states(self.module, sources, labels, perturbation)
        rows, positions = batch.real
        real = rows * batch.labels.shape[1] + positions
        # The target's embeddings may be computed, at every call. The transformer from nothing has
        # no bias, for which Marian has a buffer of zeros.
        weight, bias = head(self.module)
        return Rows(
            hidden.reshape(len(views), -1, hidden.shape[-1]).index_select(1, real),
            weight,
            bias if self.experiment.pretrained else None,
            batch.labels.flatten()[real],
        )

    def validate(self, device: torch.device) -> Validation:
        """Return loss and score of the first set, which decides; metrics of others are named
        `clean/bleu`."""
        metrics: dict[str, float] = {}
        results = []
        chosen = self.experiment.validation.metric
        for split, dev_set in self.validation_sets.items():
            name = f"{split.removeprefix(VALID).strip()}/".removeprefix("/")
            measured = self.likelihood(dev_set, device)
            metrics[f"{name}perplexity"] = measured.perplexity
            if chosen == "loss":
                score = -measured.loss
                metrics[f"{name}accuracy"] = 100 * measured.accuracy
            else:
                score = metrics[f"{name}{chosen}"] = self.score(dev_set)
            results.append((measured.loss, score))
        return Validation(*results[0], metrics)

    def likelihood(self, dev_set: DevSet, device: torch.device) -> Likelihood:
        """Return the likelihood of held-out targets per token, computed by all workers together."""

        def rows(examples: np.ndarray) -> Rows:
            sources = [self.source(dev_set.sources[row], dev_set.tag) for row in examples]
            labels = [self.label(dev_set.targets[row]) for row in examples]
            return self.rows(to_device(self.batch([sources], labels), device), [0])

        none = np.empty(0, np.int64)
        added = len(self.source(none, dev_set.tag)), len(self.label(none))
        lengths = Lengths(dev_set.sources.lengths + added[0], dev_set.targets.lengths + added[1])
        return likelihood(rows, lengths, self.experiment.training.max_tokens, device)

    def score(self, dev_set: DevSet) -> float:
        """Return the metric of greedy translations with the present weights, made by all workers
        together."""
        measure = metric(self.experiment.validation.metric, self.experiment.languages[1])
        rows = distributed.share(range(len(dev_set.references)))
        # The decoder adds the end.
        sources = [self.source(dev_set.sources[row], dev_set.tag)[:-1] for row in rows]
        limits = [min(self.positions, longest_translation(source)) for source in sources]
        cut = translate_greedily(self.vocabulary, self.module, sources, limits)
        parts = distributed.gather(self.vocabulary.decode(cut))
        statistics = measure.statistics(distributed.unshare(parts), dev_set.references)
        return measure.value(statistics.sum(0).tolist())


class DevSet:
    """A validation corpus: the subwords of its plain sources and targets, the tag of its text, and
    the references of the sentences to translate."""

    def __init__(self, run: Run, split: str):
        self.sources, self.targets = (
            Tokens(run.stored_folder(run.tokens[held_out(side, split)]))
            for side in (SOURCE, TARGET)
        )
        assert isinstance(run.experiment, SequenceExperiment)
        self.tag = run.experiment.corpus.tag(split)
        self.references = run.corpus(split).column("target")[: run.experiment.validation.sentences]


def translate_greedily(
    vocabulary: Any, model: PreTrainedModel, sources: Sequence[Sequence[int]], limits: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return greedy translations with the present weights, each cut after its limit of tokens.

    Sources and translations are ids without the end of sentence; translations begin with
    the `first` of the vocabulary.
    """
    # Training without validation by translations runs where CTranslate2 is not installed.
    from augury.decoding.conversion import to_ctranslate2
    from augury.decoding.ctranslate import CTranslateDecoder

    translations: list[tuple[int, ...]] = [()] * len(sources)
    with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
        to_ctranslate2(tabulated(model), directory)
        search = CTranslateDecoder(
            directory, vocabulary.never, vocabulary.first, threads=torch.get_num_threads()
        ).search
    for rows in _of_similar_limit(limits):
        decoding = Decoding(beam=1, max_length=limits[rows[-1]])
        hypotheses = search([sources[row] for row in rows], decoding)
        for row, best in zip(rows, hypotheses, strict=True):
            translations[row] = best[: limits[row]]
    return translations


def _of_similar_limit(limits: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows by rising limits that differ by at most a half.

    One search has one limit: a model that has not learnt to end would write all sentences until
    that of the longest, several times as much as is kept.
    """
    group: list[int] = []
    for row in sorted(range(len(limits)), key=limits.__getitem__):
        if group and limits[row] > 1.5 * limits[group[0]]:
            yield group
            group = []
        group.append(row)
    if group:
        yield group
