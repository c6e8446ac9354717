"""The sections of an experiment file that translation adds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from augury.config import Section
from augury.decoding.search import Decoding
from augury.errors import UserError
from augury.experiment import Experiment
from augury.regimes import regime
from augury.regimes.plain import Plain
from augury.regimes.regime import SOURCE, TARGET, Draw, Regime
from augury.scoring.scores import Scoring
from augury.text.vocabulary import VocabularyConfig
from trainables.nmt.model import ModelConfig

AnyRegime = Annotated[SerializeAsAny[Regime], BeforeValidator(regime.parse)]


class Checking(Section):
    """What is measured on the validation set while training."""

    metric: Literal["bleu", "chrf"] = "bleu"
    """Score of the greedy translations of the plain source."""
    sentences: int | None = Field(None, ge=1)
    """Only the first so many are translated; none: all. The loss is over all."""


class Config(Experiment):
    """A translation experiment."""

    task: Literal["nmt"] = "nmt"
    vocabulary: VocabularyConfig = VocabularyConfig()
    max_pieces: int = Field(500, ge=1)
    """Training examples with a longer side or view are left out, and counted."""
    model: ModelConfig = ModelConfig()
    regime: AnyRegime = Plain()
    validation: Checking = Checking()
    decoding: Decoding = Decoding()
    scoring: Scoring = Scoring()

    def plain_system(self) -> dict[str, Any]:
        return {"augment": [], "regime": {"name": "plain", "label_smoothing": self.regime.label_smoothing}}

    @model_validator(mode="after")
    def _consistent(self) -> Config:
        self.draws()
        if len(set(self.keys)) < len(self.keys):
            raise UserError(f"augment makes views of one name: {', '.join(self.keys)}; give every key once")
        if self.max_pieces + 2 > self.model.max_positions:
            raise UserError(
                f"max_pieces={self.max_pieces}, a tag and the end of sentence exceed model.max_positions="
                f"{self.model.max_positions}: lower the one or raise the other"
            )
        return self

    @property
    def keys(self) -> list[str]:
        """The names of the views that the operators make."""
        return [part.name() for operator in self.augment for part in operator.parts()]

    def draws(self) -> list[Draw]:
        """How every example is read in one epoch."""
        return self.regime.draws(self.keys)

    @property
    def tagged(self) -> bool:
        """Whether sources begin with the tag of the language to translate into, as wherever enciphered text is read."""
        return any(draw.target != TARGET or any(view != SOURCE for view in draw.views) for draw in self.draws())
