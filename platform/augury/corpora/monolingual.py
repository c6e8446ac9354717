"""Monolingual text: its settings and records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt, model_validator

from augury.core.config import FilePath
from augury.corpora.corpus import KINDS, CorpusKind
from augury.corpora.languages import LanguageCode
from augury.corpora.parallel import generated_pairs
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import BaseSpec, Cleaning, Limits, ResolvedSplit
from augury.corpora.text_settings import TABLES, BaseText, Generated, Role

NAME = "monolingual"


class MonolingualText(BaseText):
    """A monolingual text, from lines, a table, a Hugging Face dataset or a built-in corpus."""

    lines: FilePath | tuple[FilePath, ...] | None = None
    """File, or files to concatenate, with one sentence per line."""
    format: Literal["lines", "wit3", "seg", "tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of a table, by default that of the file extension; or of lines: `lines`, `wit3` or
    `seg`, as for parallel text."""
    replace: dict[str, str] = Field(default_factory=dict)
    """Strings to replace."""
    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""

    SOURCE_SETTINGS: ClassVar = {"lines": ("lines",), **BaseText.SOURCE_SETTINGS}
    FORMATS: ClassVar = {"lines": ("lines", "wit3", "seg"), "table": TABLES}
    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "format": ("lines", "table"),
        "text_column": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("text",)
    ALTERNATIVES: ClassVar = "lines, or file, or hub, or builtin"

    @property
    def layout(self) -> str:
        return self.format or "lines" if self.kind == "lines" else super().layout

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        return (self.files(),)

    def files(self) -> tuple[str, ...]:
        return (self.lines,) if isinstance(self.lines, str) else self.lines or super().files()

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        pairs = generated_pairs(self, role, languages)
        source = pairs.columns.index("source")
        return pairs._replace(
            columns=self.COLUMNS, rows=lambda: ((row[source],) for row in pairs.rows())
        )

    def settings(self) -> dict[str, object]:
        excluded = {"lines"} if self.replace else {"lines", "replace"}
        return {key: value for key, value in super().settings().items() if key not in excluded}


class MonolingualFilter(Cleaning):
    """Preparation of monolingual text; empty lines are removed."""

    max_length: PositiveInt | None = None
    """Maximum number of words; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(maximum=self.max_length)


class MonolingualSpec(BaseSpec):
    """A monolingual corpus with a single split."""

    language: LanguageCode
    """Language code, such as `en`."""
    train: MonolingualText
    """The text."""
    filter: MonolingualFilter | None = None
    """Preparation; by default the default settings."""

    TEXT: ClassVar = MonolingualText
    FILTER: ClassVar = MonolingualFilter
    KIND: ClassVar[CorpusKind] = KINDS["monolingual"]
    KNOWN: ClassVar = {}

    def resolve(self, split: str, directory: str | None = None) -> ResolvedSplit:
        # Keeps ids distinct from those of training text.
        return replace(super().resolve(split, directory), name=NAME)

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}

    @model_validator(mode="after")
    def _one_text(self) -> MonolingualSpec:
        if self.splits() != ("train",):
            raise ValueError("monolingual text has no validation or test sets: give train only")
        return self


class MonolingualRecordBuilder(RecordBuilder):
    """Builds records of monolingual text."""

    KIND = KINDS["monolingual"]
    TEXT = MonolingualText
    STEP = "ingest monolingual"
    CODE = 1
    LIMITS = "max_length"

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _replace(self) -> dict[str, str]:
        assert isinstance(self.split.text, MonolingualText)
        return self.split.text.replace

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        return [pa.repeat(self.split.languages[0], len(block))]
