"""Settings of an NLI corpus: language, texts, labels, filter."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt, field_validator, model_validator

from augury.core.errors import unknown
from augury.corpora.corpus import NLI, Label
from augury.corpora.known_nli import KNOWN
from augury.corpora.labels import NoGold
from augury.corpora.languages import LanguageCode
from augury.corpora.splits import BaseSpec, BaseText, Cleaning, Limits
from toy_languages import NLI_LANGUAGES, NLI_LEXICON


class NliText(BaseText):
    """One NLI text, as a table, a Hugging Face dataset (`xnli`, `multi_nli`, `snli`) or the built-in corpus."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Of a table, where its extension does not tell."""
    language: LanguageCode | None = None
    """Language of both sentences; by default the corpus's."""
    premise_column: str = "premise"
    """Column of the premise; dots lead to fields within a column."""
    hypothesis_column: str = "hypothesis"
    """Column of the hypothesis."""
    label_column: str = "label"
    """Column of the label."""
    labels: dict[str, Label | NoGold] = Field(default_factory=dict)
    """What the text calls a label, or its number -> the label, or `-`: no gold label, by which rows are left out. The
    usual names (`entailment`, `e`, `contradictory`, `-`) and the classes of Hugging Face datasets need not be given."""
    subset: PositiveInt | None = None
    """Of training text, as many rows as this, drawn after filtering in the proportions of their labels; a smaller
    subset is a part of a larger one of the same seed."""
    subset_seed: int = 1
    """Seed of the subset."""

    BELONGS: ClassVar = {
        **BaseText.BELONGS,
        "premise_column": ("table", "hub"),
        "hypothesis_column": ("table", "hub"),
        "label_column": ("table", "hub"),
        "labels": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("premise", "hypothesis", "label")
    WAYS: ClassVar = "file, or hub, or builtin"

    def settings(self) -> dict[str, Any]:
        # The language is that of the records, which may be a setting of the corpus.
        without = {"language"} if self.subset else {"language", "subset", "subset_seed"}
        settings = {name: value for name, value in super().settings().items() if name not in without}
        return {**settings, "lexicon": self.lexicon or NLI_LEXICON}

    @field_validator("labels", mode="before")
    @classmethod
    def _numbers_are_names(cls, labels: Any) -> Any:
        return {str(name): label for name, label in labels.items()} if isinstance(labels, dict) else labels

    @model_validator(mode="after")
    def _three_columns(self) -> NliText:
        columns = list(self.columns().values())
        if len(set(columns)) < len(columns):
            raise ValueError(f"premise, hypothesis and label are in the columns {', '.join(columns)}: they must differ")
        return self


class NliFilter(Cleaning):
    """Preparation of an NLI corpus.

    Text is always brought to NFC and freed of ASCII white space at its ends. Case and entities are changed in every
    split. Length and duplicates decide over training rows alone: validation and test sets are never filtered, an empty
    sentence in them is an error.
    """

    max_length: PositiveInt | None = None
    """Most words of either sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(most=self.max_length)


class NliSpec(BaseSpec):
    """An NLI corpus: the language it is trained in, its splits, how it is prepared."""

    language: LanguageCode
    """Code of the language of training and validation text, such as `en`."""
    known: str | tuple[str, ...] | None = None
    """One or several known public sets. Each of train, valid and tests that is not given below is that of the first set
    that has it; a text without a place, such as `train: {subset: 20000}`, is the first that is called so."""
    train: NliText | None = None
    """Training text."""
    valid: NliText | None = None
    """Validation text."""
    tests: dict[str, NliText] = Field(default_factory=dict)
    """Test sets by name; where any is given, only those are used."""
    filter: NliFilter | None = None
    """Preparation; by default that of the first known set, otherwise the defaults of its settings."""

    TEXT: ClassVar = NliText
    FILTER: ClassVar = NliFilter
    SCHEMA: ClassVar[pa.Schema] = NLI
    KNOWN: ClassVar = KNOWN

    def language_of(self, split: str) -> str:
        """Return the language of a split."""
        text, known = self._own_text(split), self._set_of(split)
        own = known.texts[split].get("language") if known and (text is None or text.kind is None) else None
        return (text.language if isinstance(text, NliText) else None) or own or self.language

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language_of(split),)

    def names(self) -> dict[str, str]:
        return {"language": self.language}

    @model_validator(mode="after")
    def _possible(self) -> NliSpec:
        for split in self.splits():
            text, language = self._own_text(split), self.language_of(split)
            if isinstance(text, NliText) and text.subset and split != "train":
                raise ValueError(f"{split}: subset is of training text: use first")
            if text is not None and text.builtin and language not in NLI_LANGUAGES:
                raise ValueError(f"{split}: {unknown('language of the built-in NLI corpus', language, NLI_LANGUAGES)}")
            if text is None or text.kind is None:
                known = self._set_of(split)
                assert known is not None
                KNOWN[known.name].check(split, self.language)
        return self
