"""Settings of classifiers: the model, pretrained or small and random, and the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from augury.core.config import Section, discriminated_union
from augury.core.errors import UserError
from augury.corpora.spec import LabelledPairsSpec, LabelledSpec
from augury.experiments.spec import AnyRegime, Direction, Experiment
from augury.models.settings import Pretrained, check_heads, overridden, scratch_or_pretrained
from augury.regimes.plain import Plain
from augury.regimes.regime import TARGET
from augury.scoring.settings import LabelScoring
from augury.training.settings import FineTuning, Training

XLM_R = "FacebookAI/xlm-roberta-base"


@dataclass(frozen=True)
class Sizes:
    """The sizes of a named architecture."""

    layers: int
    hidden_size: int
    feedforward_size: int
    attention_heads: int


ARCHITECTURES = {"tiny": Sizes(2, 64, 256, 4), "small": Sizes(4, 256, 1024, 4)}


class Scratch(Section):
    """XLM-R's architecture in a small size with random weights; a size left out is the
    architecture's."""

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    architecture: Literal["tiny", "small"]
    """Sizes, where they are not set."""
    vocabulary_size: int = Field(2000, ge=10, le=10_000_000)
    """Maximum number of subwords, learned from the training text."""
    layers: int | None = Field(None, ge=1, le=1000)
    hidden_size: int | None = Field(None, ge=2, le=100_000)
    feedforward_size: int | None = Field(None, ge=1, le=1_000_000)
    attention_heads: int | None = Field(None, ge=1, le=10_000)
    dropout: float = Field(0.1, ge=0, lt=1)
    max_positions: int = Field(512, ge=8, le=1_000_000)
    """Longest row in subwords."""

    @property
    def sizes(self) -> Sizes:
        """The sizes of the architecture, overrides applied."""
        return overridden(ARCHITECTURES[self.architecture], self)

    @model_validator(mode="after")
    def _heads_fit(self) -> Scratch:
        check_heads(self.sizes.hidden_size, self.sizes.attention_heads)
        return self


ClassifierModel = Annotated[
    Pretrained | Scratch, scratch_or_pretrained(Scratch, Pretrained, default=Pretrained)
]


class ClassifierTraining(FineTuning):
    """The optimisation of XLM-R base in Dong et al. (2021): batch 32, rate 1e-5, the best epoch on
    validation text. A model from nothing has the defaults of ScratchClassifierTraining.

    What the paper leaves open is chosen: AdamW with decay 0.01, warm-up over 6 % of the updates, a
    rate that falls linearly over ten epochs, and an end after three epochs without gain.
    """

    max_examples: int | None = Field(32, ge=1, le=10_000_000)
    learning_rate: float = Field(1e-5, gt=0)
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    weight_decay: float = Field(0.01, ge=0)


class ScratchClassifierTraining(ClassifierTraining):
    """The optimisation of a classifier that starts from nothing, `model: {architecture: ...}`: a
    hundred times the rate of a pretrained one, and time for the first epochs, which may not gain.

    Settings that are not listed are those of a pretrained model.
    """

    learning_rate: float = Field(1e-3, gt=0)
    max_epochs: int | None = Field(60, ge=1)
    patience: int = Field(10, ge=1)


def _unsmoothed(value: Any) -> Any:
    """Return the settings of a regime, whose labels are not smoothed by default."""
    if isinstance(value, str):
        value = {"name": value}
    return {"label_smoothing": 0.0, **value} if isinstance(value, Mapping) else value


class ClassifierExperiment(Experiment):
    """An experiment with a classifier."""

    model: ClassifierModel = Pretrained(name=XLM_R)
    max_length: int = Field(128, ge=8, le=1_000_000)
    """Longer rows are cut to so many subwords, special ones included, from the longer sentence
    first, and counted."""
    regime: Annotated[AnyRegime, BeforeValidator(_unsmoothed)] = Plain(label_smoothing=0.0)
    training: ClassifierTraining = ClassifierTraining()
    scoring: LabelScoring = LabelScoring()

    TRAININGS: ClassVar[Mapping[bool, type[Training]]] = {False: ScratchClassifierTraining}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the classes of models."""
        corpus: Any = self.corpus
        return tuple(corpus.labels)

    @property
    def validated(self) -> tuple[str, Direction]:
        return "valid/accuracy", "max"

    @property
    def measured(self) -> list[str]:
        return ["valid/accuracy", "valid/loss"]

    @model_validator(mode="after")
    def _possible(self) -> ClassifierExperiment:
        if self.max_length > self.training.max_tokens:
            raise UserError(
                f"a row of max_length={self.max_length} subwords does not fit "
                f"training.max_tokens={self.training.max_tokens}: lower the one or raise the other"
            )
        if isinstance(self.model, Scratch) and self.max_length > self.model.max_positions:
            raise UserError(
                f"a row of max_length={self.max_length} subwords exceeds "
                f"model.max_positions={self.model.max_positions}: lower the one or raise the other"
            )
        if not self.systems and any(group.target != TARGET for group in self.view_groups()):
            raise UserError(
                "regime multi_source with equation=2 predicts plain sources, and a classifier "
                "predicts labels: set regime.equation=1"
            )
        return self


FORMS = {"sentences": LabelledSpec, "pairs": LabelledPairsSpec}


class ClassScoring(LabelScoring):
    """Metrics for predicted labels; macro F1 counts every label alike, however rare."""

    metrics: tuple[str, ...] = Field(("accuracy", "macro_f1"), min_length=1)
    """Names of metrics for labels, or paths of files that define one: accuracy, macro_f1."""


class ClassificationExperiment(ClassifierExperiment):
    """An experiment with labelled sentences, or labelled pairs of sentences."""

    task: Literal["classification"] = "classification"
    corpus: Annotated[
        LabelledSpec | LabelledPairsSpec,
        discriminated_union(FORMS, "corpus", key="form", default="sentences"),
    ]
    scoring: ClassScoring = ClassScoring()
