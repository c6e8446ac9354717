"""Base classes of corpus settings: texts by split, their sources and their preparation."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pyarrow as pa
from pydantic import Field, PositiveInt, field_validator, model_validator

from augury.core.config import Section
from augury.core.errors import UserError, unknown
from augury.corpora.files import COMPRESSIONS
from augury.corpora.known import KnownSet, locate
from augury.corpora.noise import SourceNoise

Role = Literal["train", "valid", "test"]
Fraction = Annotated[float, Field(ge=0, le=1)]
Kind = Literal["aligned", "lines", "table", "hub", "builtin"]

TEST_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}"
RESERVED = ("train", "valid", "mean")  # "mean" is the mean over test sets
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
    ".parquet": "parquet",
}


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

    file: str | None = None
    """Table: TSV (without quoting), CSV (RFC 4180), JSON lines, or a Parquet file or directory."""
    hub: str | None = None
    """Name of a Hugging Face dataset, or a directory, written by `save_to_disk` or with data
    files."""
    builtin: PositiveInt | None = None
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
    lexicon: PositiveInt | None = None
    """Number of words of the built-in corpus; the default depends on its languages."""
    first: PositiveInt | None = None
    """Number of rows to use, from the first, before filtering."""
    portion: tuple[Fraction, Fraction] | None = None
    """Use only rows whose random number in [0, 1) is in this half-open interval: `[0, 0.5]` and
    `[0.5, 1]` are two halves of a text."""
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

    COLUMNS: ClassVar[tuple[str, ...]]
    """Columns of records that are read from the text."""

    def columns(self) -> dict[str, str]:
        """Return the columns of the table by column of records."""
        return {name: getattr(self, f"{name}_column") for name in self.COLUMNS}

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
        """Return the settings for the address: without file names, whose content is part of it,
        and noise."""
        # Noise is added to the text that is read.
        excluded = {
            "source",
            "target",
            "file",
            "hub",
            "noise",
        }
        if self.portion is None:
            excluded |= {"portion", "portion_seed"}
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
        for key, kinds_of_key in self.APPLIES_TO.items():
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


class Share(Section):
    """The share of a text in training."""

    weight: float = Field(1.0, ge=0)
    """How often each row is read per epoch: 2 is twice, 0.25 once in four epochs, and 0 never, if
    only records derived from the text are to be read."""
    tag: str | None = None
    """Tag to prepend to the sources, one of vocabulary.reserved, such as `<MTNT_s>`."""


class Limits(NamedTuple):
    """Limits on the lengths of training rows, in words."""

    minimum: int = 1
    maximum: int | None = None
    ratio: float | None = None
    """Maximum ratio of the longer to the shorter side."""


MAX_CHARACTERS = 100_000


class Cleaning(Section):
    """Preparation settings of all kinds of corpora."""

    lowercase: bool = False
    """Lower-case both sides."""
    unescape: bool = False
    """Replace HTML entities such as `&quot;` by their characters."""
    deduplicate: bool = False
    """Remove repeated rows."""
    max_characters: PositiveInt | None = Field(
        MAX_CHARACTERS, exclude_if=lambda most: most == MAX_CHARACTERS
    )
    """Maximum number of characters on each side of a training row, however many words they are.

    Null for no limit.
    """

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """The limits on training rows."""


@dataclass(frozen=True)
class ResolvedSplit:
    """A split with its text, preparation and selection of rows."""

    name: str
    role: Role
    """Split that the text comes from: `train` for a held-out `valid`."""
    languages: tuple[str, ...]
    """Source and target language, or the single language of other corpora."""
    text: BaseText
    known: KnownSet | None
    """Known set that the text comes from."""
    filter: Cleaning
    every: int | None = None
    """Every n-th of the filtered training rows, counted from 1, is held out for validation."""


class BaseSpec(Section):
    """A corpus: its languages, splits and preparation."""

    known: str | tuple[str, ...] | None = None
    """A public data set, which gives the splits that are not set."""
    train: BaseText | tuple[BaseText, ...] | None = None
    valid: BaseText | tuple[BaseText, ...] | None = None
    tests: Mapping[str, BaseText] = Field(default_factory=dict)
    filter: Cleaning | None = None

    TEXT: ClassVar[type[BaseText]]
    FILTER: ClassVar[type[Cleaning]]
    KNOWN: ClassVar[Mapping[str, KnownSet]]
    """Known public sets of this kind."""
    SCHEMA: ClassVar[pa.Schema]
    """Columns of records."""

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits: `train` and `valid` if they exist, then the tests."""
        train = self.train is not None or self._known_set("train") is not None
        valid = (
            self.valid is not None
            or self.held_out is not None
            or self._known_set("valid") is not None
        )
        tests = tuple(self.tests) or next(
            (known.tests for known in self._known_sets if known.tests), ()
        )
        return ("train",) * train + ("valid",) * valid + self.dev_sets + tests

    @property
    def mixture(self) -> Mapping[str, BaseSpec]:
        """The corpora of several training texts, by name; empty for a single text."""
        return {}

    @property
    def shares(self) -> dict[str, Share]:
        """The share of each training text by name; a single text is called `train`."""
        return {"train": Share()}

    @property
    def dev_sets(self) -> tuple[str, ...]:
        """Validation sets that are scored during training in addition to `valid`: `valid
        <name>`."""
        return ()

    def tag(self, split: str) -> str | None:
        """Return the tag to prepend to the sources of a validation or test set."""
        return None

    def resolve_all(self, split: str, directory: str | None = None) -> list[ResolvedSplit]:
        """Resolve a split, which for a mixture has several texts."""
        if split == "train" and self.mixture:
            resolved: list[ResolvedSplit] = []
            for spec in self.mixture.values():
                resolved += spec.resolve_all(split, directory)
            return resolved
        return [self.resolve(split, directory)]

    def resolve(self, split: str, directory: str | None = None) -> ResolvedSplit:
        """Resolve a split; `directory` has the files of known sets and is AUGURY_DATA by default.

        Raises UserError if the corpus has no such split or the files of a known set are missing.
        """
        if split not in self.splits():
            raise self._no_valid() if split == "valid" else unknown("split", split, self.splits())
        if self.is_validation(split):
            return self.resolve("valid", directory)
        origin = "train" if split == "valid" and self.held_out else split
        role: Role = (
            "train"
            if origin == "train"
            else "valid"
            if origin in ("valid", *self.dev_sets)
            else "test"
        )
        text, known = self._resolve_text(origin, directory)
        every = self.held_out if role == "train" else None
        return ResolvedSplit(
            split, role, self.languages_of(split), text, known, self.preparation, every
        )

    def noise(self, split: str) -> SourceNoise | None:
        """Return the noise of a test set, None without any."""
        text = self._text_setting(split)
        return text.noise if text and text.noise and text.noise.changes_text else None

    @property
    def preparation(self) -> Cleaning:
        """The cleaning and filtering of the text."""
        return self.filter or self.FILTER.model_validate(
            self._known_sets[0].filter if self._known_sets else {}
        )

    @property
    def held_out(self) -> int | None:
        """n if every n-th training row is held out for validation, else None."""
        return None

    @abstractmethod
    def languages_of(self, split: str) -> tuple[str, ...]:
        """Return the languages of the records of a split."""

    @abstractmethod
    def language_codes(self) -> dict[str, str]:
        """Return the language codes by their placeholders in the file names of known sets."""

    @property
    def _known_sets(self) -> tuple[KnownSet, ...]:
        """The known sets in order of precedence."""
        names = (self.known,) if isinstance(self.known, str) else self.known or ()
        return tuple(self.KNOWN[name] for name in names)

    def _known_set(self, split: str) -> KnownSet | None:
        """Return the first known set that has a split."""
        return next((known for known in self._known_sets if split in known.texts), None)

    def _text_setting(self, split: str) -> BaseText | None:
        """Return the text of a split in the settings; None if it is that of a known set."""
        text = (
            self.train
            if split == "train"
            else self.valid
            if split == "valid"
            else self.tests.get(split)
        )
        assert not isinstance(text, tuple), "subclasses with several texts override this"
        return text

    def is_validation(self, split: str) -> bool:
        """Return whether a test set is the validation text."""
        return split in self.tests and self.tests[split].validation

    def _text_settings(self) -> dict[str, BaseText]:
        """Return all texts in the settings by dotted key."""
        texts: dict[str, BaseText] = {}
        for name, value in {"train": self.train, "valid": self.valid, **self.tests}.items():
            if isinstance(value, tuple):
                texts |= {f"{name}.{index}": text for index, text in enumerate(value)}
            elif value is not None:
                texts[name] = value
        return texts

    def _file_languages(self, text: BaseText | None) -> Mapping[str, str]:
        """Return the language codes for the file names of a text of a known set."""
        return self.language_codes()

    def _no_valid(self) -> UserError:
        return UserError(
            "the corpus has no validation set: give valid, or a known set that has one"
        )

    def _resolve_text(self, split: str, directory: str | None) -> tuple[BaseText, KnownSet | None]:
        """Return the text of a split, completed from the known set that it comes from, and that
        set."""
        text = self._text_setting(split)
        if text is not None and text.kind is not None:
            return text, None
        known = self._known_set(split)
        assert known is not None
        settings = locate(known, split, self._file_languages(text), directory)
        overrides = text.model_dump(exclude_defaults=True) if text else {}
        return self.TEXT.model_validate({**settings, **overrides}), known

    @field_validator("known")
    @classmethod
    def _is_known(cls, names: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for name in (names,) if isinstance(names, str) else names or ():
            if name not in cls.KNOWN:
                raise ValueError(str(unknown("known corpus", name, cls.KNOWN)))
        return names

    @model_validator(mode="after")
    def _complete(self) -> BaseSpec:
        for name, text in self._text_settings().items():
            if text.validation and (name not in self.tests or text != self.TEXT(validation=True)):
                raise ValueError(
                    f"{name}.validation: only a test set, without other settings, can be that text"
                )
            if text.kind is not None or text.validation:
                continue
            if not self._known_sets:
                raise ValueError(
                    f"{name} has no source: give {self.TEXT.ALTERNATIVES}; or give known"
                )
            if self._known_set(name.partition(".")[0]) is None:
                sets = " and ".join(known.name for known in self._known_sets)
                available = [split for known in self._known_sets for split in known.texts]
                raise ValueError(f"{name}: {unknown(f'split of {sets}', name, available)}")
        if not self._known_sets and self.train is None and self.valid is None and not self.tests:
            raise ValueError("the corpus has no text: give known, or train, valid and tests")
        for name, text in self._text_settings().items():
            if name.partition(".")[0] in ("train", "valid") and text.noise is not None:
                raise ValueError(
                    f"{name}.noise: only tests can have noise; for training use the operator noise"
                )
        for name in self.tests:
            if name in RESERVED or not re.fullmatch(TEST_NAME, name):
                reserved = f"{', '.join(RESERVED[:-1])} nor {RESERVED[-1]}"
                raise ValueError(
                    f"'{name:.60}' is not a valid test name: use letters, digits, '_', '-' and, "
                    f"not first, '.', at most 100, and neither {reserved}"
                )
        return self


def kind_name(kind: str) -> str:
    """Return the name of the settings that give a text of this kind, for messages."""
    return KIND_NAMES.get(kind, kind)
