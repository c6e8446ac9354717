"""Corpora of labelled sentences and of labelled pairs: their settings, built-in text and
records."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, PositiveInt

from augury.core import compute as pc
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.corpora.corpus import KINDS, LABELLED, LABELLED_PAIRS, Corpus
from augury.corpora.languages import LanguageCode
from augury.corpora.readers import TextSource
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import BaseSpec, Cleaning, Limits, ResolvedSplit
from augury.corpora.text_settings import BaseText, Generated, Role
from toy_languages import NLI_LEXICON

LABEL = "label"
"""The column of labels, in every kind of corpus that has them."""
SURELY_LABELS, MOST_LABELS = 100, 10_000
"""Numbers of different values that are labels in any number of rows, and that never are."""
REPEATED = 4
"""The rows that share a label, in the mean, at least."""
SHOWN = 5
"""The number of labels that a caution names."""


class _Text(BaseText):
    """A text with a label in every row."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of the table; by default that of the file extension."""
    label_column: str = "label"
    """Column of the label."""
    names: dict[str, str] = Field(default_factory=dict)
    """Maps label names or numbers in the text to labels of the corpus, if they differ."""

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
    SCHEMA: ClassVar[pa.Schema] = LABELLED


class LabelledPairsSpec(_Spec):
    """A corpus of pairs of sentences with one label each."""

    train: PairText | None = None
    """Training text."""
    valid: PairText | None = None
    """Validation text."""
    tests: dict[str, PairText] = Field(default_factory=dict)
    """Test sets by name."""

    TEXT: ClassVar = PairText
    SCHEMA: ClassVar[pa.Schema] = LABELLED_PAIRS


def label_counts(corpus: Corpus) -> dict[str, int]:
    """Return the number of records with each label, the most frequent first."""
    counts = Counter[str]()
    for block in corpus.blocks([LABEL]):
        for value in pc.value_counts(block.column(LABEL)).to_pylist():
            counts[value["values"]] += value["counts"]
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def are_labels(values: int, rows: int) -> bool:
    """Return whether a column of `rows` rows with so many different values can be one of labels."""
    return values <= min(MOST_LABELS, max(SURELY_LABELS, rows / REPEATED))


def check_labels(
    known: tuple[str, ...], split: str, counts: Mapping[str, int], column: str = "of labels"
) -> None:
    """Raise UserError if a split has labels that are not among those of its corpus; `column` is
    where they are from."""
    unknown = sorted(set(counts) - set(known))
    if unknown and not are_labels(len(counts), rows := sum(counts.values())):
        raise UserError(
            f"{split}: column '{column}' has {len(counts):,} different values in {rows:,} rows, "
            f"such as '{unknown[0]:.40}': it holds text, not labels. Set label_column to the one "
            f"with {', '.join(known[:3])}{' ...' if len(known) > 3 else ''}"
        )
    if unknown:
        nearest = difflib.get_close_matches(unknown[0], known, n=1)
        raise UserError(
            f"{split}: unknown label '{unknown[0]}': corpus.labels has {', '.join(known)}; "
            f"add it there, or map it to one of them, for example names: {{'{unknown[0]}': "
            f"{(nearest or known)[0]}}}"
        )


def label_doubts(counts: Mapping[str, int]) -> list[str]:
    """Return cautions on labels that may be one, by the rows with each: those that differ only in
    case or spaces, and those of a single row."""
    spellings: dict[str, list[str]] = {}
    for label in counts:
        spellings.setdefault(" ".join(label.split()).casefold(), []).append(label)
    alike = [sorted(group, key=counts.__getitem__) for group in spellings.values() if group[1:]]
    single = [label for (label, *others) in spellings.values() if not others and counts[label] == 1]
    cautions = []
    if alike:
        groups = [_listed(group, counts) for group in alike[:SHOWN]]
        cautions.append(
            f"labels that differ only in case or spaces: {'; '.join(groups)}; if they are one, map "
            f"it in every text, names: {{'{alike[0][0]}': {alike[0][-1]}}}, and take it out of "
            "corpus.labels"
        )
    if single:
        likely = difflib.get_close_matches(single[0], set(counts) - {single[0]}, n=1)
        remedy = f": is '{single[0]}' meant to be '{likely[0]}'?" if likely else ""
        more = f" and {len(single) - SHOWN} more" if len(single) > SHOWN else ""
        cautions.append(
            f"labels of a single row, too few to learn them: {_listed(single[:SHOWN], counts)}"
            f"{more}{remedy}"
        )
    return cautions


def _listed(labels: Sequence[str], counts: Mapping[str, int]) -> str:
    return ", ".join(f"'{label}' ({counted(counts[label], 'row')})" for label in labels)


class _Labels:
    """The label and language of records, for a builder; `check_labels` validates labels."""

    split: ResolvedSplit
    text: TextSource

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        text = self.split.text
        assert isinstance(text, _Text)
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
