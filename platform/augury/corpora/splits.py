"""Settings that corpora of every kind share: texts by split, their files, their preparation."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
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

RESERVED = ("train", "valid", "mean")  # the last is the mean over test sets
NAMES = {"aligned": "source and target", "table": "file"}  # of kinds whose setting has another name
TABLES = ("tsv", "csv", "jsonl", "parquet")
EXTENSIONS = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class BaseText(Section):
    """One text, as a table, a Hugging Face dataset or a part of the built-in corpora."""

    file: str | None = None
    """Table: TSV (never quoted), CSV (RFC 4180), JSON lines, or a Parquet file or directory."""
    hub: str | None = None
    """Name of a Hugging Face dataset, or a directory: written by `save_to_disk`, or of data files, as a clone is."""
    builtin: PositiveInt | None = None
    """Number of pairs of the built-in synthetic corpus."""

    format: str | None = None
    header: tuple[str, ...] | None = None
    """Columns of a TSV or CSV file without a header line; a first line that repeats them is skipped."""
    id_column: str | None = None
    """Column of the ids, which must be unique; by default an id is the split and the number of the row."""
    where: dict[str, str | int] = Field(default_factory=dict)
    """Values that columns must have; other rows do not belong to the text."""
    split: str | None = None
    """Split of the Hugging Face dataset; by default `train`, `validation` or `test`."""
    configuration: str | None = None
    """Configuration of the Hugging Face dataset."""
    seed: int = 1
    """Seed of the built-in corpus."""
    lexicon: PositiveInt | None = None
    """Words in the lexicon of the built-in corpus; by default as many as its languages say."""
    first: PositiveInt | None = None
    """Only the first rows of the text, before anything is filtered."""
    portion: tuple[Fraction, Fraction] | None = None
    """Only rows whose random number in [0, 1) is at least the first of these and below the second: `[0, 0.5]` and
    `[0.5, 1]` are two halves of a text."""
    portion_seed: int = 1
    """Seed of these numbers."""
    noise: SourceNoise | None = Field(None, exclude_if=lambda noise: noise is None)
    """Synthetic noise in what is read of a test set; what is expected stays."""

    PLACES: ClassVar[Mapping[str, tuple[str, ...]]] = {"table": ("file",), "hub": ("hub",), "builtin": ("builtin",)}
    """The settings that give a text of each kind."""
    FORMATS: ClassVar[Mapping[str, tuple[str, ...]]] = {"table": TABLES}
    BELONGS: ClassVar[Mapping[str, tuple[str, ...]]] = {
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
    """Settings that only make sense for some kinds of text."""
    WAYS: ClassVar[str]
    """The ways to give a text, for messages."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """The columns of the records that come from the text."""

    def columns(self) -> dict[str, str]:
        """Map the columns of records to those of the table that they are read from."""
        return {name: getattr(self, f"{name}_column") for name in self.COLUMNS}

    @property
    def kind(self) -> Kind | None:
        """The way the text is given; None where it is taken from a known set."""
        kinds = [kind for kind, keys in self.PLACES.items() if any(getattr(self, key) is not None for key in keys)]
        return kinds[0] if kinds else None  # type: ignore[return-value]

    @property
    def layout(self) -> str:
        """The format of the text, by default that of the extension, or `hub` or `builtin`.

        Raises UserError where the extension does not tell.
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
            f"the extension of '{self.file}' does not tell its format: "
            f"add format: {', '.join(TABLES[:-1])} or {TABLES[-1]}"
        )

    def files(self) -> tuple[str, ...]:
        """Return the files that the text is made of."""
        return (self.file,) if self.file else ()

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the text, without the names of files, whose content does."""
        names = {"source", "target", "file", "hub", "noise"}  # which is made of the text when that has been read
        if self.portion is None:
            names |= {"portion", "portion_seed"}
        return {**self.model_dump(mode="json", exclude=names), "format": self.layout}

    @model_validator(mode="after")
    def _consistent(self) -> BaseText:
        settings = [key for keys in self.PLACES.values() for key in keys if getattr(self, key) is not None]
        kinds = {kind for kind, keys in self.PLACES.items() if set(keys) & set(settings)}
        if len(kinds) > 1:
            raise ValueError(f"{' and '.join(settings)} are given: a text is {self.WAYS}")
        if self.kind is None:
            return self
        for key, owners in self.BELONGS.items():
            default = type(self).model_fields[key].get_default(call_default_factory=True)
            if getattr(self, key) != default and self.kind not in owners:
                owner = " or ".join(named(kind) for kind in owners)
                raise ValueError(f"{key} belongs to a text given as {owner}, not as {named(self.kind)}")
        if self.format and self.format not in self.FORMATS[self.kind]:
            allowed = ", ".join(self.FORMATS[self.kind])
            raise ValueError(f"format {self.format} is not for {named(self.kind)}: {allowed}")
        return self


class Share(Section):
    """The part that a text has in training."""

    weight: float = Field(1.0, ge=0)
    """How often a pass reads each of its rows: 2 is twice, 0.25 once in four passes, 0 never: where records made of
    them are read alone."""
    tag: str | None = None
    """The symbol before every source, one of vocabulary.reserved, such as `<MTNT_s>`."""


class Limits(NamedTuple):
    """The lengths, in words, that a pair of training text may have."""

    fewest: int = 1
    most: int | None = None
    ratio: float | None = None
    """Of the longer to the shorter side."""


class Cleaning(Section):
    """Preparation that every kind of corpus has."""

    lowercase: bool = False
    """Lower-case both sides."""
    unescape: bool = False
    """Replace HTML entities such as `&quot;` by their characters."""
    deduplicate: bool = False
    """Keep the first of equal rows only."""

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """The lengths that training text may have."""


@dataclass(frozen=True)
class Part:
    """A resolved split: its text, its preparation and the choice of its rows."""

    name: str
    role: Role
    """The split whose text is read: `train` for a `valid` that is held out."""
    languages: tuple[str, ...]
    """Source and target language, or the one language of an NLI set."""
    text: BaseText
    known: KnownSet | None
    """The set whose files the text is made of."""
    filter: Cleaning
    every: int | None = None
    """Each `every`-th of the filtered training rows, counted from 1, is held out for validation."""


class BaseSpec(Section):
    """A corpus: its languages, its splits, how it is prepared."""

    known: str | tuple[str, ...] | None = None
    train: BaseText | tuple[BaseText, ...] | None = None
    valid: BaseText | tuple[BaseText, ...] | None = None
    tests: Mapping[str, BaseText] = Field(default_factory=dict)
    filter: Cleaning | None = None

    TEXT: ClassVar[type[BaseText]]
    FILTER: ClassVar[type[Cleaning]]
    KNOWN: ClassVar[Mapping[str, KnownSet]]
    """The public sets of this kind."""
    SCHEMA: ClassVar[pa.Schema]
    """The columns of a record."""

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits: `train` and `valid` where they exist, then the tests."""
        train = self.train is not None or self._set_of("train") is not None
        valid = self.valid is not None or self.held_out is not None or self._set_of("valid") is not None
        tests = tuple(self.tests) or next((known.tests for known in self._sets if known.tests), ())
        return ("train",) * train + ("valid",) * valid + self.dev_sets + tests

    @property
    def mixture(self) -> Mapping[str, BaseSpec]:
        """The corpora that the training text is made of, by the names of their texts; none where it is one text."""
        return {}

    @property
    def shares(self) -> dict[str, Share]:
        """The part that each text of a mixture has in training, or that of the one text, `train`."""
        return {"train": Share()}

    @property
    def dev_sets(self) -> tuple[str, ...]:
        """The splits that training is watched on beside `valid`, which decides: `valid <name>`."""
        return ()

    def tag(self, split: str) -> str | None:
        """Return the symbol before the sources of a validation or test set."""
        return None

    def parts(self, split: str, directory: str | None = None) -> list[Part]:
        """Return the texts that a split is made of, resolved as by `part`."""
        if split == "train" and self.mixture:
            return [part for spec in self.mixture.values() for part in spec.parts(split, directory)]
        return [self.part(split, directory)]

    def part(self, split: str, directory: str | None = None) -> Part:
        """Resolve a split; files of a known set are looked for under `directory`, by default AUGURY_DATA.

        Raises UserError where the corpus has no such split or the known set is not there.
        """
        if split not in self.splits():
            raise self._no_valid() if split == "valid" else unknown("split", split, self.splits())
        read = "train" if split == "valid" and self.held_out else split
        role: Role = "train" if read == "train" else "valid" if read in ("valid", *self.dev_sets) else "test"
        text, known = self._text(read, directory)
        every = self.held_out if role == "train" else None
        return Part(split, role, self.languages_of(split), text, known, self.preparation, every)

    def noise(self, split: str) -> SourceNoise | None:
        """Return the noise of a test set that has any."""
        text = self._own_text(split)
        return text.noise if text and text.noise and text.noise.rates else None

    @property
    def preparation(self) -> Cleaning:
        """The cleaning and filtering of its text."""
        return self.filter or self.FILTER.model_validate(self._sets[0].filter if self._sets else {})

    @property
    def held_out(self) -> int | None:
        """The n of every n-th training row that is held out for validation; None where none is."""
        return None

    @abstractmethod
    def languages_of(self, split: str) -> tuple[str, ...]:
        """Return the languages of the records of a split."""

    @abstractmethod
    def names(self) -> dict[str, str]:
        """Return the languages as they occur in the file names of known sets, by placeholder."""

    @property
    def _sets(self) -> tuple[KnownSet, ...]:
        """The known sets; the first that has a text provides it."""
        names = (self.known,) if isinstance(self.known, str) else self.known or ()
        return tuple(self.KNOWN[name] for name in names)

    def _set_of(self, split: str) -> KnownSet | None:
        return next((known for known in self._sets if split in known.texts), None)

    def _own_text(self, split: str) -> BaseText | None:
        """Return the text that the settings have for a split."""
        text = self.train if split == "train" else self.valid if split == "valid" else self.tests.get(split)
        assert not isinstance(text, tuple), "of several texts, a subclass says which"
        return text

    def _texts(self) -> dict[str, BaseText]:
        """All texts that are given, by their keys."""
        given: dict[str, BaseText] = {}
        for name, text in {"train": self.train, "valid": self.valid, **self.tests}.items():
            if isinstance(text, tuple):
                given |= {f"{name}.{place}": one for place, one in enumerate(text)}
            elif text is not None:
                given[name] = text
        return given

    def _languages_read(self, text: BaseText | None) -> Mapping[str, str]:
        """The languages of a text as files of known sets have them in their names."""
        return self.names()

    def _no_valid(self) -> UserError:
        return UserError("the corpus has no valid: give valid, or a known set that has one")

    def _text(self, split: str, directory: str | None) -> tuple[BaseText, KnownSet | None]:
        """Return the resolved text of a split, and the known set that it comes from."""
        text = self._own_text(split)
        if text is not None and text.kind is not None:
            return text, None
        known = self._set_of(split)
        assert known is not None
        settings = locate(known, split, self._languages_read(text), directory)
        changed = text.model_dump(exclude_defaults=True) if text else {}
        return self.TEXT.model_validate({**settings, **changed}), known

    @field_validator("known")
    @classmethod
    def _is_known(cls, names: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for name in (names,) if isinstance(names, str) else names or ():
            if name not in cls.KNOWN:
                raise ValueError(str(unknown("known corpus", name, cls.KNOWN)))
        return names

    @model_validator(mode="after")
    def _complete(self) -> BaseSpec:
        for name, text in self._texts().items():
            if text.kind is not None:
                continue
            if not self._sets:
                raise ValueError(f"{name} has no text: give {self.TEXT.WAYS}; or give known")
            if self._set_of(name.partition(".")[0]) is None:
                sets = " and ".join(known.name for known in self._sets)
                available = [split for known in self._sets for split in known.texts]
                raise ValueError(f"{name}: {unknown(f'split of {sets}', name, available)}")
        if not self._sets and self.train is None and self.valid is None and not self.tests:
            raise ValueError("the corpus has no text: give known, or train, valid and tests")
        for name, text in self._texts().items():
            if name.partition(".")[0] in ("train", "valid") and text.noise is not None:
                raise ValueError(f"{name}.noise: noise is for tests; train on noisy text with augment: operator noise")
        for name in self.tests:
            if name in RESERVED or not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
                reserved = f"{', '.join(RESERVED[:-1])} nor {RESERVED[-1]}"
                raise ValueError(
                    f"'{name}' cannot name a test: use letters, digits, '_', '.' and '-', and neither {reserved}"
                )
        return self


def named(kind: str) -> str:
    """Return the name of the settings that give a text of this kind."""
    return NAMES.get(kind, kind)
