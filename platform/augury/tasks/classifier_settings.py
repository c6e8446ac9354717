"""Settings of classifiers: a pretrained model by name, or a small one with random weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.mutability import MUTABLE
from augury.text.architecture import (
    Attention,
    Pretrained,
    check_heads,
    overridden,
    scratch_or_pretrained,
)


class PretrainedClassifier(Pretrained):
    """A model that others have trained, with its tokenizer.

    A classifier of the same labels keeps its head.
    """

    name: str = "FacebookAI/xlm-roberta-base"
    """Directory that `save_pretrained` wrote, or name on the hub.

    Any encoder that classifies sequences.
    """
    dropout: Annotated[float | None, MUTABLE] = Field(None, ge=0, lt=1)
    """In place of all of the model's dropout."""
    attention: Attention = "auto"
    """`auto` is `sdpa` where there is a GPU and the model has it, else `eager`, quicker for
    short sentences on CPUs."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a named architecture."""

    layers: int
    hidden_size: int
    feedforward_size: int
    attention_heads: int


ARCHITECTURES = {"tiny": Sizes(2, 64, 256, 4), "small": Sizes(4, 256, 1024, 4)}


class Scratch(Section):
    """XLM-R's architecture in a small size, from nothing; a size left out is the architecture's."""

    architecture: Literal["tiny", "small"]
    """Sizes, where they are not set."""
    vocabulary_size: int = Field(2000, ge=10)
    """Maximum number of subwords, learned from the training text."""
    layers: int | None = Field(None, ge=1)
    hidden_size: int | None = Field(None, ge=2)
    feedforward_size: int | None = Field(None, ge=1)
    attention_heads: int | None = Field(None, ge=1)
    dropout: Annotated[float, MUTABLE] = Field(0.1, ge=0, lt=1)
    max_positions: int = Field(512, ge=8)
    """Longest row in subwords."""
    attention: Attention = "auto"
    """`auto` is `sdpa` where there is a GPU and else `eager`, which is quicker for short
    sentences."""

    @property
    def sizes(self) -> Sizes:
        """The sizes of the architecture, overrides applied."""
        return overridden(ARCHITECTURES[self.architecture], self)

    @model_validator(mode="after")
    def _heads_fit(self) -> Scratch:
        check_heads(self.sizes.hidden_size, self.sizes.attention_heads)
        return self


ClassifierModel = Annotated[
    PretrainedClassifier | Scratch, scratch_or_pretrained(Scratch, PretrainedClassifier)
]
