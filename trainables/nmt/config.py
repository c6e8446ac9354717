"""The sections of an experiment file that translation adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import ViewDecoding
from augury.experiments.spec import Experiment
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import TextScoring
from augury.text.vocabulary.settings import VocabularyConfig
from augury.training.settings import FineTuning, Training
from trainables.nmt.architecture import ModelConfig, PretrainedTranslator, TranslationModel


def tag(language: str) -> str:
    """Return the vocabulary's symbol for a language."""
    return f"__{language}__"


class ValidationSettings(Section):
    """Settings of validation during training."""

    metric: Literal["bleu", "chrf"] = "bleu"
    """Score of greedy translations of the plain source, each at most 10 subwords longer than twice
    its source."""
    sentences: int | None = Field(None, ge=1)
    """Number of sentences to translate, the first ones; null: all. The loss is over all."""


class TranslationTuning(FineTuning):
    """The optimisation of a pretrained translation model, `model: {name: ...}`: a low rate that
    rises over the first updates and falls linearly over ten epochs.

    Settings that are not listed are those of a model from nothing.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    learning_rate: float = Field(5e-5, gt=0)
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    clip_norm: float = Field(1.0, ge=0)


class LoraTuning(TranslationTuning):
    """The same with `model.lora`, whose few parameters take a higher rate."""

    learning_rate: float = Field(3e-4, gt=0)


class Config(Experiment):
    """A translation experiment."""

    task: Literal["nmt"] = "nmt"
    corpus: CorpusSpec
    vocabulary: VocabularyConfig = VocabularyConfig()
    max_pieces: int = Field(500, ge=1, le=1_000_000)
    """Training examples with a longer side or view are left out, and counted."""
    model: TranslationModel = ModelConfig()
    validation: ValidationSettings = ValidationSettings()
    decoding: ViewDecoding = ViewDecoding()
    scoring: TextScoring = TextScoring()

    RESEGMENTS: ClassVar[bool] = True
    READS_TAGS: ClassVar[bool] = True
    TUNING: ClassVar[tuple[type[Training], ...]] = (TranslationTuning, LoraTuning)

    @model_validator(mode="after")
    def _fits(self) -> Config:
        for view in self.decoding.views:
            self.resolve_view(view)
        if isinstance(self.model, PretrainedTranslator):
            self._check_pretrained(self.model)
        else:
            self._check_learned(self.model)
        return self

    def _check_pretrained(self, model: PretrainedTranslator) -> None:
        """Raise UserError for settings that only a model with a vocabulary of this text has."""
        if self.vocabulary != VocabularyConfig():
            raise UserError(
                f"the vocabulary of '{model.name}' is its own: leave out the section vocabulary "
                "(new pieces for ciphers: model.new_pieces)"
            )
        if self.tags:
            raise UserError(
                f"the tag '{self.tags[0]}' is no symbol of '{model.name}': leave tags out, or "
                "train a model from nothing (model: {architecture: ...})"
            )
        if any(group.target != TARGET for group in self.view_groups()):
            raise UserError(
                "regime multi_source with equation=2 predicts plain sources, and a pretrained "
                "model writes its target language: set regime.equation=1"
            )

    def _check_learned(self, model: ModelConfig) -> None:
        if self.max_pieces + 2 + bool(self.tags) * self.tagged > model.max_positions:
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

    @model_validator(mode="after")
    def _search_of_checkpoint(self) -> Config:
        """Take the beam settings that a pretrained model comes with; the file overrides them."""
        if isinstance(self.model, Pretrained):
            own = pretrained.search_settings(self.model.name, self.model.revision)
            known = self.decoding.model_dump(exclude_unset=True)
            self.__dict__["decoding"] = ViewDecoding.model_validate({**own, **known})
        return self

    @property
    def transformer(self) -> ModelConfig:
        """The settings of a model that is trained from nothing."""
        assert isinstance(self.model, ModelConfig)
        return self.model

    @property
    def resegments(self) -> bool:
        return not isinstance(self.model, Pretrained)

    def training_schema(self) -> type[Training] | None:
        if not isinstance(self.model, PretrainedTranslator):
            return None
        return LoraTuning if self.model.lora else TranslationTuning

    def plain_system(self) -> dict[str, Any]:
        system = super().plain_system()
        if self.decoding.views:
            system |= {"decoding.views": [], "decoding.combine": None}
        return system

    @property
    def validated(self) -> tuple[str, Literal["max", "min"]]:
        return f"valid/{self.validation.metric}", "max"

    def prefix(self, domain: str | None = None, target: str = TARGET) -> list[str]:
        """Return the tags before a source, of the target language and of the text's domain."""
        corpus = self.corpus
        language = corpus.target_language if target == TARGET else corpus.source_language
        return [tag(language)] * self.tagged + ([domain] if domain else [])

    @property
    def example_limit(self) -> int:
        return self.max_pieces

    @property
    def tagged(self) -> bool:
        """Whether sources start with the tag of the target language: where other texts than plain
        sources are read, or other ones than targets predicted.

        A pretrained model has no such symbol."""
        if isinstance(self.model, Pretrained):
            return False
        groups = self.view_groups()
        return any(
            group.target != TARGET or not {SOURCE}.issuperset(group.views) for group in groups
        )
