"""The generation task: its training pairs, and the outputs of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from augury.augment import prompts
from augury.core.execution import ExecutorName
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines
from augury.decoding.settings import Sampler
from augury.experiments.cost import Size, transformer
from augury.experiments.run import Run
from augury.experiments.task import Exported
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces.subwords import Subwords
from trainables.seq2seq.config import Config, ReorderCorpus, TinyT5
from trainables.subword_task import SubwordTask

if TYPE_CHECKING:
    from augury.training.learner import Learner


class Seq2seq(SubwordTask):
    """Generate a text from a text."""

    EXPERIMENT = Config
    EXAMPLE = "echo 'But we lack new resources.'"
    SIDES: ClassVar = {SOURCE: ("source",), TARGET: ("target",)}

    def corpus_address(self, experiment: Config, split: str) -> str:
        # It imports the aligners, which reading an experiment does not need.
        from trainables.seq2seq import pairs

        return pairs.address(experiment.corpus, split)

    def corpus(self, experiment: Config, split: str, store: Store) -> Corpus:
        from trainables.seq2seq import pairs

        return pairs.pairs(experiment.corpus, split, store, experiment.execution)

    def subwords(self, experiment: Config, folder: Folder) -> Subwords:
        return Subwords(folder, experiment.max_pieces)

    def size(self, experiment: Config, store: Store) -> Size | None:
        model = experiment.model
        assert isinstance(model, TinyT5)
        return transformer(
            model.vocabulary_size,
            model.hidden_size,
            model.feedforward_size,
            model.layers,
            model.layers,
        )

    def learner(self, run: Run) -> Learner:
        from trainables.seq2seq.generator import Generation

        return Generation(run)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        """Return greedy outputs for a test set."""
        from trainables.seq2seq.generator import written

        return written(run, corpus.column("source"), f"write {test}")

    def translate(
        self, run: Run, texts: Sequence[str], *, executor: ExecutorName = "local", **options: Any
    ) -> list[str]:
        """Return greedy outputs for texts, cleaned as training text is; the prompt of reordering is
        added."""
        from trainables.seq2seq.generator import written

        cleaned = clean_lines(texts, run.experiment.corpus.preparation)
        if isinstance(run.experiment.corpus, ReorderCorpus):
            cleaned = [prompts.reordering(text) for text in cleaned]
        return written(run, cleaned, "write", executor)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        from trainables.seq2seq.generator import export

        return export(run, form, directory)

    def sampler(self, run: Run, whole: bool = False) -> Sampler:
        from trainables.seq2seq.generator import sampler

        return sampler(run, whole)
