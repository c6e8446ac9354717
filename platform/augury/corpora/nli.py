"""NLI corpora: their settings, built-in text, records, and stratified subsets of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from augury.core.config import FileName
from augury.core.errors import UserError, unknown
from augury.core.rng import digest
from augury.corpora.corpus import KINDS, LABELS, CorpusKind, Label
from augury.corpora.filters import NO_LABEL, SUBSET
from augury.corpora.known_nli import KNOWN
from augury.corpora.languages import SEVERAL, LanguageCode, check_language
from augury.corpora.nli_labels import LabelNames, NoGold
from augury.corpora.readers import TextSource
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import BaseSpec, Cleaning, Limits, ResolvedSplit, Share
from augury.corpora.text_settings import BaseText, Generated, Role, text_keys
from toy_languages import NLI_LANGUAGES, NLI_LEXICON


class NliText(BaseText):
    """An NLI text, from a table, a Hugging Face dataset (`xnli`, `multi_nli`, `snli`) or the
    built-in corpus."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of the table; by default that of the file extension."""
    language: LanguageCode | None = None
    """Language of both sentences; by default that of the corpus."""
    language_column: str | None = None
    """Column of the language code of each row, for a table in several languages."""
    premise_column: str = "premise"
    """Column of the premise; dots address nested fields."""
    hypothesis_column: str = "hypothesis"
    """Column of the hypothesis."""
    label_column: str = "label"
    """Column of the label."""
    labels: Annotated[dict[str, Label | NoGold], BeforeValidator(text_keys)] = Field(
        default_factory=dict
    )
    """Maps label names or numbers of the text to labels, or to `-` for no gold label (such rows are
    removed). The standard names (`entailment`, `e`, `contradictory`, `-`) and the classes of
    Hugging Face datasets are known."""
    subset: PositiveInt | None = None
    """Size of a stratified random subset of training text, drawn after filtering; smaller subsets
    with the same seed are contained in larger ones."""
    subset_seed: int = 1
    """Seed of the subset."""

    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "language_column": ("table", "hub"),
        "premise_column": ("table", "hub"),
        "hypothesis_column": ("table", "hub"),
        "label_column": ("table", "hub"),
        "labels": ("table", "hub"),
    }
    COLUMNS: ClassVar = ("premise", "hypothesis", "label")
    ALTERNATIVES: ClassVar = "file, or hub, or builtin"

    def columns(self) -> dict[str, str]:
        return super().columns() | (
            {"language": self.language_column} if self.language_column else {}
        )

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        from augury.corpora import builtin_nli  # imports the grammars

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

    def settings(self) -> dict[str, Any]:
        # The language may be that of the corpus; addresses have the language of the split.
        excluded = (
            {"language", "name"} if self.subset else {"language", "name", "subset", "subset_seed"}
        )
        if self.language_column is None:
            excluded.add("language_column")
        settings = {
            name: value for name, value in super().settings().items() if name not in excluded
        }
        return {**settings, "lexicon": self.lexicon or NLI_LEXICON}

    @model_validator(mode="after")
    def _three_columns(self) -> NliText:
        columns = list(self.columns().values())
        if len(set(columns)) < len(columns):
            raise ValueError(
                f"the columns of premise, hypothesis and label are {', '.join(columns)}: they "
                "must differ"
            )
        if self.language and self.language_column:
            raise ValueError(
                f"language: {self.language} is that of all rows: remove it, or language_column"
            )
        return self


class NamedNliText(NliText):
    """One of several training texts, such as translations of one text."""

    name: FileName
    """Name in records and tables."""


class NliFilter(Cleaning):
    """Preparation of an NLI corpus.

    All text is normalised to NFC and stripped of ASCII white space. Case and entities are changed
    in every split. Length and duplicates filter training rows only: validation and test sets are
    never filtered, and empty sentences in them are errors.
    """

    max_length: PositiveInt | None = None
    """Maximum number of words of either sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(maximum=self.max_length)


class NliSpec(BaseSpec):
    """An NLI corpus."""

    language: LanguageCode
    """Language code of training and validation text, such as `en`."""
    known: str | tuple[str, ...] | None = None
    """One or more known public data sets. Each of train, valid and tests that is not given below
    comes from the first set that has it, and so does a text without a source, such as `train:
    {subset: 20000}`."""
    train: NliText | tuple[NamedNliText, ...] | None = None
    """Training text, or a list of texts with names, which are filtered separately and read
    together: one per language for translate-train-all."""
    valid: NliText | None = None
    """Validation text."""
    tests: dict[str, NliText] = Field(default_factory=dict)
    """Test sets by name; if any are given, those of known sets are not used."""
    filter: NliFilter | None = None
    """Preparation; by default that of the first known set, or else the default settings."""

    TEXT: ClassVar = NliText
    FILTER: ClassVar = NliFilter
    KIND: ClassVar[CorpusKind] = KINDS["nli"]
    KNOWN: ClassVar = KNOWN

    def language_of(self, split: str) -> str:
        """Return the language of a split; `mul` for one in several."""
        if split == "train" and self.mixture:
            languages = {spec.language_of(split) for spec in self.mixture.values()}
            return languages.pop() if len(languages) == 1 else SEVERAL
        text, known = self._text_setting(split), self._known_set(split)
        if isinstance(text, NliText) and text.language_column:
            return SEVERAL
        own = (
            known.texts[split].get("language")
            if known and (text is None or text.kind is None)
            else None
        )
        return (text.language if isinstance(text, NliText) else None) or own or self.language

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language_of(split),)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}

    @property
    def mixture(self) -> dict[str, NliSpec]:
        if not isinstance(self.train, tuple):
            return {}
        content = self.model_dump(
            mode="json", exclude_unset=True, include={"language", "known", "filter"}
        )
        texts = [
            text.model_dump(mode="json", exclude_unset=True, exclude={"name"})
            for text in self.train
        ]
        return {
            text.name: self.model_validate(
                content | {"language": text.language or self.language, "train": settings}
            )
            for text, settings in zip(self.train, texts, strict=True)
        }

    @property
    def shares(self) -> dict[str, Share]:
        return {name: Share() for name in self.mixture} or super().shares

    @model_validator(mode="after")
    def _named(self) -> NliSpec:
        if isinstance(self.train, tuple):
            names = [text.name for text in self.train]
            if not names or len(set(names)) < len(names):
                raise ValueError("train is a list of texts: give at least one, with distinct names")
        return self

    @model_validator(mode="after")
    def _possible(self) -> NliSpec:
        for split in self.splits():
            if split == "train" and self.mixture:  # each text is checked by its own corpus
                continue
            text, language = self._text_setting(split), self.language_of(split)
            if isinstance(text, NliText) and text.subset and split != "train":
                raise ValueError(f"{split}: subset is for training text only: use first")
            if text is not None and text.builtin and language not in NLI_LANGUAGES:
                wrong = unknown("language of the built-in NLI corpus", language, NLI_LANGUAGES)
                raise ValueError(f"{split}: {wrong}")
            if text is None or text.kind is None:
                known = self._known_set(split)
                assert known is not None
                KNOWN[known.name].check(split, self.language)
        return self


class NliRecordBuilder(RecordBuilder):
    """Builds records of NLI text; `subset` is a mask over the rows that pass the filter."""

    KIND = KINDS["nli"]
    TEXT = NliText
    STEP = "ingest nli"
    CODE = 1
    LIMITS = "max_length"

    def __init__(self, split: ResolvedSplit, text: TextSource, subset: np.ndarray | None = None):
        super().__init__(split, text)
        assert isinstance(split.text, NliText)
        self._label_names = LabelNames(split.text.labels, text.classes)
        self._subset = subset
        self._counts = dict.fromkeys(LABELS, 0)

    @classmethod
    def of(cls, split: ResolvedSplit, text: TextSource) -> RecordBuilder:
        spec = split.text
        assert isinstance(spec, NliText)
        if not spec.subset:
            return cls(split, text)
        return cls(split, text, choose(split, text, spec.subset, spec.subset_seed))

    def manifest_entries(self) -> dict[str, Any]:
        spec = self.split.text
        assert isinstance(spec, NliText)
        subset = (
            {"rows": spec.subset, "of": self._passed, "seed": spec.subset_seed}
            if spec.subset
            else None
        )
        return {"language": self.split.languages[0], "labels": self._counts, "subset": subset}

    def _selection(self, block: pa.Table) -> np.ndarray:
        codes = super()._selection(block)
        labels = block.column("label").combine_chunks().dictionary_encode()
        numbers = labels.indices.to_numpy()
        for index, name in enumerate(labels.dictionary.to_pylist()):
            rows = np.flatnonzero((numbers == index) & (codes == 0))
            if len(rows) and name not in self._label_names:
                location = self.text.location(block.column("row")[int(rows[0])].as_py())
                raise UserError(
                    f"{self.split.name}: {self._label_names.unknown_message(name, location)}"
                )
            if len(rows) and self._label_names[name] is None:
                codes[rows] = NO_LABEL
        return codes

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        if self._subset is None:
            return super()._held_out(passed)
        return np.where(self._subset[passed], 0, SUBSET)

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        labels = [self._label_names[name] for name in block.column("label").to_pylist()]
        for label in LABELS:
            self._counts[label] += labels.count(label)
        return [pa.array(labels, pa.string()), self._languages(block)]

    def _languages(self, block: pa.Table) -> pa.Array:
        """Return the language of every row: that of its column, or of the split."""
        if "language" not in block.column_names:
            return pa.repeat(self.split.languages[0], len(block))
        codes = block.column("language").combine_chunks()
        for code in codes.unique().to_pylist():
            try:
                check_language(code)
            except UserError as error:
                row = block.column("row")[codes.to_pylist().index(code)].as_py()
                raise UserError(f"{self.split.name}: {self.text.location(row)}: {error}") from error
        return codes


def choose(split: ResolvedSplit, text: TextSource, size: int, seed: int) -> np.ndarray:
    """Return a mask of a random subset over the rows that pass the filter; reads the text once.

    Rows are ranked by a hash of the seed and their id.
    """
    builder = NliRecordBuilder(split, text)
    ranks, labels = [], []
    for block in text.blocks():
        records = builder.build(block)
        ranks += [digest("subset", seed, name, size=8) for name in records.column("id").to_pylist()]
        labels += [LABELS.index(label) for label in records.column("label").to_pylist()]
    builder.check()
    if size > len(labels):
        raise UserError(
            f"{split.name}: subset is {size:,}, but there are {len(labels):,} examples: lower or "
            "remove it"
        )
    return stratified(np.array(labels), np.array(ranks), size)


def stratified(labels: np.ndarray, ranks: np.ndarray, size: int) -> np.ndarray:
    """Return a mask of `size` rows that preserves the proportions of `labels` (numbers from 0).

    Rows are apportioned to labels by Webster's method, and within a label taken in the order of
    ranks. Smaller subsets are contained in larger ones; with three labels, counts deviate from
    exact proportions by at most one (Balinski and Young 1982).
    """
    quantiles = np.empty(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = members[np.argsort(ranks[members], kind="stable")]
        quantiles[order] = (np.arange(len(order)) + 0.5) / len(order)
    mask = np.zeros(len(labels), bool)
    mask[np.lexsort((labels, quantiles))[:size]] = True
    return mask
