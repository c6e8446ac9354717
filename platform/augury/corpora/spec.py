"""What a user says about a corpus: languages, texts, filter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt, field_validator, model_validator

from augury.config import Section
from augury.corpora.files import COMPRESSIONS
from augury.corpora.known import KNOWN, KnownSet, check_languages, locate
from augury.errors import UserError, unknown

Role = Literal["train", "valid", "test"]
Paths = str | tuple[str, ...]

PLACES = {"aligned": ("source", "target"), "table": ("file",), "hub": ("hub",), "builtin": ("builtin",)}
BELONGS = {  # settings that only make sense for some kinds of text
    "format": ("aligned", "table"), "header": ("table",), "split": ("hub",), "configuration": ("hub",),
    "source_column": ("table", "hub"), "target_column": ("table", "hub"), "id_column": ("table", "hub"),
    "where": ("table", "hub"), "missing": ("table", "hub"), "seed": ("builtin",), "lexicon": ("builtin",),
}  # fmt: skip
FORMATS = {"aligned": ("lines", "wit3", "seg"), "table": ("tsv", "csv", "jsonl", "parquet")}
_WAYS = "source and target, or file, or hub, or builtin"
EXTENSIONS = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class TextSpec(Section):
    """One parallel text, as two aligned files, a table, a Hugging Face dataset or the built-in corpus."""

    source: Paths | None = None
    """File, or files that follow one another, with one source sentence a line."""
    target: Paths | None = None
    """File or files with the translation of each line of `source`."""
    file: str | None = None
    """Table: TSV (never quoted), CSV (RFC 4180), JSON lines, or a Parquet file or directory."""
    hub: str | None = None
    """Name of a Hugging Face dataset, or a directory written by its `save_to_disk`."""
    builtin: PositiveInt | None = None
    """Number of pairs of the built-in synthetic corpus."""

    format: Literal["lines", "wit3", "seg", "tsv", "csv", "jsonl", "parquet"] | None = None
    """Of a table, where its extension does not tell. Of aligned files: `lines`, `wit3` (training text of
    WIT3, without its metadata and tags) or `seg` (the `<seg id=...>` lines of SGML and XML test sets)."""
    header: tuple[str, ...] | None = None
    """Columns of a TSV or CSV file without a header line; a first line that repeats them is skipped."""
    source_column: str | None = None
    """Column of the source; dots lead to fields within a column, such as `translation.de`."""
    target_column: str | None = None
    """Column of the target."""
    id_column: str | None = None
    """Column of the ids, which must be unique; by default an id is the split and the number of the row."""
    where: dict[str, str | int] = Field(default_factory=dict)
    """Values that columns must have; other rows do not belong to the text."""
    missing: tuple[str, ...] = ()
    """Marks of a missing translation; rows with one as source or target do not belong to the text."""
    split: str | None = None
    """Split of the Hugging Face dataset; by default `train`, `validation` or `test`."""
    configuration: str | None = None
    """Configuration of the Hugging Face dataset."""
    seed: int = 1
    """Seed of the built-in corpus."""
    lexicon: PositiveInt = 2000
    """Words in the lexicon of the built-in corpus."""

    replace: dict[str, str] = Field(default_factory=dict)
    """Strings to replace in both sides."""
    first: PositiveInt | None = None
    """Only the first rows of the text, before anything is filtered."""

    @property
    def kind(self) -> Literal["aligned", "table", "hub", "builtin"] | None:
        """How the text is given; None where it is taken from a known set."""
        given = [kind for kind, keys in PLACES.items() if any(getattr(self, key) is not None for key in keys)]
        return given[0] if given else None  # type: ignore[return-value]

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of the source side, where the text is given as aligned files."""
        return (self.source,) if isinstance(self.source, str) else self.source or ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The files of the target side, where the text is given as aligned files."""
        return (self.target,) if isinstance(self.target, str) else self.target or ()

    @property
    def layout(self) -> str:
        """How the text is stored: its format, by default that of the extension, or `hub` or `builtin`.

        UserError where the extension does not tell.
        """
        if self.kind == "aligned":
            return self.format or "lines"
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
            f"add format: {', '.join(FORMATS['table'][:-1])} or {FORMATS['table'][-1]}"
        )

    def settings(self) -> dict[str, Any]:
        """What determines the text beside the content of its files; the names of files are left out."""
        names = {"source", "target", "file", "hub"}
        return {**self.model_dump(mode="json", exclude=names), "format": self.layout}

    @model_validator(mode="after")
    def _consistent(self) -> TextSpec:
        given = [key for keys in PLACES.values() for key in keys if getattr(self, key) is not None]
        kinds = {kind for kind, keys in PLACES.items() if set(keys) & set(given)}
        if len(kinds) > 1:
            raise ValueError(f"{' and '.join(given)} are given: a text is {_WAYS}")
        if len(given) == 1 and kinds == {"aligned"}:
            raise ValueError(f"{given[0]} is given without {'target' if given[0] == 'source' else 'source'}")
        if self.kind is not None:
            for key, owners in BELONGS.items():
                default = type(self).model_fields[key].get_default(call_default_factory=True)
                if getattr(self, key) != default and self.kind not in owners:
                    owner = " or ".join(_named(kind) for kind in owners)
                    raise ValueError(f"{key} belongs to a text given as {owner}, not as {_named(self.kind)}")
        if self.kind in ("table", "hub") and not (self.source_column and self.target_column):
            raise ValueError(f"{_named(self.kind)} needs source_column and target_column")
        if self.source_column and self.source_column == self.target_column:
            raise ValueError(f"source_column and target_column are both '{self.source_column}'")
        if self.kind in FORMATS and self.format and self.format not in FORMATS[self.kind]:
            allowed = ", ".join(FORMATS[self.kind])
            raise ValueError(f"format {self.format} is not for {_named(self.kind)}: {allowed}")
        return self


class Filter(Section):
    """Preparation of a corpus.

    Text is always brought to NFC and freed of ASCII white space at its ends. Case and entities are changed in
    every split. Lengths, ratio and duplicates decide over training rows alone: validation and test sets are
    never filtered, an empty side in them is an error. Lengths are in words, as in Moses' clean-corpus-n.
    """

    min_length: PositiveInt = 1
    """Fewest words on each side."""
    max_length: PositiveInt | None = 175
    """Most words on each side; null for no limit."""
    max_ratio: float | None = Field(default=1.5, ge=1)
    """Largest ratio of the longer to the shorter side; null for no limit."""
    lowercase: bool = False
    """Lower-case both sides."""
    unescape: bool = False
    """Replace HTML entities such as `&quot;` by their characters."""
    deduplicate: bool = False
    """Keep the first of equal pairs only."""

    @model_validator(mode="after")
    def _ordered(self) -> Filter:
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} is larger than max_length {self.max_length}")
        return self


@dataclass(frozen=True)
class Part:
    """A split, resolved: which text, how prepared, and which of its rows."""

    name: str
    role: Role
    """Whose text is read: a `valid` that is held out has the role `train`."""
    text: TextSpec
    known: KnownSet | None
    """The set whose files the text is made of."""
    filter: Filter
    every: int | None = None
    """Each `every`-th of the filtered training rows, counted from 1, is held out for validation."""


class CorpusSpec(Section):
    """A parallel corpus: its languages, its splits, how it is prepared."""

    source_language: str
    """Code of the source language, such as `de`."""
    target_language: str
    """Code of the target language."""
    known: str | None = None
    """A known public set; it fills in whatever is not given below. A text without a place, such as
    `train: {first: 5000}`, is the known one."""
    train: TextSpec | None = None
    """Training text."""
    valid: TextSpec | None = None
    """Validation text; without it, rows of the training text are held out by `every`."""
    tests: dict[str, TextSpec] = Field(default_factory=dict)
    """Test sets by name; where any is given, only those are used."""
    filter: Filter | None = None
    """Preparation; by default the known set's, otherwise the defaults of its settings."""
    every: int | None = Field(default=None, ge=2)
    """Without a validation text each n-th pair (1-based) of the filtered training text is held out."""

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        return self.source_language, self.target_language

    def splits(self) -> tuple[str, ...]:
        """The names of the splits: `train` and `valid` where they exist, then the tests."""
        known = tuple(self._known.texts) if self._known else ()
        train = self.train is not None or "train" in known
        valid = self.valid is not None or self._every is not None or "valid" in known
        tests = tuple(self.tests) or tuple(name for name in known if name not in ("train", "valid"))
        return ("train",) * train + ("valid",) * valid + tests

    def part(self, split: str, directory: str | None = None) -> Part:
        """A split, resolved; files of a known set are looked for under `directory`, by default AUGURY_DATA.

        UserError where the corpus has no such split or the known set is not there.
        """
        if split == "valid" and split not in self.splits():
            raise UserError("the corpus has no valid: give valid, or every to hold out training pairs")
        if split not in self.splits():
            raise unknown("split", split, self.splits())
        prepared = self.filter or Filter.model_validate(self._known.filter if self._known else {})
        if split == "train" or (split == "valid" and self._every):
            return Part(split, "train", *self._text("train", self.train, directory), prepared, self._every)
        if split == "valid":
            return Part(split, "valid", *self._text(split, self.valid, directory), prepared)
        return Part(split, "test", *self._text(split, self.tests.get(split), directory), prepared)

    @property
    def _known(self) -> KnownSet | None:
        return KNOWN[self.known] if self.known else None

    @property
    def _every(self) -> int | None:
        """How rows are held out; None where there is a validation text."""
        if self.valid is not None:
            return None
        return self.every or (self._known.every if self._known else None)

    def _text(self, split: str, given: TextSpec | None, directory: str | None) -> tuple[TextSpec, KnownSet | None]:
        """A text with its place, and the known set that it was found in."""
        if given is not None and given.kind is not None:
            return given, None
        assert self._known is not None
        settings = locate(self._known, split, self.languages, directory)
        changed = given.model_dump(exclude_defaults=True) if given else {}
        return TextSpec.model_validate({**settings, **changed}), self._known

    @field_validator("known")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None and name not in KNOWN:
            raise ValueError(str(unknown("known corpus", name, KNOWN)))
        return name

    @model_validator(mode="after")
    def _complete(self) -> CorpusSpec:
        known = self._known
        if known is not None:
            check_languages(known, self.languages)
        for name, text in {"train": self.train, "valid": self.valid, **self.tests}.items():
            if text is None or text.kind is not None:
                continue
            if known is None:
                raise ValueError(f"{name} has no text: give {_WAYS}; or give known")
            if name not in known.texts:
                raise ValueError(f"{name}: {unknown(f'split of {known.name}', name, known.texts)}")
        if known is None and self.train is None and self.valid is None and not self.tests:
            raise ValueError("the corpus has no text: give known, or train, valid and tests")
        if self.every is not None and (self.valid is not None or "train" not in self.splits()):
            raise ValueError("every holds out training pairs for validation: it needs train, and no valid")
        for name in self.tests:
            if name in ("train", "valid") or not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
                raise ValueError(
                    f"'{name}' cannot name a test: use letters, digits, '_', '.' and '-', and neither train nor valid"
                )
        return self


def _named(kind: str) -> str:
    return {"aligned": "source and target", "table": "file"}.get(kind, kind)
