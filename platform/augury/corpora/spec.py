"""Settings of a corpus: its languages, texts by split, and preparation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from augury.core.config import FileName, Section
from augury.core.errors import UserError, unknown
from augury.corpora.corpus import LABELLED, LABELLED_PAIRS, MONOLINGUAL, NLI, PARALLEL, Kind
from augury.corpora.filters import Cleaning
from augury.corpora.known import SETS, KnownSet, check_languages, locate
from augury.corpora.languages import SEVERAL, LanguageCode
from augury.corpora.text_settings import Labels, Role, SourceNoise, Text, text_of

RESERVED = ("train", "valid", "mean")  # "mean" is the mean over test sets
ONLY = {"noise": "tests", "validation": "tests", "subset": "train"}
"""The texts that a setting is for, where it is not for all."""
MONOLINGUAL_NAME = "monolingual"
"""The split of monolingual text, which keeps its ids distinct from those of training text."""


def text_key(split: str) -> str:
    """Return the key of the text of a split: `train`, `valid` or `tests.NAME`."""
    name = split.partition(" ")[0]  # of several validation texts, `valid NAME`
    return name if name in ("train", "valid") else f"tests.{name}"


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


class BaseSpec(Section):
    """A corpus; a subclass names its kind, `class MySpec(BaseSpec, kind=MINE)`, from which it gets
    the settings of its languages, labels and texts."""

    known: str | tuple[str, ...] | None = None
    """One or more known public data sets. Each of train, valid and tests that is not given below
    comes from the first set that has it, and so does what a text without an origin leaves open,
    such as `train: {first: 5000}`."""
    train: Text | tuple[Text, ...] | None = None
    """Training text, or a list of texts with names, which are filtered separately and read
    together."""
    valid: Text | tuple[Text, ...] | None = None
    """Validation text; without it, training rows are held out (`every`). Of a list of named texts,
    one controls training (`decides`), and the others are only scored."""
    decides: str | None = None
    """The validation text that controls early stopping and the selection of checkpoints.

    By default the first.
    """
    tests: dict[FileName, Text] = Field(default_factory=dict)
    """Test sets by name; if any are given, those of known sets are not used."""
    filter: Cleaning | None = None
    """Preparation; by default that of the first known set, or else the default settings."""
    every: int | None = Field(default=None, ge=2)
    """Hold out every n-th row (counted from 1) of the filtered training text for validation."""

    KIND: ClassVar[Kind]
    TEXT: ClassVar[type[Text]]

    def __init_subclass__(cls, kind: Kind | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is None:  # that of its base
            return
        text: Any = text_of(kind, cls.__module__, f"{cls.__qualname__}.TEXT")
        cls.KIND, cls.TEXT = kind, text
        fields: dict[str, Any] = {"tests": dict[FileName, text]}
        fields |= dict.fromkeys(("train", "valid"), text | tuple[text, ...] | None)
        defaults: dict[str, Any] = {"train": None, "valid": None}
        defaults["tests"] = Field(default_factory=dict)
        for name in kind.languages:
            described = f"Code of the {name.replace('_', ' ')}, such as `de`."
            fields[name], defaults[name] = LanguageCode, Field(description=described)
        if kind.is_labelled and not kind.aliases:
            described = "All labels, in the order of the model's classes."
            fields["labels"] = Labels
            defaults["labels"] = Field(min_length=2, description=described)
        # Before Pydantic collects the fields of the class.
        cls.__annotations__ = {**fields, **cls.__dict__.get("__annotations__", {})}
        for name, default in defaults.items():
            setattr(cls, name, default)

    def __hash__(self) -> int:
        return hash(self.content)

    @cached_property
    def content(self) -> str:
        """The settings in JSON, by which corpora and addresses are cached."""
        return self.model_dump_json()

    @property
    def languages(self) -> tuple[str, ...]:
        """Source and target language, or the language."""
        return tuple(getattr(self, name) for name in self.KIND.languages)

    def language_codes(self) -> dict[str, str]:
        """Return the languages by `source` and `target`, or `language`."""
        names = (name.removesuffix("_language") for name in self.KIND.languages)
        return dict(zip(names, self.languages, strict=True))

    def languages_of(self, split: str) -> tuple[str, ...]:
        """Return the languages of the records of a split."""
        if len(self.languages) > 1:
            return self.languages
        if split == "train" and self.mixture:
            languages = {spec.languages_of(split) for spec in self.mixture.values()}
            return languages.pop() if len(languages) == 1 else (SEVERAL,)
        split = self._origin(split)
        text, known = self._text_setting(split), self._known_text(split)
        if text is not None and "language" in text.columns:
            return (SEVERAL,)
        own = known.texts[self._in_known(split)].get("language") if known else None
        return ((text.language if text else None) or own or self.languages[0],)

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits: `train` and `valid` if they exist, then the tests."""
        train = self.train is not None or self._known_set("train") is not None
        valid = bool(self.valid or self.held_out or self._known_set("valid"))
        known_tests = (known.tests for known in self._known_sets if known.tests)
        tests = tuple(self.tests) or next(known_tests, ())
        return ("train",) * train + ("valid",) * valid + self.dev_sets + tests

    @property
    def mixture(self) -> dict[str, BaseSpec]:
        """The corpora of several training texts, by name; empty for a single text."""
        if not isinstance(self.train, tuple):
            return {}
        content = self.model_dump(mode="json", exclude_unset=True)
        specs = {}
        for text in self.train:
            alone = text.model_dump(mode="json", exclude_unset=True, exclude={"name", "weight"})
            own = {"language": text.language} if text.language else {}
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
    def held_out(self) -> int | None:
        """n if every n-th training row is held out for validation, else None."""
        if self.valid is not None:
            return None
        return self.every or next((known.every for known in self._known_sets if known.every), None)

    @property
    def preparation(self) -> Cleaning:
        """The cleaning and filtering of the text."""
        known = self._known_sets[0].filter if self._known_sets else {}
        return self.filter or Cleaning.model_validate({**self.KIND.limits, **known})

    def tag(self, split: str) -> str | None:
        """Return the tag to prepend to the sources of a validation or test set."""
        text = self._text_setting(self._origin("valid" if self.is_validation(split) else split))
        return text.tag if text else None

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
        origin = self._origin(split)
        role: Role = "train" if origin == "train" else "test"
        if origin in ("valid", *self.dev_sets):
            role = "valid"
        text, known = self._text_setting(origin), self._known_text(origin)
        if known:
            overrides = text.model_dump(exclude_defaults=True) if text else {}
            codes = self.language_codes()
            if overrides.get("reversed"):
                codes = {"source": codes["target"], "target": codes["source"]}
            settings = locate(known, self._in_known(origin), codes)
            text = self.TEXT.model_validate({**settings, **overrides})
        assert text is not None
        if split != origin:  # held out of the whole text
            text = text.model_copy(update={"subset": None})
        every = self.held_out if role == "train" else None
        name = split if self.KIND.target else MONOLINGUAL_NAME
        languages = self.languages_of(split)
        return ResolvedSplit(name, role, languages, text, known, self.preparation, every)

    @property
    def _known_sets(self) -> tuple[KnownSet, ...]:
        """The known sets in order of precedence."""
        names = (self.known,) if isinstance(self.known, str) else self.known or ()
        return tuple(SETS[self.KIND.name][name] for name in names)

    def _known_set(self, split: str) -> KnownSet | None:
        """Return the first known set that has a split."""
        name = self._in_known(split)
        return next((known for known in self._known_sets if name in known.texts), None)

    def _in_known(self, split: str) -> str:
        """Return the split of a known set that a split is from: all validation sets are."""
        return "valid" if split in self.dev_sets else split

    def _origin(self, split: str) -> str:
        """Return the split whose text a split is part of: `train` for a held-out `valid`."""
        return "train" if split == "valid" and self.held_out else split

    def _known_text(self, split: str) -> KnownSet | None:
        """Return the known set that the text of a split is from; None if it is from elsewhere."""
        text = self._text_setting(split)
        return self._known_set(split) if text is None or text.origin is None else None

    @property
    def _deciding(self) -> Text | None:
        if not isinstance(self.valid, tuple):
            return self.valid
        return next(text for text in self.valid if self.decides in (None, text.name))

    def _text_setting(self, split: str) -> Text | None:
        """Return the text of a split in the settings; None if it is that of a known set, or for
        several training texts."""
        if split == "train":
            return None if isinstance(self.train, tuple) else self.train
        if isinstance(self.valid, tuple) and split.startswith("valid "):
            return next(text for text in self.valid if split == f"valid {text.name}")
        return self._deciding if split == "valid" else self.tests.get(split)

    @field_validator("filter", mode="before")
    @classmethod
    def _with_limits(cls, settings: Any) -> Any:
        """Return the settings of the filter with the defaults of the kind."""
        return {**cls.KIND.limits, **settings} if isinstance(settings, Mapping) else settings

    @field_validator("known")
    @classmethod
    def _is_known(cls, names: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        sets = SETS.get(cls.KIND.name, {})
        for name in (names,) if isinstance(names, str) else names or ():
            if name not in sets:
                raise unknown("known corpus", name, sets)
        return names

    @model_validator(mode="after")
    def _complete(self) -> BaseSpec:
        if isinstance(self.train, tuple) and self.held_out:
            raise UserError("every does not support several training texts: give valid")
        names = [str(text.name) for text in self.valid] if isinstance(self.valid, tuple) else []
        if self.decides is not None and self.decides not in names:
            raise unknown("validation text in decides", self.decides, names)
        if not self.splits():
            raise UserError("the corpus has no text: give known, or train, valid and tests")
        if self.every is not None and (self.valid is not None or "train" not in self.splits()):
            raise UserError(
                "every holds out training rows for validation: give train, and remove valid"
            )
        if not self.KIND.target and self.splits() != ("train",):
            raise UserError(
                f"{self.KIND.name} text has no validation or test sets: give train only"
            )
        for key, value in {"train": self.train, "valid": self.valid, **self.tests}.items():
            if isinstance(value, tuple):
                names = [text.name for text in value if text.name]
                if not names or len(set(names)) < len(value):
                    raise UserError(
                        f"{key} is a list of texts: give at least one, each with a distinct name"
                    )
                for index, text in enumerate(value):
                    self._check_text(f"{key}.{index}", text)
            elif value is not None:
                if value.name or value.weight != 1:
                    raise UserError(
                        f"{key} is a single text: name and weight are for a list; remove them"
                    )
                self._check_text(key, value)
        for name in set(self.tests) & {*RESERVED}:
            raise UserError(f"'{name}' is the name of no test set: call it otherwise")
        for split in self.splits():
            known = None if split == "train" and self.mixture else self._known_text(split)
            if known and "language" not in known.texts[self._in_known(split)]:
                check_languages(known, self.languages)
        return self

    def _check_text(self, name: str, text: Text) -> None:
        split = name if name in self.tests else name.partition(".")[0]
        for setting, place in ONLY.items():
            if getattr(text, setting) and place != ("tests" if name in self.tests else split):
                raise UserError(f"{name}.{setting}: only {place} can have it; remove it")
        if text.validation:
            if text != self.TEXT(validation=True):
                raise UserError(
                    f"{name}.validation: a test set that is the validation text has no other "
                    "settings: remove them"
                )
        elif text.origin is None and not self._known_sets:
            raise UserError(f"{name} has no text: give {text.origins()}; or give known")
        elif text.origin is None and self._known_set(split) is None:
            sets = " and ".join(known.name for known in self._known_sets)
            available = [split for known in self._known_sets for split in known.texts]
            raise UserError(f"{name}: {unknown(f'split of {sets}', name, available)}")


def _share(text: Text | None) -> Share:
    return Share(weight=text.weight, tag=text.tag) if text else Share()


class CorpusSpec(BaseSpec, kind=PARALLEL):
    """A parallel corpus."""


class NliSpec(BaseSpec, kind=NLI):
    """An NLI corpus; several training texts may be in several languages, for
    translate-train-all."""


class LabelledSpec(BaseSpec, kind=LABELLED):
    """A corpus of sentences with one label each."""

    form: Literal["sentences"] = "sentences"


class LabelledPairsSpec(BaseSpec, kind=LABELLED_PAIRS):
    """A corpus of pairs of sentences with one label each."""

    form: Literal["pairs"] = "pairs"


class MonolingualSpec(BaseSpec, kind=MONOLINGUAL):
    """A monolingual corpus with a single split."""


def swapped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a parallel corpus with source and target swapped in every split.

    For a known set, this is its text for the opposite direction.
    """
    languages = {
        "source_language": settings["target_language"],
        "target_language": settings["source_language"],
    }
    texts = {
        split: _swapped_text(settings[split]) for split in ("train", "valid") if settings.get(split)
    }
    tests = {name: _swapped_text(text) for name, text in (settings.get("tests") or {}).items()}
    return {**settings, **languages, **texts, **({"tests": tests} if tests else {})}


def _swapped_text(text: Any) -> Any:
    if not isinstance(text, Mapping):
        return [_swapped_text(part) for part in text]
    if not {"source", "file", "hub", "builtin"} & text.keys():  # of a known set
        return text
    return {**text, "reversed": not text.get("reversed", False)}
