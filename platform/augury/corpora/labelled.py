"""Corpora of labelled sentences: their settings and records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt, model_validator

from augury.core.errors import UserError
from augury.corpora.corpus import KINDS, LABELLED
from augury.corpora.languages import LanguageCode
from augury.corpora.records import RecordBuilder
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


class LabelledRecordBuilder(RecordBuilder):
    """Builds records of labelled sentences; `check_labels` validates their labels."""

    KIND = KINDS["labelled"]
    TEXT = LabelledText
    STEP = "ingest labelled"
    CODE = 1
    LIMITS = "max_length"

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        text = self.split.text
        assert isinstance(text, LabelledText)
        classes = dict(enumerate(self.text.classes))
        labels = []
        for row, label in zip(
            block.column("row").to_pylist(), block.column("label").to_pylist(), strict=True
        ):
            name = classes.get(int(label), label) if label.isdigit() else label
            labels.append(text.names.get(label, text.names.get(name, name)).strip())
            if not labels[-1]:
                raise UserError(
                    f"{self.split.name}: the label is empty ({self.text.location(row)})"
                )
        return [pa.array(labels, pa.string()), pa.repeat(self.split.languages[0], len(block))]
