"""Training of a generator, validated by the likelihood of held-out targets."""

from __future__ import annotations

from collections.abc import Callable

import torch

from augury.augment.draw import Symbols
from augury.experiments.run import Run
from augury.text.subwords import learned
from augury.training.learner import Validation
from trainables.seq2seq.config import Config
from trainables.seq2seq.model import build
from trainables.sequence import HeldOut, SequenceTraining


class Generation(SequenceTraining):
    """A generator, the pairs that it learns from, and its validation set."""

    def __init__(self, run: Run, symbols: Callable[[], Symbols]):
        experiment, directory = run.experiment, learned.directory(run.stored_folder(run.tokenizer))
        assert isinstance(experiment, Config)
        model = build(
            experiment.model, directory, run.seed, perturbable=experiment.regime.needs_embeddings
        )
        super().__init__(run, model, symbols)
        self.valid = HeldOut(run)

    def validate(self, device: torch.device) -> Validation:
        measured = self.likelihood(self.valid, device)
        metrics = {"perplexity": measured.perplexity, "accuracy": 100 * measured.accuracy}
        return Validation(measured.loss, -measured.loss, metrics)
