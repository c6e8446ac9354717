"""The learner of translation, validated by the likelihood of targets and by greedy translation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence, Sized
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from augury.augment.draw import Symbols
from augury.decoding.settings import Decoding
from augury.experiments.graph import VALID, dev_sets
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.registry import metric
from augury.training import distributed
from augury.training.batching import Lengths
from augury.training.learner import Validation
from trainables.nmt.config import Config
from trainables.nmt.translator import Translator
from trainables.nmt.translators import translator_of
from trainables.sequence import HeldOut, SequenceTraining

LONGEST = 200


def longest_translation(source: Sized) -> int:
    """Return the number of tokens after which a greedy translation is cut in validation.

    Greedy search repeats itself endlessly more often than a beam, and a few such sentences would
    decide the score of a small set. (fairseq's recipes use 1.2 times the source plus 10; the
    lengths of some pairs of languages differ more.)
    """
    return min(LONGEST, 2 * len(source) + 10)


class Translation(SequenceTraining):
    """A model, its training examples in the view groups of its regime, and its validation sets."""

    def __init__(self, run: Run):
        experiment = run.experiment
        assert isinstance(experiment, Config)
        self.kind = translator_of(run)
        self.vocabulary, self.positions = self.kind.vocabulary, self.kind.positions
        super().__init__(run, self.kind.untrained(run.seed))
        self.prefix = cache(self._prefix)  # called for every row
        # The end of sentence included; the tag, which some regimes need, does not count.
        before, first = len(self.vocabulary.before), len(self.vocabulary.first)
        self.lengths = Lengths(
            self.examples.lengths(SOURCE) + before + 1, self.examples.lengths(TARGET) + first + 1
        )
        self.dev_sets = {split: DevSet(run, split) for split in dev_sets(experiment)}

    def symbols(self) -> Symbols:
        vocabulary = self.vocabulary
        return Symbols(vocabulary.unk, vocabulary.ordinary, vocabulary.resegmenter)

    def source(self, subwords: np.ndarray, tag: str | None, target: str = TARGET) -> list[int]:
        return [*self.prefix(tag, target), *subwords.tolist(), self.vocabulary.eos]

    def label(self, subwords: np.ndarray) -> list[int]:
        return [*self.vocabulary.first, *subwords.tolist(), self.vocabulary.eos]

    def _prefix(self, tag: str | None, target: str) -> list[int]:
        """Return the ids before the pieces of a source: the model's own, and tags."""
        tags = [self.vocabulary.tags[symbol] for symbol in self.experiment.prefix(tag, target)]
        return [*self.vocabulary.before, *tags]

    def head(self) -> tuple[Tensor, Tensor | None]:
        # The target's embeddings may be computed, at every call. The transformer from nothing has
        # no bias, for which Marian has a buffer of zeros.
        weight, bias = super().head()
        return weight, bias if self.experiment.pretrained else None

    def validate(self, device: torch.device) -> Validation:
        """Return loss and score of the first set, which decides; metrics of others are named
        `clean/bleu`."""
        metrics: dict[str, float] = {}
        results = []
        for split, dev_set in self.dev_sets.items():
            name = f"{split.removeprefix(VALID).strip()}/".removeprefix("/")
            measured, score = self.likelihood(dev_set, device), self.score(dev_set)
            results.append((measured.loss, score))
            metrics |= {
                f"{name}perplexity": measured.perplexity,
                f"{name}{self.experiment.validation.metric}": score,
            }
        return Validation(*results[0], metrics)

    def score(self, dev_set: DevSet) -> float:
        """Return the metric of greedy translations with the present weights, made by all workers
        together."""
        rows = distributed.share(range(len(dev_set.references)))
        # The decoder adds the end.
        sources = [self.source(dev_set.sources[row], dev_set.tag)[:-1] for row in rows]
        limits = [min(self.positions, longest_translation(source)) for source in sources]
        cut = translate_greedily(self.kind, self.module, sources, limits)
        parts = distributed.gather(self.vocabulary.decode(cut))
        statistics = dev_set.metric.statistics(distributed.unshare(parts), dev_set.references)
        return dev_set.metric.value(statistics.sum(0).tolist())


class DevSet(HeldOut):
    """A validation corpus with the references of the sentences to translate, and their metric."""

    def __init__(self, run: Run, split: str):
        super().__init__(run, split)
        experiment = run.experiment
        assert isinstance(experiment, Config)
        settings = experiment.validation
        self.references = run.corpus(split).column("target")[: settings.sentences]
        self.metric = metric(settings.metric, experiment.corpus.target_language)


def translate_greedily(
    kind: Translator,
    model: PreTrainedModel,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
) -> list[tuple[int, ...]]:
    """Return greedy translations with the present weights, each cut after its limit of tokens.

    Sources and translations are ids without the end of sentence; translations begin with
    the `first` of the vocabulary.
    """
    translations: list[tuple[int, ...]] = [()] * len(sources)
    if kind.convertible:
        with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
            kind.convert(model, Path(directory))
            search = kind.by_ctranslate2(directory, torch.get_num_threads())
    else:
        search = kind.by_transformers(model)
    for rows in _of_similar_limit(limits):
        decoding = Decoding(beam=1, max_length=limits[rows[-1]])
        hypotheses = search([[sources[row] for row in rows]], decoding, 1)
        for row, (best, *_) in zip(rows, hypotheses, strict=True):
            translations[row] = best.ids[: limits[row]]
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
