"""Settings of corpora of labelled sentences."""

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
    """A text of labelled sentences, from a table or a Hugging Face dataset."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of the table; by default that of the file extension."""
    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""
    label_column: str = "label"
    """Column of the label."""
    names: dict[str, str] = Field(default_factory=dict)
    """Maps label names or numbers in the text to labels of the corpus, if they differ."""

    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "text_column": ("table", "hub"),
        "label_column": ("table", "hub"),
        "names": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("text", "label")
    ALTERNATIVES: ClassVar = "file, or hub"

    @model_validator(mode="after")
    def _not_built_in(self) -> LabelledText:
        if self.builtin:
            raise ValueError("there is no built-in corpus of labelled sentences: give file or hub")
        return self


class LabelledFilter(Cleaning):
    """Preparation of a corpus of labelled sentences.

    As for NLI corpora, only training rows are filtered.
    """

    max_length: PositiveInt | None = None
    """Maximum number of words; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(maximum=self.max_length)


class LabelledSpec(BaseSpec):
    """A corpus of sentences with one label each."""

    language: LanguageCode
    """Language code, such as `en`."""
    labels: tuple[str, ...] = Field(min_length=2)
    """All labels, in the order of the model's classes."""
    train: LabelledText | None = None
    """Training text."""
    valid: LabelledText | None = None
    """Validation text."""
    tests: dict[str, LabelledText] = Field(default_factory=dict)
    """Test sets by name."""
    filter: LabelledFilter | None = None
    """Preparation; by default the default settings."""

    TEXT: ClassVar = LabelledText
    FILTER: ClassVar = LabelledFilter
    SCHEMA: ClassVar[pa.Schema] = LABELLED
    KNOWN: ClassVar = {}

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}


def check_labels(spec: LabelledSpec, split: str, labels: Iterable[str]) -> None:
    """Raise UserError if a split has labels that are not among those of the corpus."""
    if unknown := sorted(set(labels) - set(spec.labels)):
        raise UserError(
            f"{split}: unknown label '{unknown[0]}': corpus.labels has {', '.join(spec.labels)}; "
            f"add it there, or map it to one of them, for example names: {{'{unknown[0]}': "
            f"{spec.labels[0]}}}"
        )
