"""The task of giving rows of one or two sentences one of a few labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from augury.core import yaml_file
from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.locks import make_once
from augury.core.naming import counted
from augury.core.store import Folder, Store
from augury.corpora.corpus import LABELS, Corpus, input_columns
from augury.corpora.filters import clean_lines
from augury.corpora.labels import check_labels, label_counts
from augury.corpora.languages import UNSPACED, base_language
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.task import Draft, Exported, Task
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.models.sizes import Size, pretrained_size, transformer
from augury.regimes.regime import SOURCE
from augury.text.pieces import subwords
from augury.text.pieces.subwords import Subwords
from augury.text.tokens import Text
from trainables.classification.config import ARCHITECTURES, XLM_R, ClassificationExperiment
from trainables.drafts import filled
from trainables.tokenizers import make_subwords, subword_folder

if TYPE_CHECKING:
    import numpy as np

    from augury.training.learner import Learner

SMALL = 50_000_000
"""The parameters of a small encoder at most, without embeddings: MiniLM has 11M, BERT base 85M."""


class ClassifierTask(Task):
    """Which of a few labels a sentence or a pair of sentences has, by an encoder with a tokenizer
    of `transformers`, pretrained or learned from its text."""

    EXPERIMENT: ClassVar[type[Experiment]] = ClassificationExperiment
    EXAMPLE = "echo 'A fine film.'"
    SIDES: ClassVar = {SOURCE: ("text",)}
    ROWS_PER_SECOND: ClassVar[int] = 5_000

    def sides(self, experiment: Any) -> Mapping[str, tuple[str, ...]]:
        return {SOURCE: input_columns(experiment.corpus.KIND.columns)}

    def columns(self, experiment: Any) -> tuple[str, ...]:
        """Return the columns of a row's sentences."""
        return self.sides(experiment)[SOURCE]

    def labels(self, experiment: Any) -> tuple[str, ...]:
        return tuple(experiment.labels)

    def tokenizer(self, experiment: Any, texts: Mapping[str, Text], store: Store) -> Subwords:
        return Subwords(subword_folder(experiment.model, texts, store), experiment.max_length)

    def make_tokenizer(self, experiment: Any, texts: Mapping[str, Text], folder: Folder) -> None:
        make_subwords(experiment.model, texts, folder)

    def address_settings(self, experiment: Any) -> dict[str, Any]:
        settings: dict[str, Any] = {"model": pretrained.address_settings(experiment.model)}
        if experiment.labels != LABELS:  # whose order is fixed
            settings["labels"] = list(experiment.labels)
        return settings

    def check(self, experiment: Any, store: Store) -> None:
        for split in experiment.corpus.splits():
            counts = label_counts(self.corpus(experiment, split, store))
            texts = {"train": experiment.corpus.train, "valid": experiment.corpus.valid}
            text = {**texts, **experiment.corpus.tests}.get(split)
            column = getattr(text, "table_columns", {}).get("label", "of labels")
            check_labels(experiment.labels, split, counts, column)

    def check_model(self, experiment: Any, store: Store) -> None:
        if not isinstance(experiment.model, Pretrained):
            return
        from trainables.classification.model import check
        from trainables.training import symbols_of

        folder = self.tokenizer(experiment, {}, store).folder
        make_once(folder, lambda: self.make_tokenizer(experiment, {}, folder))
        directory = subwords.directory_of(folder)
        if experiment.token_draws:
            symbols_of(subwords.load(directory))
        check(
            experiment.model,
            experiment.labels,
            len(self.columns(experiment)),
            directory,
            experiment.max_length,
        )

    def size(self, experiment: Any, store: Store) -> Size | None:
        model, sizes = experiment.model, experiment.model.sizes
        return transformer(
            model.vocabulary_size, sizes.hidden_size, sizes.feedforward_size, sizes.layers
        )

    def learner(self, run: Run) -> Learner:
        from trainables.classification.training import Classification

        return Classification(run)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        from trainables.classification.training import classify

        rows = list(zip(*map(corpus.column, self.columns(run.experiment)), strict=True))
        executor = run.experiment.execution.executor
        return classify(run, rows, executor=executor, name=f"classify {test}")

    def translate(
        self, run: Run, texts: Sequence[str], *, executor: ExecutorName = "local", **options: Any
    ) -> list[str]:
        """Return the label of every line of tab-separated sentences, cleaned like training text."""
        from trainables.classification.training import classify

        lines = [text.split("\t") for text in texts]
        names = self.columns(run.experiment)
        for number, line in enumerate(lines, 1):
            if len(line) != len(names):
                tabs, form = counted(len(line) - 1, "tab"), "<TAB>".join(names)
                wanted = "without tabs" if len(names) == 1 else "on every line"
                raise UserError(f"line {number} has {tabs}: give {form} {wanted}")
        preparation = run.experiment.corpus.preparation
        columns = [clean_lines(column, preparation) for column in zip(*lines, strict=True)]
        return classify(run, list(zip(*columns, strict=True)), executor=executor)

    def probabilities(self, run: Run, *columns: Sequence[str]) -> np.ndarray:
        from trainables.classification.training import probabilities

        return probabilities(run, columns)

    def draft(self, rows: int, model: str | None, languages: Sequence[str]) -> Draft:
        """Return a first experiment: EDA, or noise in languages without spaces, with a pretrained
        model, or one from nothing if `model` is the name of an architecture."""
        name = model or XLM_R
        training, settings = "max_tokens: 4096", f"name: {yaml_file.inline(name)}"
        size = pretrained_size(name)
        if name in ARCHITECTURES:
            settings = f"architecture: {name}"
        elif size is not None and size.source <= SMALL:
            training += ", learning_rate: 1.0e-4"  # the rest follows the model
        texts = yaml_file.read(Path(__file__).with_name("draft.yaml")).content
        words, letters = texts.pop("words"), texts.pop("letters")
        system = letters if base_language(languages[0]) in UNSPACED else words
        return filled(texts, model=settings, training=training, **system)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        """Write model and tokenizer, for AutoModelForSequenceClassification and AutoTokenizer."""
        from trainables.classification.training import trained

        if form != "hf":
            raise UserError(f"this task has no form '{form}': export --to takes hf")
        experiment: Any = run.experiment
        reader = trained(run)
        text, preparation = ["in NFC"], experiment.corpus.preparation
        if preparation.lowercase:
            text.append("in lower case")
        if preparation.unescape:
            text.append("without HTML entities")
        columns, labels = self.columns(experiment), ", ".join(experiment.labels)
        read = f"It labels {' and '.join(columns)} ({labels}), {', '.join(text)}."
        pretrained.quieten()
        reader.model.save_pretrained(directory)
        reader.tokenizer.save_pretrained(directory)
        return Exported(
            "transformers",
            "text-classification",
            experiment.corpus.languages_of("train"),
            _usage(columns, experiment.max_length),
            (read,),
        )


def _usage(columns: Sequence[str], max_length: int) -> str:
    """Return Python code that labels the lines of its input, columns separated by tabs."""
    keys = '"text", "text_pair"' if len(columns) > 1 else '"text",'
    row = " and ".join(columns) + " with a tab between" * (len(columns) > 1)
    return f"""\
import sys

from transformers import pipeline

classify = pipeline("text-classification", model=".")  # this directory, or its name on the hub
lines = sys.stdin.read().splitlines()  # each {row}
rows = [dict(zip(({keys}), line.split("\\t"), strict=True)) for line in lines]
print(*classify(rows, truncation=True, max_length={max_length}), sep="\\n")
"""
