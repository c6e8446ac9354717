"""Settings of a text: where it comes from, its columns, and which of its rows are read."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    create_model,
    field_validator,
    model_validator,
)

from augury.core.config import FileName, FilePath, ModelName, Section
from augury.core.errors import UserError, unknown
from augury.corpora.corpus import Kind
from augury.corpora.files import COMPRESSIONS
from augury.corpora.languages import LanguageCode

Role = Literal["train", "valid", "test"]
Paths = FilePath | tuple[FilePath, ...]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rows = Annotated[int, Field(ge=1, le=100_000_000)]
Label = Annotated[
    str, Field(coerce_numbers_to_str=True), AfterValidator(partial(unicodedata.normalize, "NFC"))
]
"""A label, which may be written as a number."""


def _distinct(labels: tuple[str, ...]) -> tuple[str, ...]:
    for label, count in Counter(labels).most_common(1):
        if count > 1:
            raise UserError(f"'{label}' is there {count} times: name each label once")
    return labels


Labels = Annotated[tuple[Label, ...], AfterValidator(_distinct)]
Words = Annotated[int, Field(ge=1, le=1_000_000)]
EXTENSIONS = {f".{name}": name for name in ("tsv", "csv", "jsonl", "parquet")}
EXTENSIONS |= {".ndjson": "jsonl", ".json": "jsonl"}
BUILTIN_SIDES = ("de", "en")
"""Languages that the sides of the built-in corpus resemble."""
TABULAR = ("file", "hub")
ORIGINS = {
    **dict.fromkeys(("format", "header"), ("file",)),
    **dict.fromkeys(("split", "configuration"), ("hub",)),
    **dict.fromkeys(("seed", "lexicon"), ("builtin",)),
    **dict.fromkeys(("columns", "where", "missing", "labels"), TABULAR),
}
"""The origins of the texts that a setting applies to, where it is not all."""
NO_CONTENT = {"file", "lexicon", "name", "weight", "tag", "noise", "language"}
"""Settings that are not in the address of a text, beside its files of lines: files and words, whose
content is, what is done with the text later, and the language, which is that of its split."""


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


def extension(file: str | Path) -> str:
    """Return the extension of a file, in lower case, before that of its compression."""
    path = Path(str(file).lower())
    return Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix


def table_layout(file: str) -> str:
    """Return the format of a table by its extension; UserError if that is unknown."""
    if Path(file).is_dir():
        return "parquet"
    if extension(file) in EXTENSIONS:
        return EXTENSIONS[extension(file)]
    raise UserError(
        f"the format of '{file}' is not evident from its extension: add format: "
        "tsv, csv, jsonl or parquet"
    )


class Text(Section):
    """A text, from files of lines, a table, a dataset or a built-in corpus; `text_of` adds the
    files of a kind."""

    file: FilePath | None = None
    """Table: TSV, CSV, JSON lines (or an array of records), or a Parquet file or directory.

    Delimiters and quotes are told by the file.
    """
    hub: ModelName | None = None
    """Name of a Hugging Face dataset, or a directory, written by `save_to_disk` or with data
    files."""
    split: str | None = None
    """Split of the Hugging Face dataset; by default `train`, `validation` or `test`."""
    configuration: str | None = None
    """Configuration of the Hugging Face dataset."""
    builtin: Rows | None = None
    """Number of rows of the built-in synthetic corpus."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of a table, by default that of the file extension."""
    header: tuple[str, ...] | None = None
    """Columns of a TSV or CSV file without a header line.

    A first line that repeats them is skipped.
    """
    columns: dict[str, str] = Field(default_factory=dict)
    """Columns of a table that have other names than those of the records (`source` and `target`;
    `premise`, `hypothesis` and `label`; `text`, or `sentence1` and `sentence2`, and `label`):
    `{source: de, target: en}`. Dots address nested fields, such as `translation.de`; `language` is
    the code of the language of each row, for a table in several languages.
    """
    where: dict[str, str | int] = Field(default_factory=dict)
    """Required values of columns; other rows are not part of the text."""
    missing: tuple[str, ...] = ()
    """Placeholders for missing sentences; rows with one are not part of the text."""
    labels: dict[Label, Label | None] = Field(default_factory=dict)
    """Maps names or numbers of labels in the text to labels of the corpus, if they differ, or to
    null for no label (such rows are removed). The classes of Hugging Face's tables are known, and
    of NLI the usual names (`entailment`, `e`, `contradictory`, and `-` for no gold label)."""
    language: LanguageCode | None = None
    """Language of a text in one language; by default that of the corpus."""
    replace: dict[Annotated[str, Field(min_length=1)], str] = Field(default_factory=dict)
    """Strings to replace in all sentences."""
    reversed: bool = False
    """Whether a parallel text is for the opposite direction: its sides are swapped."""
    seed: int = 1
    """Seed of the built-in corpus."""
    lexicon: Words | None = None
    """Number of words of the built-in corpus, 24 to 2,000; by default 2,000 for translation other
    than between qaa and qab, else 96."""
    first: PositiveInt | None = None
    """Number of rows to use, from the first, before filtering."""
    portion: tuple[Fraction, Fraction] | None = None
    """Use only rows whose random number in [0, 1) is in this half-open interval: `[0, 0.5]` and
    `[0.5, 1]` are two halves of a text.

    Equal rows have the same number; of labelled text, all rows that share a sentence, and every
    label has its share of each portion.
    """
    subset: PositiveInt | None = None
    """Size of a random subset of training text, in which labels have their shares, drawn after
    filtering; smaller subsets are contained in larger ones."""
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
    tag: str | None = None
    """Tag to prepend to the inputs, one of vocabulary.reserved: `<MTNT_s>`."""

    KIND: ClassVar[Kind]

    @property
    def origin(self) -> Literal["lines", "file", "hub", "builtin"] | None:
        """Where the text is from; None for text of a known set."""
        if any(self.sides):
            return "lines"
        if self.file is not None:
            return "file"
        if self.hub is not None:
            return "hub"
        return "builtin" if self.builtin is not None else None

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The files of each column, for text with a sentence per line."""
        files = (getattr(self, name) or () for name in self.KIND.lines)
        return tuple((one,) if isinstance(one, str) else tuple(one) for one in files)

    def files(self) -> tuple[str, ...]:
        """Return all files of the text."""
        return (*chain.from_iterable(self.sides), *((self.file,) if self.file else ()))

    @property
    def table_columns(self) -> dict[str, str]:
        """The columns of the table by column of records."""
        return {name: name for name in self.KIND.read} | self.columns

    @property
    def layout(self) -> str:
        """The format, by default that of the file extension; `lines`, `hub` or `builtin` for these
        origins.

        Raises UserError if the extension is unknown.
        """
        if self.file is None:
            return str(self.origin)
        return self.format or table_layout(self.file)

    def settings(self) -> dict[str, Any]:
        """Return the settings for the address: those on which records depend."""
        no_content = {*NO_CONTENT, *self.KIND.lines}
        settings = self.model_dump(mode="json", exclude=no_content, exclude_defaults=True)
        return {**settings, "format": self.layout}

    @classmethod
    def origins(cls) -> str:
        """Return the settings that give a text, for messages."""
        lines = [" and ".join(cls.KIND.lines)] if cls.KIND.lines else []
        return ", or ".join([*lines, *TABULAR, "builtin"])

    @field_validator("where", mode="before")
    @classmethod
    def _as_readers_give_them(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {
            key: str(value).lower() if isinstance(value, bool) else value
            for key, value in values.items()
        }

    @field_validator("columns")
    @classmethod
    def _renamed_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        kept = ("language",)  # which says that the table has this column
        return {name: column for name, column in columns.items() if name != column or name in kept}

    @model_validator(mode="after")
    def _consistent(self) -> Text:
        kind, changed = self.KIND, self.model_dump(exclude_defaults=True)
        given = [name for name in (*kind.lines, *TABULAR, "builtin") if changed.get(name)]
        if len({"lines" if name in kind.lines else name for name in given}) > 1:
            raise UserError(f"{' and '.join(given)} are given: give one of {self.origins()}")
        lacking = [name for name in kind.lines if name not in given]
        if lacking and self.origin == "lines":
            raise UserError(f"{given[0]} is given without {lacking[0]}: give both")
        if self.portion and self.portion[0] >= self.portion[1]:
            raise UserError(f"portion {list(self.portion)} has no rows: give the lower end first")
        for key, origins in ORIGINS.items():
            if key in changed and self.origin not in (None, *origins):
                raise UserError(
                    f"{key} applies to {' or '.join(origins)}, not to {' and '.join(given)}: "
                    "remove it"
                )
        pairs = len(kind.languages) > 1
        possible = {"reversed": pairs, "language": not pairs, "labels": kind.is_labelled}
        for key, is_possible in possible.items():
            if key in changed and not is_possible:
                raise UserError(f"{key} does not apply to {kind.name} text: remove it")
        for label in filter(None, self.labels.values() if kind.aliases else ()):
            if label not in kind.aliases:
                raise UserError(f"labels: {unknown('label', label, kind.aliases)}")
        known = [*kind.read, *(() if pairs else ("language",))]
        for column in self.columns:
            if column not in known:
                of_kind = f"column of {kind.name} text"
                raise UserError(f"columns: {unknown(of_kind, column, known)}")
        used = self.table_columns
        if len(set(used.values())) < len(used):
            described = ", ".join(f"{name}: {column}" for name, column in used.items())
            raise UserError(f"columns are {{{described}}}: they must differ")
        return self


def text_of(kind: Kind, module: str, name: str) -> type[Text]:
    """Return the settings of texts of a kind, the class `name` of a module: with a setting for each
    of its files of lines."""
    lines = Field(None, description="File, or files to concatenate, with one sentence per line.")
    fields: dict[str, Any] = {side: (Paths | None, lines) for side in kind.lines}
    title = f"{kind.name.title().replace(' ', '')}Text"
    text = create_model(title, __base__=Text, __module__=module, **fields)
    text.__qualname__, text.KIND = name, kind
    return text
