"""LoRA (Hu et al. 2022) by the package `peft`: low-rank updates are trained in place of the
weights of a pretrained model."""

from __future__ import annotations

import copy
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from augury.core.config import Section
from augury.core.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

M = TypeVar("M", bound="PreTrainedModel")


class Lora(Section):
    """Train updates of low rank, W + alpha / rank · B A, of all linear layers but the output, and
    leave the model's own weights."""

    rank: int = Field(16, ge=1, le=100_000)
    """The rank of an update."""
    alpha: float = Field(32, gt=0)
    """The factor of an update, divided by the rank."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout of what an update reads."""


def require_peft() -> None:
    """Raise UserError unless the package is installed."""
    if find_spec("peft") is None:
        raise UserError(
            "model.lora needs the package peft: pip install 'augury[lora]', or leave out "
            "model.lora to train all weights"
        )


def adapt(model: PreTrainedModel, settings: Lora) -> None:
    """Add untrained updates to a model, the only parameters that are trained from then on.

    A is drawn by torch's random state, and B is zero, so that outputs stay.
    """
    require_peft()
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
    )
    inject_adapter_in_model(config, model)


def merged(model: M) -> M:
    """Return an equal model without updates, which are added to the weights of a copy."""
    if not hasattr(model, "peft_config"):
        return model
    from peft.tuners.tuners_utils import BaseTunerLayer

    copied = copy.deepcopy(model)
    layers = [
        (name, layer) for name, layer in copied.named_modules() if isinstance(layer, BaseTunerLayer)
    ]
    for name, layer in layers:
        layer.merge()
        parent, _, attribute = name.rpartition(".")
        setattr(copied.get_submodule(parent), attribute, layer.get_base_layer())
    del copied.peft_config
    return copied
