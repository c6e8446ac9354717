"""The sections of an experiment file that translation adds."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import ViewDecoding
from augury.experiments.spec import Experiment
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import TextScoring
from augury.text.vocabulary_settings import VocabularyConfig
from trainables.nmt.architecture import ModelConfig


def tag(language: str) -> str:
    """Return the vocabulary's symbol for a language."""
    return f"__{language}__"


class ValidationSettings(Section):
    """Settings of validation during training."""

    metric: Literal["bleu", "chrf"] = "bleu"
    """Score of the greedy translations of the plain source, each cut at 10 more pieces than
    twice its source."""
    sentences: int | None = Field(None, ge=1)
    """Only the first so many are translated; none: all. The loss is over all."""


class Config(Experiment):
    """A translation experiment."""

    task: Literal["nmt"] = "nmt"
    corpus: CorpusSpec
    vocabulary: VocabularyConfig = VocabularyConfig()
    max_pieces: int = Field(500, ge=1)
    """Training examples with a longer side or view are left out, and counted."""
    model: ModelConfig = ModelConfig()
    validation: ValidationSettings = ValidationSettings()
    decoding: ViewDecoding = ViewDecoding()
    scoring: TextScoring = TextScoring()

    RESEGMENTS: ClassVar[bool] = True
    READS_TAGS: ClassVar[bool] = True

    @model_validator(mode="after")
    def _fits(self) -> Config:
        if self.max_pieces + 2 + bool(self.tags) * self.tagged > self.model.max_positions:
            raise UserError(
                f"max_pieces={self.max_pieces}, a tag and the end of sentence exceed "
                "model.max_positions="
                f"{self.model.max_positions}: lower the one or raise the other"
            )
        for symbol in self.tags:
            if symbol not in self.vocabulary.reserved:
                raise UserError(
                    f"the tag '{symbol}' is no symbol of the vocabulary: add it to "
                    "vocabulary.reserved, now "
                    f"{list(self.vocabulary.reserved)}"
                    + " of the first stage"
                    * (self.stage is not None)
                )
        for view in self.decoding.views:
            self.resolve_view(view)
        return self

    def plain_system(self) -> dict[str, Any]:
        alone: dict[str, Any] = (
            {"decoding.views": [], "decoding.combine": None} if self.decoding.views else {}
        )
        return super().plain_system() | alone

    def prefix(self, domain: str | None = None, target: str = TARGET) -> list[str]:
        """Return the symbols before a source: the tag of the language to translate into, and of
        the text's domain."""
        corpus = self.corpus
        language = corpus.target_language if target == TARGET else corpus.source_language
        return [tag(language)] * self.tagged + ([domain] if domain else [])

    @property
    def tagged(self) -> bool:
        """Whether sources begin with the tag of the language to translate into, as wherever
        enciphered text is read."""
        return any(
            group.target != TARGET or any(view != SOURCE for view in group.views)
            for group in self.view_groups()
        )
