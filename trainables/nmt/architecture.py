"""Settings of the translation transformer: a named architecture with changes, or a pretrained
model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from augury.core.config import Section, discriminated_union, validate
from augury.models.lora import Lora
from augury.models.settings import Attention, Pretrained, check_heads, overridden


@dataclass(frozen=True)
class Sizes:
    """The sizes of a named architecture; encoder and decoder share all but their depth."""

    encoder_layers: int
    decoder_layers: int
    hidden_size: int
    feedforward_size: int
    attention_heads: int
    dropout: float
    attention_dropout: float
    activation_dropout: float = 0.0


ARCHITECTURES = {
    "transformer_iwslt_de_en": Sizes(6, 6, 512, 1024, 4, dropout=0.3, attention_dropout=0.1),
    "transformer_wmt_en_de": Sizes(6, 6, 512, 2048, 8, dropout=0.1, attention_dropout=0.0),
    "small": Sizes(3, 3, 256, 1024, 4, dropout=0.3, attention_dropout=0.1),
    "tiny": Sizes(2, 2, 128, 512, 4, dropout=0.1, attention_dropout=0.0),
}


class Table(Section):
    """A trained vector for every subword."""

    name: Literal["table"] = "table"
    size: int | None = Field(None, ge=1, le=1_000_000)
    """Size of an embedding (D_emb; CipherDAug, Table 6), by default the hidden size, to which
    others are projected."""

    def counts(self, hidden_size: int) -> tuple[int, int]:
        """Return the numbers of trained parameters of each subword and of those shared by all."""
        size = self.size or hidden_size
        return size, size * hidden_size if size != hidden_size else 0


class Alone(Section):
    """ALONE: one trained vector, a fixed random filter of it per subword, and a feed-forward
    network.

    The number of parameters does not depend on the vocabulary (Takase and Kobayashi 2020;
    CipherDAug, Tables 9, 10).
    """

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    name: Literal["alone"] = "alone"
    base_size: int | None = Field(None, ge=1, le=1_000_000)
    """Size of the vector (D_O), by default the hidden size."""
    intermediate_size: int = Field(4096, ge=1, le=1_000_000)
    """Hidden units of the network (D_inter)."""
    codebooks: int = Field(8, ge=1, le=10_000)
    """Codebooks that a filter is the sum of (M)."""
    codes: int = Field(64, ge=1, le=1_000_000)
    """Codes in each codebook (c)."""
    filter: Literal["real", "binary"] = "real"
    """real: normal numbers of variance 1; binary: half of them 0, the others 1."""
    freeze_base: bool = False
    """Leave the vector as it is drawn."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Of the hidden units, for what the model reads; the output layer has none."""

    def counts(self, hidden_size: int) -> tuple[int, int]:
        """Return the numbers of trained parameters of each subword and of those shared by all."""
        size = self.base_size or hidden_size
        return 0, size * (not self.freeze_base) + self.intermediate_size * (size + hidden_size)


Embeddings = Annotated[
    Table | Alone,
    discriminated_union({"table": Table, "alone": Alone}, "embeddings", default="table"),
]


class ModelConfig(Section):
    """An architecture by name and what to change in it; a size left out is the architecture's."""

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout", "attention_dropout", "activation_dropout")

    architecture: Literal["transformer_iwslt_de_en", "transformer_wmt_en_de", "small", "tiny"] = (
        "transformer_iwslt_de_en"
    )
    """Sizes and dropout, where they are not set."""
    encoder_layers: int | None = Field(None, ge=1, le=1000)
    decoder_layers: int | None = Field(None, ge=1, le=1000)
    hidden_size: int | None = Field(None, ge=2, le=100_000)
    """Size of the hidden states."""
    feedforward_size: int | None = Field(None, ge=1, le=1_000_000)
    """Hidden units of the feed-forward layers."""
    attention_heads: int | None = Field(None, ge=1, le=10_000)
    dropout: float | None = Field(None, ge=0, lt=1)
    attention_dropout: float | None = Field(None, ge=0, lt=1)
    activation_dropout: float | None = Field(None, ge=0, lt=1, exclude_if=lambda rate: rate is None)
    """Of the hidden units of the feed-forward layers; by default 0."""
    norm: Literal["post", "pre"] = Field("post", exclude_if=lambda norm: norm == "post")
    """post: normalisation after every residual connection, as in fairseq's architectures; pre:
    before every sublayer and after the last one, as in OpenNMT-py."""
    max_positions: int = Field(512, ge=2, le=1_000_000)
    """Longest source or target in subwords, the end of sentence included."""
    share_all_embeddings: bool = False
    """One matrix for source, target and output; otherwise the source has its own."""
    embeddings: Embeddings = Table()
    """How subwords become vectors, for source and target alike; the output layer is tied to the
    target's."""
    attention: Attention = "auto"
    """`auto` is `sdpa` where there is a GPU and else `eager`, which is quicker for short
    sentences."""

    @property
    def has_tables(self) -> bool:
        """Whether embeddings are tables of the hidden size, as they are by default."""
        return isinstance(self.embeddings, Table) and self.embeddings.size in (
            None,
            resolve(self).hidden_size,
        )

    @model_validator(mode="after")
    def _fits(self) -> ModelConfig:
        resolve(self)
        return self


class PretrainedTranslator(Pretrained):
    """A pretrained encoder-decoder that translates, of the families of Marian, M2M-100 (NLLB),
    mBART-50 or T5, with its own tokenizer."""

    source_language: str | None = None
    """The source language as the tokenizer calls it, such as deu_Latn; null: that of the corpus,
    where the model knows several languages."""
    target_language: str | None = None
    """The target language, with which outputs begin."""
    prompt: str = ""
    """Text before every source: `translate German to English:` for T5, `>>deu<<` for a Marian of
    several languages."""
    new_pieces: int = Field(4_000, ge=0, le=10_000_000)
    """Pieces to learn for every view that the tokenizer splits into 1.5 times the pieces of the
    source or more, as ciphers; those that the model lacks get new embeddings. 0: no new ones."""
    lora: Lora | None = None
    """Train updates of low rank in place of all weights; needs the package peft."""


def _select(value: Any) -> Any:
    """Return the settings of a pretrained model if they have a `name`, else of one from nothing."""
    if not isinstance(value, Mapping):
        return value
    if "name" in value:
        return validate(PretrainedTranslator, value, "a pretrained model")
    return validate(ModelConfig, value, "a model trained from scratch")


TranslationModel = Annotated[ModelConfig | PretrainedTranslator, BeforeValidator(_select)]


def resolve(config: ModelConfig) -> Sizes:
    """Return the sizes of `config`, overrides applied; UserError where the heads do not divide
    the hidden size."""
    sizes = overridden(ARCHITECTURES[config.architecture], config)
    check_heads(sizes.hidden_size, sizes.attention_heads)
    return sizes
