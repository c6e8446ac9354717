"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs of texts; operators
sample from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from augury.augment import prompts
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.run import Run
from trainables.nmt.generators import ReorderCorpus, Seq2SeqExperiment
from trainables.nmt.task import SequenceTask


class Seq2seq(SequenceTask):
    """Generate a text from a text."""

    EXPERIMENT = Seq2SeqExperiment
    EXAMPLE = "echo 'But we lack new resources.'"

    def corpus_address(self, experiment: Any, split: str) -> str:
        # It imports the aligners, which reading an experiment does not need.
        from trainables.nmt import pairs

        return pairs.address(experiment.corpus, split)

    def corpus(self, experiment: Any, split: str, store: Store) -> Corpus:
        from trainables.nmt import pairs

        return pairs.pairs(experiment.corpus, split, store)

    def translate(self, run: Run, texts: Sequence[str], **options: Any) -> list[str]:
        """Return the outputs for texts; the prompt of reordering is added."""
        if isinstance(run.experiment.corpus, ReorderCorpus):
            texts = [prompts.reordering(text.strip()) for text in texts]
        return super().translate(run, texts, **options)


TASK = Seq2seq()
