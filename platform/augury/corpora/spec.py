"""Settings of a corpus: its languages, texts by split, and preparation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, cast

from pydantic import Field, create_model, field_validator, model_validator

from augury.core.config import Section
from augury.core.errors import UserError, unknown
from augury.corpora.corpus import Kind
from augury.corpora.filters import Cleaning, Filter
from augury.corpora.known import KNOWN, KNOWN_NLI, KnownSet, check_languages, locate
from augury.corpora.languages import SEVERAL, LanguageCode
from augury.corpora.text_settings import (
    BUILTIN_SIDES,
    LabelledText,
    MonolingualText,
    NliText,
    PairText,
    ParallelText,
    Role,
    SourceNoise,
    Text,
)
from toy_languages import NLI_LANGUAGES

TEST_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}"
RESERVED = ("train", "valid", "mean")  # "mean" is the mean over test sets
ONLY = {"references": "tests", "noise": "tests", "validation": "tests", "subset": "train"}
"""The texts that a setting is for, where it is not for all."""
MONOLINGUAL_NAME = "monolingual"
"""The split of monolingual text, which keeps its ids distinct from those of training text."""

T = TypeVar("T", bound=Text)


class Share(Section):
    """The share of a text in training."""

    weight: float = Field(1.0, ge=0)
    """How often each row is read per epoch: 2 is twice, 0.25 once in four epochs, and 0 never, if
    only records derived from the text are to be read."""
    tag: str | None = None
    """Tag to prepend to the sources, one of vocabulary.reserved, such as `<MTNT_s>`."""


@dataclass(frozen=True)
class ResolvedSplit:
    """A split with its text, preparation and selection of rows."""

    name: str
    role: Role
    """Split that the text comes from: `train` for a held-out `valid`."""
    languages: tuple[str, ...]
    """Source and target language, or the single language of other corpora."""
    text: Text
    known: KnownSet | None
    """Known set that the text comes from."""
    filter: Cleaning
    every: int | None = None
    """Every n-th of the filtered training rows, counted from 1, is held out for validation."""

    @property
    def kind(self) -> Kind:
        """The kind of corpus."""
        return self.text.KIND


class BaseSpec(Section, Generic[T]):
    """A corpus of any kind."""

    known: str | tuple[str, ...] | None = None
    """One or more known public data sets. Each of train, valid and tests that is not given below
    comes from the first set that has it, and so does what a text without an origin leaves open,
    such as `train: {first: 5000}`."""
    train: T | tuple[T, ...] | None = None
    """Training text, or a list of texts with names, which are filtered separately and read
    together."""
    valid: T | tuple[T, ...] | None = None
    """Validation text; without it, training rows are held out (`every`). Of a list of named texts,
    one controls training (`decides`), and the others are only scored."""
    decides: str | None = None
    """The validation text that controls early stopping and the selection of checkpoints.

    By default the first.
    """
    tests: dict[str, T] = Field(default_factory=dict)
    """Test sets by name; if any are given, those of known sets are not used."""
    filter: Cleaning | None = None
    """Preparation; by default that of the first known set, or else the default settings."""
    every: int | None = Field(default=None, ge=2)
    """Hold out every n-th row (counted from 1) of the filtered training text for validation."""

    TEXT: ClassVar[type[Text]]
    FILTER: ClassVar[type[Cleaning]] = Cleaning
    KNOWN: ClassVar[Mapping[str, KnownSet]] = {}
    """Known public sets of this kind."""

    @cached_property
    def content(self) -> str:
        """The settings in JSON, by which corpora and addresses are cached."""
        return self.model_dump_json()

    @property
    def languages(self) -> tuple[str, ...]:
        """Source and target language, or the language."""
        return tuple(getattr(self, name) for name in self.TEXT.KIND.languages)

    def language_codes(self) -> dict[str, str]:
        """Return the languages by `source` and `target`, or `language`."""
        names = (name.removesuffix("_language") for name in self.TEXT.KIND.languages)
        return dict(zip(names, self.languages, strict=True))

    def languages_of(self, split: str) -> tuple[str, ...]:
        """Return the languages of the records of a split."""
        return self.languages

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits: `train` and `valid` if they exist, then the tests."""
        train = self.train is not None or self._known_set("train") is not None
        valid = bool(self.valid or self.held_out or self._known_set("valid"))
        known_tests = (known.tests for known in self._known_sets if known.tests)
        tests = tuple(self.tests) or next(known_tests, ())
        return ("train",) * train + ("valid",) * valid + self.dev_sets + tests

    @property
    def mixture(self) -> dict[str, BaseSpec[T]]:
        """The corpora of several training texts, by name; empty for a single text."""
        if not isinstance(self.train, tuple):
            return {}
        content = self.model_dump(mode="json", exclude_unset=True)
        specs = {}
        for text in self.train:
            alone = text.model_dump(mode="json", exclude_unset=True, exclude={"name", "weight"})
            own = {"language": language} if (language := getattr(text, "language", None)) else {}
            specs[str(text.name)] = self.model_validate({**content, **own, "train": alone})
        return specs

    @property
    def shares(self) -> dict[str, Share]:
        """The share of each training text by name; a single text is called `train`."""
        if isinstance(self.train, tuple):
            return {str(text.name): _share(text) for text in self.train}
        return {"train": _share(self.train)}

    @property
    def dev_sets(self) -> tuple[str, ...]:
        """Validation sets that are scored during training in addition to `valid`: `valid
        <name>`."""
        if not isinstance(self.valid, tuple):
            return ()
        return tuple(f"valid {text.name}" for text in self.valid if text is not self._deciding)

    @property
    def deciding(self) -> str | None:
        """The name of the validation text that controls training, if there are several."""
        return self._deciding.name if self._deciding else None

    @property
    def held_out(self) -> int | None:
        """n if every n-th training row is held out for validation, else None."""
        if self.valid is not None:
            return None
        return self.every or next((known.every for known in self._known_sets if known.every), None)

    @property
    def preparation(self) -> Cleaning:
        """The cleaning and filtering of the text."""
        known = self._known_sets[0].filter if self._known_sets else {}
        return self.filter or self.FILTER.model_validate(known)

    def tag(self, split: str) -> str | None:
        """Return the tag to prepend to the sources of a validation or test set."""
        text = self._text_setting("valid" if self.is_validation(split) else split)
        return _share(text).tag

    def noise(self, split: str) -> SourceNoise | None:
        """Return the noise of a test set, None without any."""
        text = self._text_setting(split)
        return text.noise if text and text.noise and text.noise.rates else None

    def is_validation(self, split: str) -> bool:
        """Return whether a test set is the validation text."""
        return split in self.tests and self.tests[split].validation

    def resolve(self, split: str) -> ResolvedSplit:
        """Resolve a split; raise UserError if the corpus has no such one or the files of a known
        set are missing."""
        if split not in self.splits():
            if split == "valid":
                raise UserError(
                    "the corpus has no validation set: give valid, or every to hold out training "
                    "rows"
                )
            raise unknown("split", split, self.splits())
        if self.is_validation(split):
            return self.resolve("valid")
        origin = "train" if split == "valid" and self.held_out else split
        role: Role = "train" if origin == "train" else "test"
        if origin in ("valid", *self.dev_sets):
            role = "valid"
        text: Text | None = self._text_setting(origin)
        known = None
        if text is None or text.origin is None:
            known = self._known_set(origin)
            assert known is not None
            overrides = text.model_dump(exclude_defaults=True) if text else {}
            settings = locate(known, origin, self._file_languages(text))
            text = self.TEXT.model_validate({**settings, **overrides})
        every = self.held_out if role == "train" else None
        languages = self.languages_of(split)
        return ResolvedSplit(split, role, languages, text, known, self.preparation, every)

    @property
    def _known_sets(self) -> tuple[KnownSet, ...]:
        """The known sets in order of precedence."""
        names = (self.known,) if isinstance(self.known, str) else self.known or ()
        return tuple(self.KNOWN[name] for name in names)

    def _known_set(self, split: str) -> KnownSet | None:
        """Return the first known set that has a split."""
        return next((known for known in self._known_sets if split in known.texts), None)

    def _file_languages(self, text: Text | None) -> Mapping[str, str]:
        """Return the language codes for the file names of a text of a known set."""
        return self.language_codes()

    @property
    def _deciding(self) -> T | None:
        if not isinstance(self.valid, tuple):
            return self.valid
        return next(text for text in self.valid if self.decides in (None, text.name))

    def _text_setting(self, split: str) -> T | None:
        """Return the text of a split in the settings; None if it is that of a known set, or for
        several training texts."""
        if split == "train":
            return None if isinstance(self.train, tuple) else self.train
        if isinstance(self.valid, tuple) and split.startswith("valid "):
            return next(text for text in self.valid if split == f"valid {text.name}")
        return self._deciding if split == "valid" else self.tests.get(split)

    def _text_settings(self) -> dict[str, T]:
        """Return all texts in the settings by dotted key."""
        texts: dict[str, T] = {}
        for name, value in {"train": self.train, "valid": self.valid, **self.tests}.items():
            if isinstance(value, tuple):
                texts |= {f"{name}.{index}": text for index, text in enumerate(value)}
            elif value is not None:
                texts[name] = value
        return texts

    @field_validator("known")
    @classmethod
    def _is_known(cls, names: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for name in (names,) if isinstance(names, str) else names or ():
            if name not in cls.KNOWN:
                raise ValueError(str(unknown("known corpus", name, cls.KNOWN)))
        return names

    @model_validator(mode="after")
    def _complete(self) -> BaseSpec[T]:
        for key in ("train", "valid"):
            _check_names(key, getattr(self, key))
        if isinstance(self.train, tuple) and self.held_out:
            raise ValueError("every does not support several training texts: give valid")
        names = [str(text.name) for text in self.valid] if isinstance(self.valid, tuple) else []
        if self.decides is not None and self.decides not in names:
            raise ValueError(str(unknown("validation text in decides", self.decides, names)))
        if not self._known_sets and self.train is None and self.valid is None and not self.tests:
            raise ValueError("the corpus has no text: give known, or train, valid and tests")
        if self.every is not None and (self.valid is not None or "train" not in self.splits()):
            raise ValueError(
                "every holds out training rows for validation: give train, and remove valid"
            )
        for name, text in self._text_settings().items():
            self._check_text(name, text)
        for name in self.tests:
            if name in RESERVED or not re.fullmatch(TEST_NAME, name):
                reserved = f"{', '.join(RESERVED[:-1])} nor {RESERVED[-1]}"
                raise ValueError(
                    f"'{name:.60}' is not a valid test name: use letters, digits, '_', '-' and, "
                    f"not first, '.', at most 100, and neither {reserved}"
                )
        return self

    def _check_text(self, name: str, text: T) -> None:
        split = name.partition(".")[0]
        for setting, place in ONLY.items():
            if getattr(text, setting, None) and place != ("tests" if name in self.tests else split):
                raise ValueError(f"{name}.{setting}: only {place} can have it; remove it")
        if text.validation:
            if text != self.TEXT(validation=True):
                raise ValueError(
                    f"{name}.validation: a test set that is the validation text has no other "
                    "settings: remove them"
                )
            return
        if text.origin is None and not self._known_sets:
            raise ValueError(f"{name} has no text: give {text.origins()}; or give known")
        if text.origin is None and self._known_set(split) is None:
            sets = " and ".join(known.name for known in self._known_sets)
            available = [split for known in self._known_sets for split in known.texts]
            raise ValueError(f"{name}: {unknown(f'split of {sets}', name, available)}")


def _share(text: Text | None) -> Share:
    if text is None:
        return Share()
    return Share(weight=text.weight, tag=getattr(text, "tag", None))


def _check_names(key: str, texts: Text | Sequence[Text] | None) -> None:
    """Raise ValueError unless the texts of a list have distinct names, and a single one has
    none."""
    if isinstance(texts, tuple):
        names = [text.name for text in texts]
        if not names or None in names or len(set(names)) < len(names):
            raise ValueError(
                f"{key} is a list of texts: give at least one, each with a distinct name"
            )
    elif isinstance(texts, Text) and (texts.name or texts.weight != 1):
        raise ValueError(f"{key} is a single text: name and weight are for a list; remove them")


class CorpusSpec(BaseSpec[ParallelText]):
    """A parallel corpus."""

    source_language: LanguageCode
    """Code of the source language, such as `de`."""
    target_language: LanguageCode
    """Code of the target language."""
    filter: Filter | None = None
    """Preparation; by default that of the known set, or else the default settings."""

    TEXT: ClassVar[type[Text]] = ParallelText
    FILTER: ClassVar[type[Cleaning]] = Filter
    KNOWN: ClassVar[Mapping[str, KnownSet]] = KNOWN

    def _file_languages(self, text: Text | None) -> Mapping[str, str]:
        if not (isinstance(text, ParallelText) and text.reversed):
            return self.language_codes()
        for known in self._known_sets:
            check_languages(known, self.languages[::-1])
        return {"source": self.target_language, "target": self.source_language}

    @model_validator(mode="after")
    def _known_pair(self) -> CorpusSpec:
        for known in self._known_sets:
            check_languages(known, self.languages)
        return self


class LanguageSpec(BaseSpec[T], Generic[T]):
    """A corpus in one language."""

    language: LanguageCode
    """Language code, such as `en`; that of training and validation text."""


class NliSpec(LanguageSpec[NliText]):
    """An NLI corpus; several training texts may be in several languages, for
    translate-train-all."""

    TEXT: ClassVar[type[Text]] = NliText
    KNOWN: ClassVar[Mapping[str, KnownSet]] = KNOWN_NLI

    def languages_of(self, split: str) -> tuple[str, ...]:
        if split == "train" and self.mixture:
            languages = {spec.languages_of(split) for spec in self.mixture.values()}
            return languages.pop() if len(languages) == 1 else (SEVERAL,)
        text = self._text_setting(split)
        if text is not None and text.language_column:
            return (SEVERAL,)
        known = self._known_set(split) if text is None or text.origin is None else None
        own = known.texts[split].get("language") if known else None
        return ((text.language if text else None) or own or self.language,)

    @model_validator(mode="after")
    def _possible(self) -> NliSpec:
        for split in self.splits():
            if split == "train" and self.mixture:  # each text is checked by its own corpus
                continue
            text, (language,) = self._text_setting(split), self.languages_of(split)
            if text is not None and text.builtin and language not in NLI_LANGUAGES:
                wrong = unknown("language of the built-in NLI corpus", language, NLI_LANGUAGES)
                raise ValueError(f"{split}: {wrong}")
            known = self._known_set(split)
            is_known = text is None or text.origin is None
            if known and is_known and "language" not in known.texts[split]:
                check_languages(known, (self.language,))
        return self


class _LabelledSpec(LanguageSpec[T], Generic[T]):
    labels: tuple[str, ...] = Field(min_length=2)
    """All labels, in the order of the model's classes."""


class LabelledSpec(_LabelledSpec[LabelledText]):
    """A corpus of sentences with one label each."""

    TEXT: ClassVar[type[Text]] = LabelledText


class LabelledPairsSpec(_LabelledSpec[PairText]):
    """A corpus of pairs of sentences with one label each."""

    TEXT: ClassVar[type[Text]] = PairText


class MonolingualSpec(LanguageSpec[MonolingualText]):
    """A monolingual corpus with a single split."""

    train: MonolingualText
    """The text."""

    TEXT: ClassVar[type[Text]] = MonolingualText

    def resolve(self, split: str) -> ResolvedSplit:
        return replace(super().resolve(split), name=MONOLINGUAL_NAME)

    @model_validator(mode="after")
    def _one_text(self) -> MonolingualSpec:
        if self.splits() != ("train",):
            raise ValueError("monolingual text has no validation or test sets: give train only")
        return self


def spec_of(kind: Kind) -> type[LanguageSpec[Any]]:
    """Return the settings of corpora of a kind from outside: each text is a table or a dataset with
    a column for each that is read, which the setting `<column>_column` names."""
    columns: dict[str, Any] = {f"{column}_column": (str, column) for column in kind.read}
    name = kind.name.title().replace(" ", "")
    text = create_model(f"{name}Text", __base__=Text, **columns)
    text.KIND = kind
    base = cast("Any", LanguageSpec)[text]
    spec = cast("type[LanguageSpec[Any]]", create_model(f"{name}Spec", __base__=base))
    spec.TEXT = text
    return spec


def swapped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a parallel corpus with source and target swapped in every split.

    For a known set, this is its text for the opposite direction. Raises UserError for built-in text
    with other language codes than its own, from which the direction is not evident.
    """
    languages = [settings["target_language"], settings["source_language"]]
    splits = [settings.get("train"), settings.get("valid"), *(settings.get("tests") or {}).values()]
    texts: list[Mapping[str, Any]] = []
    for split in splits:
        texts += [split] if isinstance(split, Mapping) else split or ()
    known = {*languages} & {*BUILTIN_SIDES, *NLI_LANGUAGES}
    if any(text.get("builtin") for text in texts) and not known:
        raise UserError(
            "the built-in text has a German-like and an English-like side, and the codes "
            f"{' and '.join(languages)} do not tell which is which for the opposite direction: "
            f"use {' and '.join(BUILTIN_SIDES)}"
        )
    result = {**settings, "source_language": languages[0], "target_language": languages[1]}
    for split in ("train", "valid"):
        if settings.get(split):
            result[split] = _swapped_text(settings[split])
    if settings.get("tests"):
        result["tests"] = {name: _swapped_text(text) for name, text in settings["tests"].items()}
    return result


def _swapped_text(text: Any) -> Any:
    if not isinstance(text, Mapping):
        return [_swapped_text(part) for part in text]
    names = {"source": "target", "target": "source"}
    names |= {f"{side}_column": f"{other}_column" for side, other in names.items()}
    return {names.get(key, key): value for key, value in text.items()}
