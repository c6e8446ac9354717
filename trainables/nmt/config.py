"""The sections of an experiment file that translation adds."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.corpora.parallel import CorpusSpec
from augury.decoding.settings import ViewDecoding
from augury.experiments.spec import Experiment
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.settings import TextScoring
from augury.text.vocabulary.settings import VocabularyConfig
from trainables.nmt.architecture import ModelConfig


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
                f"model.max_positions={self.model.max_positions}: lower the one or raise the other"
            )
        for symbol in self.tags:
            if symbol not in self.vocabulary.reserved:
                where = " of the first stage" if self.stage is not None else ""
                raise UserError(
                    f"the tag '{symbol}' is no symbol of the vocabulary: add it to "
                    f"vocabulary.reserved, now {list(self.vocabulary.reserved)}{where}"
                )
        for view in self.decoding.views:
            self.resolve_view(view)
        return self

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
        sources are read, or other ones than targets predicted."""
        groups = self.view_groups()
        return any(
            group.target != TARGET or not {SOURCE}.issuperset(group.views) for group in groups
        )
