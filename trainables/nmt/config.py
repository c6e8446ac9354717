"""The sections of an experiment file that translation adds: its model, from nothing or pretrained,
its validation and its search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import Section, discriminated_union
from augury.core.errors import UserError
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import Decoding
from augury.experiments.spec import Direction, Experiment
from augury.models.settings import Pretrained, check_heads, overridden, scratch_or_pretrained
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import TextScoring
from augury.text.pieces.settings import VocabularySettings
from augury.training.settings import FineTuning, Training


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


CODEBOOKS, CODES = 8, 64
"""Of ALONE: codebooks that a filter is the sum of (M), and codes in each (c)."""


class Alone(Section):
    """ALONE: one trained vector, a fixed random filter of it per subword, and a feed-forward
    network.

    The vector has the hidden size (D_O), and a filter is the sum of codes from `CODEBOOKS`. The
    number of parameters does not depend on the vocabulary (Takase and Kobayashi 2020; CipherDAug,
    Tables 9, 10).
    """

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    name: Literal["alone"] = "alone"
    intermediate_size: int = Field(4096, ge=1, le=1_000_000)
    """Hidden units of the network (D_inter)."""
    freeze_base: bool = False
    """Leave the vector as it is drawn."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Of the hidden units, for what the model reads; the output layer has none."""

    def counts(self, hidden_size: int) -> tuple[int, int]:
        """Return the numbers of trained parameters of each subword and of those shared by all."""
        base = 0 if self.freeze_base else hidden_size
        return 0, base + self.intermediate_size * 2 * hidden_size


Embeddings = Annotated[
    Table | Alone,
    discriminated_union({"table": Table, "alone": Alone}, "embeddings", default="table"),
]


class ModelSettings(Section):
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

    @property
    def sizes(self) -> Sizes:
        """The sizes of the architecture, overrides applied."""
        return overridden(ARCHITECTURES[self.architecture], self)

    @property
    def has_tables(self) -> bool:
        """Whether embeddings are tables of the hidden size, as they are by default."""
        return isinstance(self.embeddings, Table) and self.embeddings.size in (
            None,
            self.sizes.hidden_size,
        )

    @model_validator(mode="after")
    def _heads_fit(self) -> ModelSettings:
        check_heads(self.sizes.hidden_size, self.sizes.attention_heads)
        return self


class TinyT5(Section):
    """A T5 of two layers of 64 units, with random weights and subwords learned from its training
    text."""

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    architecture: Literal["tiny"]
    vocabulary_size: int = Field(1000, ge=10, le=10_000_000)
    """Maximum number of subwords."""
    feedforward_size: int = Field(256, ge=1, le=1_000_000)
    dropout: float = Field(0.1, ge=0, lt=1)


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


TranslationModel = Annotated[
    ModelSettings | PretrainedTranslator,
    scratch_or_pretrained(ModelSettings, PretrainedTranslator, default=ModelSettings),
]


class ValidationSettings(Section):
    """Settings of validation during training."""

    metric: Literal["bleu", "chrf", "loss"] = "bleu"
    """Score of greedy translations of the plain source, each at most 10 subwords longer than twice
    its source; loss: of the targets alone, and nothing is translated."""
    sentences: int | None = Field(None, ge=1)
    """Number of sentences to translate, the first ones; null: all. The loss is over all."""


class TranslationTuning(FineTuning):
    """The optimisation of a pretrained translation model, `model: {name: ...}`: a low rate that
    rises over the first updates and falls linearly over ten epochs.

    Settings that are not listed are those of a model from nothing.
    """

    learning_rate: float = Field(5e-5, gt=0)
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    clip_norm: float = Field(1.0, ge=0)


class SequenceExperiment(Experiment):
    """An experiment whose model writes a text for a text."""

    model: ModelSettings | PretrainedTranslator | TinyT5
    max_pieces: int = Field(500, ge=1, le=1_000_000)
    """Training examples with a longer side or view are left out, and counted."""
    validation: ValidationSettings = ValidationSettings()
    decoding: Decoding = Decoding()
    scoring: TextScoring = TextScoring()

    @model_validator(mode="after")
    def _target_is_written(self) -> SequenceExperiment:
        if (
            not self.systems
            and isinstance(self.model, Pretrained)
            and any(group.target != TARGET for group in self.view_groups())
        ):
            raise UserError(
                "regime multi_source with equation=2 predicts plain sources, and a pretrained "
                "model writes its target language: set regime.equation=1"
            )
        return self

    @property
    def validated(self) -> tuple[str, Direction]:
        if self.validation.metric == "loss":
            return super().validated
        return f"valid/{self.validation.metric}", "max"

    @property
    def measured(self) -> list[str]:
        chosen = "accuracy" if self.validation.metric == "loss" else self.validation.metric
        sets = ["valid", *(name.replace(" ", "/", 1) for name in self.corpus.dev_sets)]
        return [
            "valid/loss",
            *(f"{name}/{metric}" for name in sets for metric in (chosen, "perplexity")),
        ]

    @property
    def example_limit(self) -> int:
        return self.max_pieces

    @property
    def languages(self) -> tuple[str, str]:
        """The languages that the model reads and writes."""
        languages = self.corpus.languages
        return languages[0], languages[-1]

    def prefix(self, tag: str | None = None, target: str = TARGET) -> list[str]:
        """Return the tags before a source, of the target language and of the text's domain."""
        symbol = f"__{self.languages[target == TARGET]}__"  # as `text.pieces.training` makes it
        return [symbol] * self.tagged + ([tag] if tag else [])

    @property
    def tagged(self) -> bool:
        """Whether sources start with the tag of the target language: where other texts than plain
        sources are read, or other ones than targets predicted, by a model with such symbols."""
        return isinstance(self.model, ModelSettings) and any(
            group.target != TARGET or not {SOURCE}.issuperset(group.views)
            for group in self.view_groups()
        )


class TranslationExperiment(SequenceExperiment):
    """A translation experiment."""

    task: Literal["nmt"] = "nmt"
    corpus: CorpusSpec
    vocabulary: VocabularySettings = VocabularySettings()
    model: TranslationModel = ModelSettings()

    READS_TAGS: ClassVar[bool] = True
    TRAININGS: ClassVar[Mapping[bool, type[Training]]] = {True: TranslationTuning}

    @model_validator(mode="after")
    def _fits(self) -> TranslationExperiment:
        model = self.model
        if isinstance(model, PretrainedTranslator):  # has no vocabulary of this text
            if self.vocabulary != VocabularySettings():
                raise UserError(
                    f"the vocabulary of '{model.name}' is its own: leave out the section vocabulary"
                )
            if self.tags:
                raise UserError(
                    f"the tag '{self.tags[0]}' is no symbol of '{model.name}': leave tags out, or "
                    "train a model from nothing (model: {architecture: ...})"
                )
            return self
        tagged = not self.systems and bool(self.tags) and self.tagged
        if self.max_pieces + 2 + tagged > model.max_positions:
            raise UserError(
                f"max_pieces={self.max_pieces}, a tag and the end of sentence exceed "
                f"model.max_positions={model.max_positions}: lower the one or raise the other"
            )
        for symbol in self.tags:
            if symbol not in self.vocabulary.reserved:
                where = " of the first stage" if self.stage is not None else ""
                raise UserError(
                    f"the tag '{symbol}' is no symbol of the vocabulary: add it to "
                    f"vocabulary.reserved, now {list(self.vocabulary.reserved)}{where}"
                )
        return self

    @property
    def transformer(self) -> ModelSettings:
        """The settings of a model that is trained from nothing."""
        assert isinstance(self.model, ModelSettings)
        return self.model

    @property
    def resegments(self) -> bool:
        return not isinstance(self.model, Pretrained)
