"""Settings of a text of one language, to be translated: lines, a table, a dataset or the built-in text."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt, model_validator

from augury.corpora.corpus import MONOLINGUAL
from augury.corpora.languages import LanguageCode
from augury.corpora.splits import TABLES, BaseSpec, BaseText, Cleaning, Limits, Part

NAME = "monolingual"


class MonolingualText(BaseText):
    """One text of one language."""

    lines: str | tuple[str, ...] | None = None
    """File, or files that follow one another, with one sentence a line."""
    format: Literal["lines", "wit3", "seg", "tsv", "csv", "jsonl", "parquet"] | None = None
    """Of a table, where its extension does not tell. Of lines: `lines`, `wit3` or `seg`, as of parallel text."""
    replace: dict[str, str] = Field(default_factory=dict)
    """Strings to replace."""
    text_column: str = "text"
    """Column of the sentence; dots lead to fields within a column."""

    PLACES: ClassVar = {"lines": ("lines",), **BaseText.PLACES}
    FORMATS: ClassVar = {"lines": ("lines", "wit3", "seg"), "table": TABLES}
    BELONGS: ClassVar = {**BaseText.BELONGS, "format": ("lines", "table"), "text_column": ("table", "hub")}
    COLUMNS: ClassVar = ("text",)
    WAYS: ClassVar = "lines, or file, or hub, or builtin"

    @property
    def layout(self) -> str:
        return self.format or "lines" if self.kind == "lines" else super().layout

    def files(self) -> tuple[str, ...]:
        return (self.lines,) if isinstance(self.lines, str) else self.lines or super().files()

    def settings(self) -> dict[str, object]:
        without = {"lines"} if self.replace else {"lines", "replace"}
        return {key: value for key, value in super().settings().items() if key not in without}


class MonolingualFilter(Cleaning):
    """Preparation of a text of one language; empty lines are left out."""

    max_length: PositiveInt | None = None
    """Most words of a sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(most=self.max_length)


class MonolingualSpec(BaseSpec):
    """A text of one language: its language, where it is, how it is prepared."""

    language: LanguageCode
    """Code of the language, such as `en`."""
    train: MonolingualText
    """The text."""
    filter: MonolingualFilter | None = None
    """Preparation; by default that of the settings."""

    TEXT: ClassVar = MonolingualText
    FILTER: ClassVar = MonolingualFilter
    SCHEMA: ClassVar[pa.Schema] = MONOLINGUAL
    KNOWN: ClassVar = {}

    def part(self, split: str, directory: str | None = None) -> Part:
        return replace(super().part(split, directory), name=NAME)  # in ids, which are no ids of training text

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def names(self) -> dict[str, str]:
        return {"language": self.language}

    @model_validator(mode="after")
    def _one_text(self) -> MonolingualSpec:
        if self.splits() != ("train",):
            raise ValueError("a text of one language has no valid and no tests: give train alone")
        return self
