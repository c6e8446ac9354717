"""Monolingual text: its settings."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import FilePath
from augury.corpora.corpus import MONOLINGUAL, Kind
from augury.corpora.parallel import generated_pairs
from augury.corpora.splits import LanguageSpec, ResolvedSplit
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
    APPLIES_TO: ClassVar = {**BaseText.APPLIES_TO, "format": ("lines", "table")}
    COLUMNS: ClassVar = MONOLINGUAL.read
    ALTERNATIVES: ClassVar = "lines, or file, or hub, or builtin"

    @property
    def layout(self) -> str:
        return self.format or "lines" if self.kind == "lines" else super().layout

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        return (self.files(),)

    @property
    def replaced(self) -> dict[str, str]:
        return self.replace

    def files(self) -> tuple[str, ...]:
        return (self.lines,) if isinstance(self.lines, str) else self.lines or super().files()

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        pairs = generated_pairs(self, role, languages)
        source = pairs.columns.index("source")
        return pairs._replace(
            columns=self.COLUMNS, rows=lambda: ((row[source],) for row in pairs.rows())
        )

    def settings(self) -> dict[str, object]:
        unused = () if self.replace else ("replace",)
        return {key: value for key, value in super().settings().items() if key not in unused}


class MonolingualSpec(LanguageSpec):
    """A monolingual corpus with a single split."""

    train: MonolingualText
    """The text."""

    TEXT: ClassVar = MonolingualText
    KIND: ClassVar[Kind] = MONOLINGUAL

    def resolve(self, split: str, directory: str | None = None) -> ResolvedSplit:
        # Keeps ids distinct from those of training text.
        return replace(super().resolve(split, directory), name=NAME)

    @model_validator(mode="after")
    def _one_text(self) -> MonolingualSpec:
        if self.splits() != ("train",):
            raise ValueError("monolingual text has no validation or test sets: give train only")
        return self
