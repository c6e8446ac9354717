"""What an experiment says of the translation transformer: an architecture by name, and what to change in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.mutability import MUTABLE
from augury.text.architecture import Attention, check_heads


@dataclass(frozen=True)
class Sizes:
    """What an architecture fixes; encoder and decoder share all but their depth."""

    encoder_layers: int
    decoder_layers: int
    hidden_size: int
    feedforward_size: int
    attention_heads: int
    dropout: float
    attention_dropout: float


ARCHITECTURES = {
    "transformer_iwslt_de_en": Sizes(6, 6, 512, 1024, 4, dropout=0.3, attention_dropout=0.1),
    "transformer_wmt_en_de": Sizes(6, 6, 512, 2048, 8, dropout=0.1, attention_dropout=0.0),
    "small": Sizes(3, 3, 256, 1024, 4, dropout=0.3, attention_dropout=0.1),
    "tiny": Sizes(2, 2, 128, 512, 4, dropout=0.1, attention_dropout=0.0),
}


class ModelConfig(Section):
    """An architecture by name and what to change in it; a size left out is the architecture's."""

    architecture: Literal["transformer_iwslt_de_en", "transformer_wmt_en_de", "small", "tiny"] = (
        "transformer_iwslt_de_en"
    )
    encoder_layers: int | None = Field(None, ge=1)
    decoder_layers: int | None = Field(None, ge=1)
    hidden_size: int | None = Field(None, ge=2)
    feedforward_size: int | None = Field(None, ge=1)
    attention_heads: int | None = Field(None, ge=1)
    dropout: Annotated[float | None, MUTABLE] = Field(None, ge=0, lt=1)
    attention_dropout: Annotated[float | None, MUTABLE] = Field(None, ge=0, lt=1)
    max_positions: int = Field(512, ge=2)
    """Longest source or target in pieces, the end of sentence included."""
    share_all_embeddings: bool = False
    """One matrix for source, target and output; otherwise the source has its own."""
    attention: Attention = "auto"
    """`auto` is `sdpa` where there is a GPU and else `eager`, which is quicker for short sentences."""

    @model_validator(mode="after")
    def _fits(self) -> ModelConfig:
        resolve(self)
        return self


def resolve(config: ModelConfig) -> Sizes:
    """The sizes of `config`, overrides applied; UserError where the heads do not divide the hidden size."""
    architecture = ARCHITECTURES[config.architecture]
    overrides = {name: getattr(config, name) for name in asdict(architecture)}
    sizes = replace(architecture, **{name: value for name, value in overrides.items() if value is not None})
    check_heads(sizes.hidden_size, sizes.attention_heads)
    return sizes
