"""Settings of the encoder-decoder: a pretrained model, or a small T5 with random weights."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import ModelName, Section
from augury.models.settings import Pretrained, check_heads, scratch_or_pretrained


class PretrainedGenerator(Pretrained):
    """A pretrained encoder-decoder with its tokenizer."""

    name: ModelName = "t5-base"
    """Directory written by `save_pretrained`, or name on the hub, of an encoder-decoder."""


class TinyT5(Section):
    """A T5 with random weights and subwords learned from its training text."""

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    architecture: Literal["tiny"]
    vocabulary_size: int = Field(1000, ge=10, le=10_000_000)
    """Maximum number of subwords."""
    layers: int = Field(2, ge=1, le=1000)
    """Layers of the encoder, and of the decoder."""
    hidden_size: int = Field(64, ge=2, le=100_000)
    feedforward_size: int = Field(256, ge=1, le=1_000_000)
    attention_heads: int = Field(4, ge=1, le=10_000)
    dropout: float = Field(0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _heads_fit(self) -> TinyT5:
        check_heads(self.hidden_size, self.attention_heads)
        return self


GeneratorModel = Annotated[
    PretrainedGenerator | TinyT5, scratch_or_pretrained(TinyT5, PretrainedGenerator)
]
