"""The base of tasks that classify one or two sentences: settings, tokenizer, and what is done
with a finished run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines
from augury.experiments.run import Run
from augury.experiments.sizes import Size, pretrained_size, transformer
from augury.experiments.spec import AnyRegime, Experiment
from augury.experiments.task import Exported
from augury.regimes.plain import Plain
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import LabelScoring
from augury.tasks.classifier_settings import ClassifierModel, PretrainedClassifier, Scratch
from augury.tasks.subword_task import SubwordTask
from augury.text.architecture import Pretrained
from augury.text.subwords import Subwords
from augury.training.settings import FineTuning

if TYPE_CHECKING:
    import numpy as np

    from augury.training.learner import Learner


class ClassifierTraining(FineTuning):
    """The optimisation of XLM-R base in Dong et al. (2021): batch 32, rate 1e-5, the best pass on
    validation text.

    What the paper leaves open is chosen: AdamW with decay 0.01, warm-up over 6 % of the updates and
    a rate that falls linearly over ten passes, of which three in a row without gain are the last.
    """

    max_examples: int | None = Field(32, ge=1)
    learning_rate: float = Field(1e-5, gt=0)
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    weight_decay: float = Field(0.01, ge=0)


def _unsmoothed(value: Any) -> Any:
    """A regime whose labels are taken as they are unless it says otherwise."""
    if isinstance(value, str):
        value = {"name": value}
    return {"label_smoothing": 0.0, **value} if isinstance(value, Mapping) else value


class ClassifierConfig(Experiment):
    """An experiment with a classifier."""

    model: ClassifierModel = PretrainedClassifier()
    max_length: int = Field(128, ge=8)
    """Longer rows are cut to so many subwords, special ones included, from the longer sentence
    first, and counted."""
    regime: Annotated[AnyRegime, BeforeValidator(_unsmoothed)] = Plain(label_smoothing=0.0)
    training: ClassifierTraining = ClassifierTraining()
    scoring: LabelScoring = LabelScoring()

    @model_validator(mode="after")
    def _possible(self) -> ClassifierConfig:
        if self.max_length > self.training.max_tokens:
            raise UserError(
                f"a row of max_length={self.max_length} subwords does not fit training.max_tokens="
                f"{self.training.max_tokens}: lower the one or raise the other"
            )
        if isinstance(self.model, Scratch) and self.max_length > self.model.max_positions:
            raise UserError(
                f"a row of max_length={self.max_length} subwords exceeds model.max_positions="
                f"{self.model.max_positions}: lower the one or raise the other"
            )
        if any(group.target != TARGET for group in self.view_groups()):
            raise UserError(
                "regime multi_source with equation=2 predicts plain sources, and a classifier "
                "predicts labels: "
                "set regime.equation=1"
            )
        return self


class ClassifierTask(SubwordTask):
    """A task that gives one of a few labels to a row of one or two sentences.

    A subclass names columns and labels.
    """

    ROWS_PER_SECOND: ClassVar[int] = 5_000

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a row's sentences."""
        return self.SIDES[SOURCE]

    def labels(self, experiment: Any) -> tuple[str, ...]:
        """Return the labels, in the order of the classes of models."""
        return tuple(experiment.corpus.labels)

    def subwords(self, experiment: Any, folder: Folder) -> Subwords:
        return Subwords(folder, experiment.max_length)

    def check_model(self, experiment: Any, store: Store) -> None:
        super().check_model(experiment, store)
        if isinstance(experiment.model, Pretrained):
            from augury.tasks.classifier import check

            directory = self.keep_tokenizer(experiment, store)
            embedded = experiment.regime.needs_embeddings
            labels, columns = self.labels(experiment), len(self.columns)
            check(
                experiment.model,
                labels,
                columns,
                directory,
                experiment.max_length,
                embedded=embedded,
            )

    def size(self, experiment: Any, store: Store) -> Size | None:
        model = experiment.model
        if isinstance(model, Pretrained):
            return pretrained_size(model.name)
        sizes = model.sizes
        return transformer(
            model.vocabulary_size, sizes.hidden_size, sizes.feedforward_size, sizes.layers
        )

    def learner(self, run: Run) -> Learner:
        from augury.tasks.classification import Classification

        return Classification(run, self)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        rows = list(zip(*map(corpus.column, self.columns), strict=True))
        return self._classified(run, rows, run.experiment.execution.executor, f"classify {test}")

    def translate(
        self, run: Run, texts: Sequence[str], *, executor: ExecutorName = "local", **options: Any
    ) -> list[str]:
        """Return the label of every line of sentences parted by tabs, cleaned as training text
        is."""
        lines = [text.split("\t") for text in texts]
        for number, line in enumerate(lines, 1):
            if len(line) != len(self.columns):
                wanted = "<TAB>".join(self.columns)
                raise UserError(
                    f"line {number} has {len(line) - 1} tabs: give {wanted} on every line"
                )
        cleaning = run.experiment.corpus.preparation
        columns = [
            clean_lines([line[place] for line in lines], cleaning)
            for place in range(len(self.columns))
        ]
        return self._classified(run, list(zip(*columns, strict=True)), executor, "classify")

    def _classified(
        self, run: Run, rows: Sequence[Sequence[str]], executor: ExecutorName, name: str
    ) -> list[str]:
        from augury.tasks.classification import classify

        labels = self.labels(run.experiment)
        return [labels[label] for label in classify(run, rows, executor=executor, name=name)]

    def probabilities(self, run: Run, *columns: Sequence[str]) -> np.ndarray:
        from augury.tasks.classification import probabilities

        return probabilities(run, columns)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        """Write model and tokenizer, which AutoModelForSequenceClassification and AutoTokenizer
        read."""
        import torch

        from augury.tasks.classification import LoadedClassifier

        experiment: Any = run.experiment
        loaded = LoadedClassifier(run, torch.device("cpu"))
        self.write(form, loaded.reader.model, loaded.tokenizer, directory)
        two = len(self.columns) > 1
        example = (
            '{"text": "Two dogs run.", "text_pair": "Animals move."}'
            if two
            else '{"text": "Two dogs run."}'
        )
        usage = f"""\
from transformers import pipeline

classify = pipeline("text-classification", model=".")  # this directory, or its name on the hub
row = {example}  # {", ".join(self.columns)}
print(classify(row, truncation=True, max_length={experiment.max_length}))
"""
        cleaning = experiment.corpus.preparation
        text = [
            "in NFC",
            *["in lower case"] * cleaning.lowercase,
            *["without HTML entities"] * cleaning.unescape,
        ]
        return Exported(
            "transformers",
            "text-classification",
            experiment.corpus.languages_of("train"),
            usage,
            (
                f"It labels {' and '.join(self.columns)} "
                f"({', '.join(self.labels(run.experiment))}), {', '.join(text)}.",
            ),
            base_model=self.base_model(experiment),
        )
