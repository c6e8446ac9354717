"""The base class of settings of a text: where it comes from, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, PositiveInt, model_validator

from augury.core.config import FilePath, ModelName, Section
from augury.core.errors import UserError
from augury.corpora.files import COMPRESSIONS
from augury.corpora.noise import SourceNoise

Role = Literal["train", "valid", "test"]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rows = Annotated[int, Field(ge=1, le=100_000_000)]
Words = Annotated[int, Field(ge=1, le=1_000_000)]
Kind = Literal["aligned", "lines", "table", "hub", "builtin"]
# Kinds whose setting has another name.
KIND_NAMES = {
    "aligned": "source and target",
    "table": "file",
}
TABLES = ("tsv", "csv", "jsonl", "parquet")
EXTENSIONS = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}

NO_CONTENT = (
    *("source", "target", "lines", "file", "hub", "references"),
    *("name", "weight", "tag", "noise", "language"),
)
"""Settings that are not in the address of a text: files, whose content is, what is done with the
text later, and the language, which is that of its split."""


def text_keys(names: Any) -> Any:
    """Return a mapping of settings whose keys, such as numbers of classes, are text."""
    return {str(key): value for key, value in names.items()} if isinstance(names, dict) else names


class Generated(NamedTuple):
    """A built-in text."""

    content: list[str]
    """Names that identify it, for the address."""
    note: str
    """A remark to show with results."""
    columns: tuple[str, ...]
    rows: Callable[[], Iterator[tuple[str, ...]]]
    """Generates the rows lazily; raises UserError for an invalid size or lexicon."""


class BaseText(Section):
    """A text, from a table, a Hugging Face dataset or a built-in corpus."""

    file: FilePath | None = None
    """Table: TSV, CSV, JSON lines (or an array of records), or a Parquet file or directory.

    Delimiters and quotes are told by the file.
    """
    hub: ModelName | None = None
    """Name of a Hugging Face dataset, or a directory, written by `save_to_disk` or with data
    files."""
    builtin: Rows | None = None
    """Number of pairs of the built-in synthetic corpus."""

    format: str | None = None
    header: tuple[str, ...] | None = None
    """Columns of a TSV or CSV file without a header line.

    A first line that repeats them is skipped.
    """
    id_column: str | None = None
    """Column of unique ids; by default, ids consist of the split and the row number."""
    where: dict[str, str | int] = Field(default_factory=dict)
    """Required values of columns; other rows are not part of the text."""
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
    portion_seed: int = 1
    """Seed of the random numbers of `portion`."""
    validation: bool = Field(False, exclude_if=lambda validation: not validation)
    """Of a test set: it is the validation text, searched and scored as test sets are, for papers
    that print dev."""
    noise: SourceNoise | None = Field(None, exclude_if=lambda noise: noise is None)
    """Synthetic noise in the inputs of a test set; references are not changed."""

    SOURCE_SETTINGS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "table": ("file",),
        "hub": ("hub",),
        "builtin": ("builtin",),
    }
    """Settings that give the source of a text, by kind of source."""
    FORMATS: ClassVar[Mapping[str, tuple[str, ...]]] = {"table": TABLES}
    APPLIES_TO: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "format": ("table",),
        "header": ("table",),
        "split": ("hub",),
        "configuration": ("hub",),
        "id_column": ("table", "hub"),
        "portion": ("table", "hub"),
        "portion_seed": ("table", "hub"),
        "where": ("table", "hub"),
        "seed": ("builtin",),
        "lexicon": ("builtin",),
    }
    """Kinds of sources that a setting applies to, if not to all."""
    ALTERNATIVES: ClassVar[str]
    """The alternative settings of the source, for messages."""

    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Columns of records that are read from the text."""

    def columns(self) -> dict[str, str]:
        """Return the columns of the table by column of records."""
        return {name: getattr(self, f"{name}_column") for name in self.COLUMNS}

    @property
    def replaced(self) -> Mapping[str, str]:
        """Strings to replace in all sentences."""
        return {}

    @property
    def renamed(self) -> Mapping[str, str | None]:
        """The labels that names of the text mean, None for no label."""
        return {}

    @property
    def drawn(self) -> tuple[int, int] | None:
        """The size and the seed of the random subset to draw; None for the whole text."""
        return None

    @property
    def kind(self) -> Kind | None:
        """The kind of source; None for text of a known set."""
        for kind, keys in self.SOURCE_SETTINGS.items():
            if any(getattr(self, key) is not None for key in keys):
                return kind  # type: ignore[return-value]
        return None

    @property
    def layout(self) -> str:
        """The format, by default that of the file extension; `hub` or `builtin` for these sources.

        Raises UserError if the extension is unknown.
        """
        if self.kind != "table":
            return str(self.kind)
        if self.format:
            return self.format
        assert self.file is not None
        path = Path(self.file)
        suffixes = [suffix.lower() for suffix in path.suffixes if suffix not in COMPRESSIONS]
        if path.is_dir():
            return "parquet"
        if suffixes and suffixes[-1] in EXTENSIONS:
            return EXTENSIONS[suffixes[-1]]
        raise UserError(
            f"the format of '{self.file}' is not evident from its extension: add format: "
            f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
        )

    def files(self) -> tuple[str, ...]:
        """Return the files of the text."""
        return (self.file,) if self.file else ()

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The files of each column, for text with a sentence per line."""
        return ()

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Texts that stand for a missing one; rows with one are not part of the text."""
        return ()

    @property
    def swapped(self) -> bool:
        """Whether source and target change places."""
        return False

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        """Return the built-in text of a split in some languages."""
        raise UserError(f"there is no built-in corpus of this kind: give {self.ALTERNATIVES}")

    def settings(self) -> dict[str, Any]:
        """Return the settings for the address: those on which records depend."""
        excluded = {*NO_CONTENT}
        if self.portion is None:
            excluded |= {"portion", "portion_seed"}
        if self.drawn is None:
            excluded |= {"subset", "subset_seed"}
        excluded |= {key for key in ("reversed", "language_column") if not getattr(self, key, None)}
        return {**self.model_dump(mode="json", exclude=excluded), "format": self.layout}

    @model_validator(mode="after")
    def _consistent(self) -> BaseText:
        settings: list[str] = []
        for keys in self.SOURCE_SETTINGS.values():
            settings += [key for key in keys if getattr(self, key) is not None]
        kinds = {kind for kind, keys in self.SOURCE_SETTINGS.items() if set(keys) & set(settings)}
        if len(kinds) > 1:
            raise ValueError(f"{' and '.join(settings)} are given: give one of {self.ALTERNATIVES}")
        if self.kind is None:
            return self
        columns = {f"{name}_column": ("table", "hub") for name in self.COLUMNS}
        for key, kinds_of_key in {**self.APPLIES_TO, **columns}.items():
            default = type(self).model_fields[key].get_default(call_default_factory=True)
            if getattr(self, key) != default and self.kind not in kinds_of_key:
                allowed = " or ".join(kind_name(kind) for kind in kinds_of_key)
                raise ValueError(
                    f"{key} applies to {allowed}, not to {kind_name(self.kind)}: remove it"
                )
        if self.format and self.format not in self.FORMATS[self.kind]:
            allowed = ", ".join(self.FORMATS[self.kind])
            raise ValueError(
                f"format {self.format} does not apply to {kind_name(self.kind)}; allowed: {allowed}"
            )
        return self


def kind_name(kind: str) -> str:
    """Return the name of the settings that give a text of this kind, for messages."""
    return KIND_NAMES.get(kind, kind)
