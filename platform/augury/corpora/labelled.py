"""Settings of a corpus of labelled sentences: language, labels, texts, filter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt, model_validator

from augury.core.errors import UserError
from augury.corpora.corpus import LABELLED
from augury.corpora.languages import LanguageCode
from augury.corpora.splits import BaseSpec, BaseText, Cleaning, Limits


class LabelledText(BaseText):
    """One text of labelled sentences, as a table or a Hugging Face dataset."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Of a table, where its extension does not tell."""
    text_column: str = "text"
    """Column of the sentence; dots lead to fields within a column."""
    label_column: str = "label"
    """Column of the label."""
    names: dict[str, str] = Field(default_factory=dict)
    """What the text calls a label, or its number -> the label, where that is another."""

    BELONGS: ClassVar = {
        **BaseText.BELONGS,
        "text_column": ("table", "hub"),
        "label_column": ("table", "hub"),
        "names": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("text", "label")
    WAYS: ClassVar = "file, or hub"

    @model_validator(mode="after")
    def _not_built_in(self) -> LabelledText:
        if self.builtin:
            raise ValueError("there is no built-in text of labelled sentences: give file or hub")
        return self


class LabelledFilter(Cleaning):
    """Preparation of a corpus of labelled sentences: as of NLI corpora, lengths decide over training rows alone."""

    max_length: PositiveInt | None = None
    """Most words of a sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(most=self.max_length)


class LabelledSpec(BaseSpec):
    """A corpus of sentences with one label each: its language, its labels, its splits, how it is prepared."""

    language: LanguageCode
    """Code of the language, such as `en`."""
    labels: tuple[str, ...] = Field(min_length=2)
    """All labels, in the order of the classes of models."""
    train: LabelledText | None = None
    """Training text."""
    valid: LabelledText | None = None
    """Validation text."""
    tests: dict[str, LabelledText] = Field(default_factory=dict)
    """Test sets by name."""
    filter: LabelledFilter | None = None
    """Preparation; by default that of the settings."""

    TEXT: ClassVar = LabelledText
    FILTER: ClassVar = LabelledFilter
    SCHEMA: ClassVar[pa.Schema] = LABELLED
    KNOWN: ClassVar = {}

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def names(self) -> dict[str, str]:
        return {"language": self.language}


def check_labels(spec: LabelledSpec, split: str, labels: Iterable[str]) -> None:
    """Raise UserError where a split has labels that its corpus does not name."""
    if unknown := sorted(set(labels) - set(spec.labels)):
        raise UserError(
            f"{split}: unknown label '{unknown[0]}': corpus.labels has {', '.join(spec.labels)}; add it there, or say "
            f"which it is, for example names: {{'{unknown[0]}': {spec.labels[0]}}}"
        )
