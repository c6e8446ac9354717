"""Base classes of corpus settings: texts by split, their sources and their preparation."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, PositiveInt, create_model, field_validator, model_validator

from augury.core.config import Section
from augury.core.errors import UserError, unknown
from augury.corpora.corpus import Kind
from augury.corpora.known import KnownSet, locate
from augury.corpora.languages import LanguageCode
from augury.corpora.noise import SourceNoise
from augury.corpora.text_settings import BaseText, Role

TEST_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}"
RESERVED = ("train", "valid", "mean")  # "mean" is the mean over test sets


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


class Cleaning(Section):
    """Preparation of a corpus.

    All text is normalised to NFC and stripped of ASCII white space. Case and entities are changed
    in every split. Lengths, ratio and duplicates filter training rows only: validation and test
    sets are never filtered, and empty sentences in them are errors.
    """

    lowercase: bool = False
    """Lower-case every sentence."""
    unescape: bool = False
    """Replace HTML entities such as `&quot;` by their characters."""
    deduplicate: bool = False
    """Remove repeated rows."""
    max_length: PositiveInt | None = None
    """Maximum number of words of a sentence; null for no limit."""

    @property
    def limits(self) -> Limits:
        """The limits on training rows."""
        return Limits(maximum=self.max_length)


@dataclass(frozen=True)
class ResolvedSplit:
    """A split with its text, preparation and selection of rows."""

    name: str
    role: Role
    """Split that the text comes from: `train` for a held-out `valid`."""
    languages: tuple[str, ...]
    """Source and target language, or the single language of other corpora."""
    kind: Kind
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
    FILTER: ClassVar[type[Cleaning]] = Cleaning
    KNOWN: ClassVar[Mapping[str, KnownSet]] = {}
    """Known public sets of this kind."""
    KIND: ClassVar[Kind]
    """The kind of corpora that are read."""

    @cached_property
    def content(self) -> str:
        """The settings in JSON, by which corpora and addresses are cached."""
        return self.model_dump_json()

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
            split,
            role,
            self.languages_of(split),
            self.KIND,
            text,
            known,
            self.preparation,
            every,
        )

    def noise(self, split: str) -> SourceNoise | None:
        """Return the noise of a test set, None without any."""
        text = self._text_setting(split)
        return text.noise if text and text.noise and text.noise.rates else None

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


class LanguageSpec(BaseSpec):
    """A corpus in one language."""

    language: LanguageCode
    """Language code, such as `en`."""
    filter: Cleaning | None = None
    """Preparation; by default that of the first known set, or else the default settings."""

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}


def spec_of(kind: Kind) -> type[LanguageSpec]:
    """Return the settings of corpora of a kind from outside: each text is a table or a dataset with
    a column for each that is read, which the setting `<column>_column` names."""
    columns: dict[str, Any] = {f"{column}_column": (str, column) for column in kind.read}
    name = kind.name.title().replace(" ", "")
    text = create_model(f"{name}Text", __base__=BaseText, **columns)
    text.COLUMNS, text.ALTERNATIVES = kind.read, "file, or hub"
    texts: dict[str, Any] = {"train": (text | None, None), "valid": (text | None, None)}
    spec = create_model(
        f"{name}Spec", __base__=LanguageSpec, **texts, tests=(dict[str, text], Field({}))
    )
    spec.TEXT, spec.KIND = text, kind
    return spec
