"""Settings of a text: where it comes from, its columns, and which of its rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from augury.core.config import FileName, FilePath, ModelName, Section
from augury.core.errors import UserError
from augury.corpora.corpus import (
    LABELLED,
    LABELLED_PAIRS,
    MONOLINGUAL,
    NLI,
    NO_GOLD,
    PARALLEL,
    Kind,
    Label,
    NoGold,
)
from augury.corpora.files import COMPRESSIONS
from augury.corpora.languages import LanguageCode

Role = Literal["train", "valid", "test"]
Paths = FilePath | tuple[FilePath, ...]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rows = Annotated[int, Field(ge=1, le=100_000_000)]
Words = Annotated[int, Field(ge=1, le=1_000_000)]
ORIGINS: tuple[Literal["file", "hub", "builtin"], ...] = ("file", "hub", "builtin")
MARKUP = ("lines", "wit3", "seg")
TABLES = ("tsv", "csv", "jsonl", "parquet")
EXTENSIONS = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
BUILTIN_SIDES = ("de", "en")
"""Languages that the sides of the built-in corpus resemble."""
NO_CONTENT = {
    *("source", "target", "lines", "file", "hub", "references", "lexicon"),
    *("name", "weight", "tag", "noise", "language"),
}
"""Settings that are not in the address of a text: files and words, whose content is, what is done
with the text later, and the language, which is that of its split."""


class NoiseRates(Section):
    """Rates of each kind of noise, per word; applied in this order."""

    asr: float = Field(0.0, ge=0, le=1)
    """Words replaced by a similar-sounding word of the training text, as in speech transcripts (en,
    de, fr). Words that sound like no other are never replaced, and the others more often, so that
    the rate is that of all words."""
    spelling: float = Field(0.0, ge=0, le=1)
    """Words with a letter inserted, deleted, replaced or swapped with the next one."""

    @property
    def rates(self) -> dict[str, float]:
        """The rates above 0 by kind, in order of application."""
        return {kind: rate for kind in NOISES if (rate := getattr(self, kind))}


NOISES = tuple(name for name, field in NoiseRates.model_fields.items() if field.annotation is float)
"""Kinds of noise, in order of application."""


class SourceNoise(NoiseRates):
    """Noise in the inputs of a test set; references are not changed."""

    seed: int = 1


def _text_keys(names: Any) -> Any:
    """Return a mapping of settings whose keys, such as numbers of classes, are text."""
    return {str(key): value for key, value in names.items()} if isinstance(names, dict) else names


def table_layout(file: str) -> str:
    """Return the format of a table by its extension; UserError if that is unknown."""
    path = Path(file)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix not in COMPRESSIONS]
    if path.is_dir():
        return "parquet"
    if suffixes and suffixes[-1] in EXTENSIONS:
        return EXTENSIONS[suffixes[-1]]
    raise UserError(
        f"the format of '{file}' is not evident from its extension: add format: "
        f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
    )


class Text(Section):
    """A text, from a table, a Hugging Face dataset or a built-in corpus."""

    file: FilePath | None = None
    """Table: TSV, CSV, JSON lines (or an array of records), or a Parquet file or directory.

    Delimiters and quotes are told by the file.
    """
    hub: ModelName | None = None
    """Name of a Hugging Face dataset, or a directory, written by `save_to_disk` or with data
    files."""
    builtin: Rows | None = None
    """Number of rows of the built-in synthetic corpus."""

    format: Literal["lines", "wit3", "seg", "tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of a table, by default that of the file extension; or of files of lines, by default
    told by their beginning: `lines`, `wit3` (WIT3 training text, without metadata and tags) or
    `seg` (`<seg>` elements of SGML and XML test sets; one file may have both sides)."""
    header: tuple[str, ...] | None = None
    """Columns of a TSV or CSV file without a header line.

    A first line that repeats them is skipped.
    """
    where: dict[str, str | int] = Field(default_factory=dict)
    """Required values of columns; other rows are not part of the text."""
    missing: tuple[str, ...] = ()
    """Placeholders for missing sentences; rows with one are not part of the text."""
    replace: dict[str, str] = Field(default_factory=dict)
    """Strings to replace in all sentences."""
    split: str | None = None
    """Split of the Hugging Face dataset; by default `train`, `validation` or `test`."""
    configuration: str | None = None
    """Configuration of the Hugging Face dataset."""
    seed: int = 1
    """Seed of the built-in corpus."""
    lexicon: Words | None = None
    """Number of words of the built-in corpus; the default depends on its languages."""
    first: PositiveInt | None = None
    """Number of rows to use, from the first, before filtering."""
    portion: tuple[Fraction, Fraction] | None = None
    """Use only rows whose random number in [0, 1) is in this half-open interval: `[0, 0.5]` and
    `[0.5, 1]` are two halves of a text.

    Rows of labelled text that share a sentence have the same number, and every label has its share
    of each portion.
    """
    validation: bool = Field(False, exclude_if=lambda validation: not validation)
    """Of a test set: it is the validation text, searched and scored as test sets are, for papers
    that print dev."""
    noise: SourceNoise | None = Field(None, exclude_if=lambda noise: noise is None)
    """Synthetic noise in the inputs of a test set; references are not changed."""
    name: FileName | None = None
    """Name in records, curves and tables, of one of several texts."""
    weight: float = Field(1.0, ge=0)
    """Of one of several training texts: how often each row is read per epoch: 2 is twice, 0.25 once
    in four epochs, and 0 never, if only records derived from the text are to be read."""

    KIND: ClassVar[Kind]
    LINES: ClassVar[tuple[str, ...]] = ()
    """The settings of files with a sentence per line, one for each column."""
    APPLIES_TO: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "format": ("lines", "file"),
        "header": ("file",),
        "split": ("hub",),
        "configuration": ("hub",),
        "where": ("file", "hub"),
        "missing": ("file", "hub"),
        "labels": ("file", "hub"),
        "names": ("file", "hub"),
        "language_column": ("file", "hub"),
        "seed": ("builtin",),
        "lexicon": ("builtin",),
    }
    """The origins of a text that a setting applies to, if not to all."""

    @property
    def origin(self) -> Literal["lines", "file", "hub", "builtin"] | None:
        """Where the text is from; None for text of a known set."""
        if any(self.sides):
            return "lines"
        return next((name for name in ORIGINS if getattr(self, name) is not None), None)

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The files of each column, for text with a sentence per line."""
        files = (getattr(self, name) or () for name in self.LINES)
        return tuple((one,) if isinstance(one, str) else tuple(one) for one in files)

    def files(self) -> tuple[str, ...]:
        """Return all files of the text."""
        return (*chain.from_iterable(self.sides), *((self.file,) if self.file else ()))

    def columns(self) -> dict[str, str]:
        """Return the columns of the table by column of records."""
        return {name: getattr(self, f"{name}_column") for name in self.KIND.read}

    @property
    def renamed(self) -> Mapping[str, str | None]:
        """The labels that names of the text mean, None for no label."""
        return {}

    @property
    def layout(self) -> str:
        """The format, by default that of the file extension; `hub` or `builtin` for these origins.

        Raises UserError if the extension is unknown.
        """
        if self.origin == "lines":
            return self.format or "lines"
        if self.file is None or self.format:
            return self.format or str(self.origin)
        return table_layout(self.file)

    def settings(self) -> dict[str, Any]:
        """Return the settings for the address: those on which records depend."""
        settings = self.model_dump(mode="json", exclude=NO_CONTENT, exclude_defaults=True)
        return {**settings, "format": self.layout}

    @classmethod
    def origins(cls) -> str:
        """Return the settings that give a text, for messages."""
        lines = [" and ".join(cls.LINES)] if cls.LINES else []
        return ", or ".join([*lines, *ORIGINS])

    @model_validator(mode="after")
    def _consistent(self) -> Text:
        given = [name for name in (*self.LINES, *ORIGINS) if getattr(self, name) is not None]
        if len({"lines" if name in self.LINES else name for name in given}) > 1:
            raise ValueError(f"{' and '.join(given)} are given: give one of {self.origins()}")
        if self.origin is None:
            return self
        titles = dict(zip(ORIGINS, ORIGINS, strict=True)) | {"lines": " and ".join(self.LINES)}
        title = titles[self.origin]
        columns = {f"{name}_column": ("file", "hub") for name in self.KIND.read}
        for key, origins in {**self.APPLIES_TO, **columns}.items():
            field = type(self).model_fields.get(key)
            if field is None or self.origin in origins:
                continue
            if getattr(self, key) != field.get_default(call_default_factory=True):
                allowed = " or ".join(titles[name] for name in origins if titles[name])
                raise ValueError(f"{key} applies to {allowed}, not to {title}: remove it")
        formats = MARKUP if self.origin == "lines" else TABLES
        if self.format and self.format not in formats:
            raise ValueError(
                f"format {self.format} does not apply to {title}; allowed: {', '.join(formats)}"
            )
        if self.origin in ("file", "hub"):
            used = list(self.columns().values())
            if not all(used):
                raise ValueError(f"{title} needs {' and '.join(columns)}: give both")
            if len(set(used)) < len(used):
                raise ValueError(f"{' and '.join(columns)} are {', '.join(used)}: they must differ")
        return self


class ParallelText(Text):
    """A parallel text, from aligned files, a table, a Hugging Face dataset or the built-in
    corpus."""

    source: Paths | None = None
    """File, or files to concatenate, with one source sentence per line."""
    target: Paths | None = None
    """File or files with the translation of each line of `source`."""
    references: tuple[FilePath, ...] = Field((), exclude_if=lambda files: not files)
    """Of a test set of aligned files: files with further references, one line for each of
    `target`."""
    source_column: str | None = None
    """Column of the source; dots address nested fields, such as `translation.de`."""
    target_column: str | None = None
    """Column of the target."""
    reversed: bool = False
    """Whether the text is for the opposite direction: its sides are swapped."""
    tag: str | None = None
    """Tag to prepend to the sources, one of vocabulary.reserved: `<MTNT_s>`."""

    KIND: ClassVar[Kind] = PARALLEL
    LINES: ClassVar = ("source", "target")

    def files(self) -> tuple[str, ...]:
        return super().files() + self.references

    @model_validator(mode="after")
    def _two_sides(self) -> ParallelText:
        if (self.source is None) != (self.target is None):
            side, other = ("source", "target") if self.target is None else ("target", "source")
            raise ValueError(f"{side} is given without {other}: give both")
        if self.references and (not self.source or self.layout != "lines" or self.reversed):
            raise ValueError(
                "references are files of lines beside those of source and target: give both, or "
                "remove references"
            )
        return self


class NliText(Text):
    """An NLI text, from a table, a Hugging Face dataset (`xnli`, `multi_nli`, `snli`) or the
    built-in corpus."""

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
    labels: Annotated[dict[str, Label | NoGold], BeforeValidator(_text_keys)] = Field(
        default_factory=dict
    )
    """Maps label names or numbers of the text to labels, or to `-` for no gold label (such rows are
    removed). The standard names (`entailment`, `e`, `contradictory`, `-`) and the classes of
    Hugging Face datasets are known."""
    subset: PositiveInt | None = None
    """Size of a stratified random subset of training text, drawn after filtering; smaller subsets
    are contained in larger ones."""

    KIND: ClassVar[Kind] = NLI

    def columns(self) -> dict[str, str]:
        several = {"language": self.language_column} if self.language_column else {}
        return super().columns() | several

    @property
    def renamed(self) -> dict[str, str | None]:
        return {name: None if label == NO_GOLD else label for name, label in self.labels.items()}

    @model_validator(mode="after")
    def _one_language(self) -> NliText:
        if self.language and self.language_column:
            raise ValueError(
                f"language: {self.language} is that of all rows: remove it, or language_column"
            )
        return self


class _Labelled(Text):
    """A text with a label in every row."""

    label_column: str = "label"
    """Column of the label."""
    names: Annotated[dict[str, str | None], BeforeValidator(_text_keys)] = Field(
        default_factory=dict
    )
    """Maps label names or numbers in the text to labels of the corpus, if they differ, or to null
    for no label (such rows are removed)."""

    @property
    def renamed(self) -> dict[str, str | None]:
        return self.names


class LabelledText(_Labelled):
    """A text of labelled sentences, from a table, a Hugging Face dataset or the built-in corpus,
    whose labels are affirmative and negative."""

    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""

    KIND: ClassVar[Kind] = LABELLED


class PairText(_Labelled):
    """A text of labelled pairs of sentences, from a table, a Hugging Face dataset or the built-in
    NLI corpus."""

    sentence1_column: str = "sentence1"
    """Column of the first sentence; dots address nested fields."""
    sentence2_column: str = "sentence2"
    """Column of the second sentence."""

    KIND: ClassVar[Kind] = LABELLED_PAIRS


class MonolingualText(Text):
    """A monolingual text, from lines, a table, a Hugging Face dataset or a built-in corpus."""

    lines: Paths | None = None
    """File, or files to concatenate, with one sentence per line."""
    text_column: str = "text"
    """Column of the sentence; dots address nested fields."""

    KIND: ClassVar[Kind] = MONOLINGUAL
    LINES: ClassVar = ("lines",)
