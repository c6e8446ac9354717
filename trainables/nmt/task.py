"""The tasks of encoder-decoders: checks, the settings in a model's address, and what finished runs
do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.store import Folder, Store
from augury.core.words import is_unspaced
from augury.corpora.corpus import PARALLEL, Corpus
from augury.corpora.filters import clean_lines
from augury.corpora.languages import base_language
from augury.decoding.search import check_lengths
from augury.decoding.settings import Decoding, Sampler, Translator
from augury.experiments.run import Run
from augury.experiments.task import Draft, Exported, Task
from augury.models import pretrained
from augury.models.sizes import Size
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.registry import metric
from augury.scoring.sacre import FIXED
from augury.text.tokens import Text, Tokenizer
from trainables.nmt.config import SequenceExperiment, TranslationExperiment
from trainables.nmt.draft import draft
from trainables.nmt.pretrained import architecture
from trainables.nmt.trained import Trained
from trainables.nmt.translators import SIDES

if TYPE_CHECKING:
    from augury.training.learner import Learner

TOKENISED_APART = ("ja", "ko")  # by packages that are installed or not
REFERENCES = 200  # that are read to see whether a metric can count their words


class SequenceTask(Task):
    """A task whose models write a text for a text."""

    SIDES: ClassVar = SIDES
    ROWS_PER_SECOND: ClassVar[int] = 60_000

    def check(self, experiment: SequenceExperiment, store: Store) -> None:
        architecture(experiment).check(store)

    def check_model(self, experiment: SequenceExperiment, store: Store) -> None:
        architecture(experiment).check_model(store)

    def tokenizer(
        self, experiment: SequenceExperiment, texts: Mapping[str, Text], store: Store
    ) -> Tokenizer:
        return architecture(experiment).tokenizer(texts, store)

    def make_tokenizer(
        self, experiment: SequenceExperiment, texts: Mapping[str, Text], folder: Folder
    ) -> None:
        architecture(experiment).make_tokenizer(texts, folder)

    def check_held_out(
        self, experiment: SequenceExperiment, tokenizer: Folder, corpora: Mapping[str, Corpus]
    ) -> None:
        model = architecture(experiment, tokenizer)
        for name, corpus in corpora.items():
            if corpus.kind != PARALLEL:  # examples, of which the pairs are not made yet
                continue
            _, offsets = model.vocabulary.encode(corpus.column("source"), SOURCE)
            if name in ("valid", *experiment.corpus.dev_sets):  # whose targets are read too
                _, offsets = model.vocabulary.encode(corpus.column("target"), TARGET)
                longest = int(np.diff(offsets).max()) + len(model.vocabulary.first)
                if longest >= model.positions:
                    raise UserError(
                        f"{name}: a target of {longest} pieces exceeds the model's "
                        f"{model.positions} positions, end of sentence included: split or shorten "
                        "it, or train with larger model.max_positions"
                    )
            symbols = len(model.prefix(experiment.corpus.tag(name)))
            lengths = [range(length + symbols) for length in np.diff(offsets).tolist()]
            try:
                check_lengths(lengths, experiment.decoding, model.positions)
            except UserError as error:
                raise UserError(f"{name}: {error}") from error

    def size(self, experiment: SequenceExperiment, store: Store) -> Size | None:
        return architecture(experiment).size(store)

    def address_settings(self, experiment: SequenceExperiment) -> dict[str, Any]:
        return {
            "model": pretrained.address_settings(experiment.model),
            "validation": experiment.validation.to_dict(),
            "max_pieces": experiment.max_pieces,
            "tag": experiment.corpus.tag("valid"),
        }

    def learner(self, run: Run) -> Learner:
        from trainables.nmt.translation import Translation

        return Translation(run)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        """Return the run's outputs for the sources of a test set."""
        tag = run.experiment.corpus.tag(test)
        return Trained(run).translate(corpus.column("source"), label=f"translate {test}", tag=tag)

    def translate(
        self,
        run: Run,
        texts: Sequence[str],
        *,
        executor: ExecutorName = "local",
        decoding: Decoding | None = None,
        tag: str | None = None,
        **options: Any,
    ) -> list[str]:
        """Return the outputs for texts, each of which is cleaned as the training text was.

        Where models read the tag of a domain, it is `tag`, empty for none, or by default that of
        the validation set.
        """
        corpus = run.experiment.corpus
        cleaned = clean_lines(texts, corpus.preparation)
        read_tag = corpus.tag("valid") if tag is None else tag
        return Trained(run).translate(cleaned, decoding, executor, tag=read_tag)

    def sampler(self, run: Run) -> Sampler:
        return Trained(run).sampler(run.experiment.execution.local_device)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        from trainables.nmt.exporting import export

        return export(Trained(run), form, directory)


class Nmt(SequenceTask):
    """Translate sentences."""

    EXPERIMENT = TranslationExperiment
    VERSION = 3
    EXAMPLE = "echo 'ein Satz'"

    def check(self, experiment: SequenceExperiment, store: Store) -> None:
        """Raise UserError for metrics that cannot tokenise the target, and where the model cannot
        be prepared."""
        language, names = experiment.languages[1], [*experiment.scoring.metrics]
        names += [experiment.validation.metric] * (experiment.validation.metric != "loss")
        references = self.corpus(experiment, "valid", store).column("target")[:REFERENCES]
        unspaced = is_unspaced(references)
        fixed = any(name.endswith(FIXED) for name in names)
        if base_language(language) in TOKENISED_APART or unspaced or fixed:
            for name in dict.fromkeys(names):
                metric(name, language).require_words(references)
        super().check(experiment, store)

    def translator(self, run: Run, threads: int) -> Translator:
        return Trained(run).translator(threads)

    def trained(self, run: Run) -> Trained:
        return Trained(run)

    def draft(self, rows: int, model: str | None, languages: Sequence[str]) -> Draft:
        return draft(rows, model, languages[-1])
