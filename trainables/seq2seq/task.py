"""The task of writing a text for a text, such as a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from augury.augment import prompts
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.run import Run
from trainables.nmt.task import SequenceTask
from trainables.seq2seq.config import ReorderCorpus, Seq2SeqExperiment


class Seq2seq(SequenceTask):
    """Generate a text from a text."""

    EXPERIMENT = Seq2SeqExperiment
    EXAMPLE = "echo 'But we lack new resources.'"

    def corpus_address(self, experiment: Any, split: str) -> str:
        # It imports the aligners, which reading an experiment does not need.
        from trainables.seq2seq import pairs

        return pairs.address(experiment.corpus, split)

    def corpus(self, experiment: Any, split: str, store: Store) -> Corpus:
        from trainables.seq2seq import pairs

        return pairs.pairs(experiment.corpus, split, store)

    def translate(self, run: Run, texts: Sequence[str], **options: Any) -> list[str]:
        """Return the outputs for texts; the prompt of reordering is added."""
        if isinstance(run.experiment.corpus, ReorderCorpus):
            texts = [prompts.reordering(text.strip()) for text in texts]
        return super().translate(run, texts, **options)
