"""The sections of an experiment file that NLI adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from augury.augment.operator import RECORDS
from augury.core.errors import UserError
from augury.corpora.nli import NliSpec
from augury.experiments.experiment import AnyRegime, Experiment
from augury.regimes.plain import Plain
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import LabelScoring
from augury.training.batching import Order
from augury.training.settings import Training
from trainables.nli.architecture import AnyModel, Pretrained, Scratch


class FineTuning(Training):
    """The optimisation of XLM-R base in Dong et al. (2021): batch 32, rate 1e-5, the best epoch on validation text.

    What the paper leaves open is chosen: AdamW with decay 0.01, warm-up over 6 % of the updates and a rate that falls
    linearly over ten passes, of which three in a row without gain are the last.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {}}

    max_examples: int | None = Field(32, ge=1)
    learning_rate: float = Field(1e-5, gt=0)
    schedule: Literal["inverse_sqrt", "linear", "constant"] = "linear"
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    adam_betas: tuple[float, float] = (0.9, 0.999)
    adam_eps: float = Field(1e-8, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    max_passes: int | None = Field(10, ge=1)
    max_updates: int | None = Field(None, ge=1)
    patience: int = Field(3, ge=1)
    order: Order = "random"
    weights: Literal["averaged", "last", "best", "chosen"] = "best"


def _unsmoothed(value: Any) -> Any:
    """A regime whose labels are taken as they are unless it says otherwise."""
    if isinstance(value, str):
        value = {"name": value}
    return {"label_smoothing": 0.0, **value} if isinstance(value, Mapping) else value


class Config(Experiment):
    """An NLI experiment."""

    task: Literal["nli"] = "nli"
    corpus: NliSpec
    model: AnyModel = Pretrained()
    max_length: int = Field(128, ge=8)
    """Longer pairs are cut to so many subwords, special ones included, from the longer sentence first, and counted."""
    regime: Annotated[AnyRegime, BeforeValidator(_unsmoothed)] = Plain(label_smoothing=0.0)
    training: FineTuning = FineTuning()
    scoring: LabelScoring = LabelScoring()

    @model_validator(mode="after")
    def _possible(self) -> Config:
        if self.max_length > self.training.max_tokens:
            raise UserError(
                f"a pair of max_length={self.max_length} subwords does not fit training.max_tokens="
                f"{self.training.max_tokens}: lower the one or raise the other"
            )
        if isinstance(self.model, Scratch) and self.max_length > self.model.max_positions:
            raise UserError(
                f"a pair of max_length={self.max_length} subwords exceeds model.max_positions="
                f"{self.model.max_positions}: lower the one or raise the other"
            )
        if any(draw.target != TARGET for draw in self.draws()):
            raise UserError(
                "regime multi_source with equation=2 predicts plain sources, and a classifier predicts labels: "
                "set regime.equation=1"
            )
        beside = [view for draw in self.draws() if len(draw.views) > 1 for view in draw.views if view != SOURCE]
        if beside and self.records:
            raise UserError(
                f"regime {self.regime.name} reads the view {beside[0]} beside every source, and the records of "
                f"{', '.join(self.records)} have none: take an operator's copies as views (use: view, of eda and "
                "reorder) or leave it out, or take a regime that reads one view at a time"
            )
        return self

    @property
    def records(self) -> list[str]:
        """The origins of the records that the operators make."""
        return [part.name() for operator in self.augment for part in operator.parts() if part.makes() == RECORDS]
