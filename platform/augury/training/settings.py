"""Settings of the optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.errors import UserError, unknown
from augury.training.batching import Order

if TYPE_CHECKING:
    from augury.training.checkpoint import Position  # it imports torch

BUDGETS = ("max_epochs", "max_updates")
"""The settings that only decide when training ends, apart from patience."""


class Training(Section):
    """The optimisation of a model; every setting is part of a run's address."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"weights": "averaged"},
        "released_code": {
            "max_tokens": 5000,
            "accumulation": 4,
            "warmup_updates": 6000,
            "patience": 25,
            "clip_norm": 0.1,
            "weight_decay": 1e-4,
            "decayed": "all",
            "adam_eps": 1e-8,
            "validate_every_epochs": 4,
            "weights": "averaged",
        },
    }
    """`released_code` is the script of CipherDAug with fairseq's Adam. Its epoch of 641,000 samples
    reads the 160,239 pairs of IWSLT14 four times."""

    preset: str | None = Field(None, exclude=True)
    """Preset that the other settings override."""
    max_tokens: int = Field(4096, gt=0, le=10_000_000)
    """Budget of one batch: rows × longest side, counted on the plain source and the target,
    whatever view is read."""
    max_examples: int | None = Field(None, ge=1, le=10_000_000)
    """Maximum number of examples in a batch besides max_tokens; null: no maximum."""
    order: Order = "length"
    """length: batches of rows of similar length; random: of random rows, which need more padding.
    """
    accumulation: int = Field(1, ge=1, le=100_000)
    """Batches per worker and optimizer step."""
    workers: int = Field(1, ge=1, le=100_000)
    """Data-parallel workers; a step reads workers × accumulation batches."""
    learning_rate: float = Field(6e-4, gt=0)
    """Peak of the schedule."""
    schedule: Literal["inverse_sqrt", "linear", "constant"] = "inverse_sqrt"
    """After warm-up: peak × sqrt(warm-up / step), linear to zero at the last update, or
    constant."""
    warmup_updates: int = Field(8000, ge=0)
    """Updates during which the rate rises linearly from zero."""
    warmup_share: float | None = Field(None, ge=0, lt=1)
    """The same as a share of all updates, in place of warmup_updates."""
    adam_betas: tuple[float, float] = (0.9, 0.98)
    """β1 and β2 of Adam."""
    adam_eps: float = Field(1e-9, gt=0)
    """ε of Adam."""
    weight_decay: float = Field(0.0, ge=0)
    """Decoupled from the gradient (AdamW), and multiplied by the learning rate."""
    decayed: Literal["matrices", "all"] = "matrices"
    """What weight_decay acts on: matrices alone, or biases and normalisation too (fairseq)."""
    clip_norm: float = Field(0.0, ge=0)
    """Maximum norm of the gradient; 0: it is not clipped."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """bf16: matrix products under autocast, parameters and sums in fp32."""
    max_epochs: int | None = Field(None, ge=1)
    """Epochs after which training ends; an epoch reads every training row once, with one of its
    views."""
    max_updates: int | None = Field(100_000, ge=1)
    """Optimizer steps after which training ends; setting one of both budgets drops the other's
    default."""
    validate_every: int | None = Field(None, ge=1)
    """Updates between validations; null: validate_every_epochs decides."""
    validate_every_epochs: int = Field(1, ge=1)
    """Epochs between validations, where validate_every is not set."""
    patience: int = Field(15, ge=1)
    """Stop after this many validations in a row that are not strictly better."""
    stop_on: Literal["score", "loss"] = "score"
    """The quantity that must improve: the task's validation score or the validation loss."""
    weights: Literal["averaged", "last", "best", "chosen"] = "chosen"
    """The weights to report on: averaged over the last checkpoints, last, best by stop_on, or
    chosen, whichever of these is best on the validation set. A mean over a run that still improves
    is worse than its end."""
    average_last: int = Field(5, ge=1, le=10_000)
    """The number of checkpoints in the mean: those of the last validations, or fewer where there
    are fewer."""

    @model_validator(mode="before")
    @classmethod
    def _expand_preset(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and (preset := values.get("preset")) is not None:
            if preset not in cls.PRESETS:
                raise unknown("preset of training", str(preset), cls.PRESETS)
            return {**cls.PRESETS[preset], **values}
        return values

    @model_validator(mode="before")
    @classmethod
    def _one_budget(cls, values: Any) -> Any:
        if isinstance(values, Mapping):
            for budget, other in (BUDGETS, BUDGETS[::-1]):
                if values.get(budget) is not None and other not in values:
                    return {**values, other: None}
        return values

    @model_validator(mode="after")
    def _ends(self) -> Training:
        if self.max_epochs is None and self.max_updates is None:
            raise UserError("training needs an end: set max_epochs or max_updates")
        return self

    def inactive(self) -> dict[str, str]:
        unused = {}
        if self.warmup_share is not None:
            unused["warmup_updates"] = "warmup_share gives the warm-up"
        if self.validate_every is not None:
            unused["validate_every_epochs"] = "validate_every says when, in updates"
        if self.weights in ("last", "best"):
            unused["average_last"] = f"the weights are the {self.weights} ones"
        if not self.weight_decay:
            unused["decayed"] = "weight_decay=0 lets nothing decay"
        return unused

    def spent(self, position: Position) -> bool:
        """Return whether the updates or the whole epochs until a position use up a budget."""
        limits = ((position.update, self.max_updates), (position.epochs, self.max_epochs))
        return any(limit is not None and count >= limit for count, limit in limits)

    def validates(self, position: Position) -> bool:
        """Return whether a validation is due at a position."""
        if self.validate_every is not None:
            return position.update % self.validate_every == 0
        return position.in_epoch == 0 and position.epochs % self.validate_every_epochs == 0


class FineTuning(Training):
    """The optimisation of a pretrained model: a rate that falls linearly over ten epochs.

    It ends after three epochs without gain, and keeps the checkpoint of the best validation.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    order: Order = "random"
    schedule: Literal["inverse_sqrt", "linear", "constant"] = "linear"
    adam_betas: tuple[float, float] = (0.9, 0.999)
    adam_eps: float = Field(1e-8, gt=0)
    max_epochs: int | None = Field(10, ge=1)
    max_updates: int | None = Field(None, ge=1)
    patience: int = Field(3, ge=1)
    weights: Literal["averaged", "last", "best", "chosen"] = "best"


def without_end(training: Training) -> dict[str, Any]:
    """Return the settings in a run's address, without those that only decide when it ends."""
    ends = ["patience"]
    if training.schedule != "linear" and training.warmup_share is None:
        ends += BUDGETS  # on which the learning rate does not depend
    return {key: value for key, value in training.to_dict().items() if key not in ends}
