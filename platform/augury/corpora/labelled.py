"""Corpora of labelled sentences and of labelled pairs: their settings, built-in text and
records."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field, PositiveInt

from augury.core.errors import UserError
from augury.corpora.corpus import KINDS, CorpusKind
from augury.corpora.filters import NO_LABEL
from augury.corpora.languages import LanguageCode
from augury.corpora.readers import TextSource
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import BaseSpec, Cleaning, Limits, ResolvedSplit
from augury.corpora.text_settings import BaseText, Generated, Role, text_keys
from toy_languages import NLI_LEXICON


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

    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "label_column": ("table", "hub"),
        "names": ("table", "hub"),
    }
    ALTERNATIVES: ClassVar = "file, or hub, or builtin"


class LabelledText(_Text):
    """A text of labelled sentences, from a table, a Hugging Face dataset or the built-in corpus,
    whose labels are affirmative and negative."""

    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""

    APPLIES_TO: ClassVar = {**_Text.APPLIES_TO, "text_column": ("table", "hub")}
    COLUMNS: ClassVar = ("text", "label")

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        from augury.corpora import builtin_nli  # imports the grammars

        assert self.builtin is not None
        rows = partial(
            builtin_nli.polarities,
            role,
            self.builtin,
            languages[0],
            seed=self.seed,
            lexicon=self.lexicon or NLI_LEXICON,
        )
        content = ["builtin polarities", role]
        return Generated(content, builtin_nli.NOTE, ("id", *self.COLUMNS), rows)


class PairText(_Text):
    """A text of labelled pairs of sentences, from a table, a Hugging Face dataset or the built-in
    NLI corpus."""

    sentence1_column: str = "sentence1"
    """Column of the first sentence; dots address nested fields."""
    sentence2_column: str = "sentence2"
    """Column of the second sentence."""

    APPLIES_TO: ClassVar = {
        **_Text.APPLIES_TO,
        "sentence1_column": ("table", "hub"),
        "sentence2_column": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("sentence1", "sentence2", "label")

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        from augury.corpora import builtin_nli

        assert self.builtin is not None
        examples = partial(
            builtin_nli.examples,
            role,
            self.builtin,
            languages[0],
            seed=self.seed,
            lexicon=self.lexicon or NLI_LEXICON,
        )
        return builtin_nli.as_pairs(role, examples, self.COLUMNS)


class LabelledFilter(Cleaning):
    """Preparation of a corpus of labelled sentences.

    As for NLI corpora, only training rows are filtered.
    """

    max_length: PositiveInt | None = None
    """Maximum number of words of a sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(maximum=self.max_length)


class _Spec(BaseSpec):
    """A corpus in one language with one label for every record."""

    language: LanguageCode
    """Language code, such as `en`."""
    labels: tuple[str, ...] = Field(min_length=2)
    """All labels, in the order of the model's classes."""
    filter: LabelledFilter | None = None
    """Preparation; by default the default settings."""

    FILTER: ClassVar = LabelledFilter
    KNOWN: ClassVar = {}

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}


class LabelledSpec(_Spec):
    """A corpus of sentences with one label each."""

    train: LabelledText | None = None
    """Training text."""
    valid: LabelledText | None = None
    """Validation text."""
    tests: dict[str, LabelledText] = Field(default_factory=dict)
    """Test sets by name."""

    TEXT: ClassVar = LabelledText
    KIND: ClassVar[CorpusKind] = KINDS["labelled"]


class LabelledPairsSpec(_Spec):
    """A corpus of pairs of sentences with one label each."""

    train: PairText | None = None
    """Training text."""
    valid: PairText | None = None
    """Validation text."""
    tests: dict[str, PairText] = Field(default_factory=dict)
    """Test sets by name."""

    TEXT: ClassVar = PairText
    KIND: ClassVar[CorpusKind] = KINDS["labelled pairs"]


class _Labels:
    """The label and language of records, for a builder; `labels.check_labels` validates labels."""

    split: ResolvedSplit
    text: TextSource

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _selection(self, block: pa.Table) -> np.ndarray:
        codes: np.ndarray = super()._selection(block)  # type: ignore[misc]
        missing = np.array([label is None for label in self._named(block)], bool)
        return np.where((codes == 0) & missing, NO_LABEL, codes)

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        labels = self._named(block)
        if "" in labels:
            row = block.column("row")[labels.index("")].as_py()
            raise UserError(
                f"{self.split.name}: the label is empty ({self.text.location(row)}): complete the "
                "row, or leave out all such rows, names: {'': null}"
            )
        return [pa.array(labels, pa.string()), pa.repeat(self.split.languages[0], len(block))]

    def _named(self, block: pa.Table) -> list[str | None]:
        """Return the label of every row; None for none."""
        text = self.split.text
        assert isinstance(text, _Text)
        names: dict[str, str | None] = {
            str(number): text.names.get(name, name) for number, name in enumerate(self.text.classes)
        }
        names |= ({"-1": None} if names else {}) | text.names
        named = [names.get(label, label) for label in block.column("label").to_pylist()]
        return [label and label.strip() for label in named]


class LabelledRecordBuilder(_Labels, RecordBuilder):
    """Builds records of labelled sentences."""

    KIND = KINDS["labelled"]
    TEXT = LabelledText
    STEP = "ingest labelled"
    CODE = 1
    LIMITS = "max_length"


class PairRecordBuilder(_Labels, RecordBuilder):
    """Builds records of labelled pairs."""

    KIND = KINDS["labelled pairs"]
    TEXT = PairText
    STEP = "ingest labelled pairs"
    CODE = 1
    LIMITS = "max_length"
