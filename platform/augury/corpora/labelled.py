"""Corpora of labelled sentences and of labelled pairs: their settings."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from augury.corpora.corpus import LABELLED, LABELLED_PAIRS, Kind
from augury.corpora.splits import LanguageSpec
from augury.corpora.text_settings import BaseText, Generated, Role, text_keys


class _Text(BaseText):
    """A text with a label in every row."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of the table; by default that of the file extension."""
    label_column: str = "label"
    """Column of the label."""
    names: Annotated[dict[str, str | None], BeforeValidator(text_keys)] = Field(
        default_factory=dict
    )
    """Maps label names or numbers in the text to labels of the corpus, if they differ, or to null
    for no label (such rows are removed)."""

    APPLIES_TO: ClassVar = {**BaseText.APPLIES_TO, "names": ("table", "hub")}
    ALTERNATIVES: ClassVar = "file, or hub, or builtin"

    @property
    def renamed(self) -> dict[str, str | None]:
        return self.names

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        from augury.corpora import builtin_nli  # imports the grammars

        return builtin_nli.generated(self, role, languages[0])


class LabelledText(_Text):
    """A text of labelled sentences, from a table, a Hugging Face dataset or the built-in corpus,
    whose labels are affirmative and negative."""

    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""

    COLUMNS: ClassVar = LABELLED.read


class PairText(_Text):
    """A text of labelled pairs of sentences, from a table, a Hugging Face dataset or the built-in
    NLI corpus."""

    sentence1_column: str = "sentence1"
    """Column of the first sentence; dots address nested fields."""
    sentence2_column: str = "sentence2"
    """Column of the second sentence."""

    COLUMNS: ClassVar = LABELLED_PAIRS.read


class _Spec(LanguageSpec):
    """A corpus in one language with one label for every record."""

    labels: tuple[str, ...] = Field(min_length=2)
    """All labels, in the order of the model's classes."""


class LabelledSpec(_Spec):
    """A corpus of sentences with one label each."""

    train: LabelledText | None = None
    """Training text."""
    valid: LabelledText | None = None
    """Validation text."""
    tests: dict[str, LabelledText] = Field(default_factory=dict)
    """Test sets by name."""

    TEXT: ClassVar = LabelledText
    KIND: ClassVar[Kind] = LABELLED


class LabelledPairsSpec(_Spec):
    """A corpus of pairs of sentences with one label each."""

    train: PairText | None = None
    """Training text."""
    valid: PairText | None = None
    """Validation text."""
    tests: dict[str, PairText] = Field(default_factory=dict)
    """Test sets by name."""

    TEXT: ClassVar = PairText
    KIND: ClassVar[Kind] = LABELLED_PAIRS
