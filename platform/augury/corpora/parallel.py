"""Parallel corpora: their settings and built-in text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from augury.core.config import FileName, FilePath
from augury.core.errors import UserError, unknown
from augury.corpora.corpus import PARALLEL, Kind
from augury.corpora.known import KNOWN, check_languages
from augury.corpora.languages import LanguageCode
from augury.corpora.splits import BaseSpec, Cleaning, Limits, Share
from augury.corpora.text_settings import TABLES, BaseText, Generated, Role, kind_name
from toy_languages import LEXICON, NLI_LANGUAGES, NLI_LEXICON

Paths = FilePath | tuple[FilePath, ...]
BUILTIN_SIDES = ("de", "en")
"""Languages that the sides of the built-in corpus resemble."""


class TextSpec(BaseText):
    """A parallel text, from aligned files, a table, a Hugging Face dataset or the built-in
    corpus."""

    source: Paths | None = None
    """File, or files to concatenate, with one source sentence per line."""
    target: Paths | None = None
    """File or files with the translation of each line of `source`."""
    references: tuple[FilePath, ...] = Field((), exclude_if=lambda files: not files)
    """Of a test set of aligned files: files with further references, one line for each of
    `target`."""
    format: Literal["lines", "wit3", "seg", "tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of a table, by default that of the file extension; or of aligned files, by default
    told by their beginning: `lines`, `wit3` (WIT3 training text, without metadata and tags) or
    `seg` (`<seg>` elements of SGML and XML test sets; one file may have both sides)."""
    source_column: str | None = None
    """Column of the source; dots address nested fields, such as `translation.de`."""
    target_column: str | None = None
    """Column of the target."""
    missing: tuple[str, ...] = ()
    """Placeholders for missing translations.

    Rows with one as source or target are not part of the text.
    """
    replace: dict[str, str] = Field(default_factory=dict)
    """Strings to replace in both sides."""
    reversed: bool = False
    """Whether the text is for the opposite direction: its sides are swapped."""
    tag: str | None = None
    """Tag to prepend to the sources, one of vocabulary.reserved: `<MTNT_s>`."""

    SOURCE_SETTINGS: ClassVar = {"aligned": ("source", "target"), **BaseText.SOURCE_SETTINGS}
    FORMATS: ClassVar = {"aligned": ("lines", "wit3", "seg"), "table": TABLES}
    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "format": ("aligned", "table"),
        "portion": ("aligned", "table", "hub"),
        "portion_seed": ("aligned", "table", "hub"),
        "missing": ("table", "hub"),
    }
    COLUMNS: ClassVar = PARALLEL.read
    ALTERNATIVES: ClassVar = "source and target, or file, or hub, or builtin"

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of the source side of aligned files."""
        return (self.source,) if isinstance(self.source, str) else self.source or ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The files of the target side of aligned files."""
        return (self.target,) if isinstance(self.target, str) else self.target or ()

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        return self.sources, self.targets

    @property
    def placeholders(self) -> tuple[str, ...]:
        return self.missing

    @property
    def replaced(self) -> dict[str, str]:
        return self.replace

    @property
    def swapped(self) -> bool:
        return self.reversed

    @property
    def layout(self) -> str:
        return self.format or "lines" if self.kind == "aligned" else super().layout

    def files(self) -> tuple[str, ...]:
        return self.sources + self.targets + self.references or super().files()

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        return generated_pairs(self, role, languages)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "lexicon": self.lexicon or LEXICON}

    @model_validator(mode="after")
    def _two_sides(self) -> TextSpec:
        if (self.source is None) != (self.target is None):
            side, other = ("source", "target") if self.target is None else ("target", "source")
            raise ValueError(f"{side} is given without {other}: give both")
        if self.references and (self.kind != "aligned" or self.layout != "lines" or self.reversed):
            raise ValueError(
                "references are files of lines beside those of source and target: give both, or "
                "remove references"
            )
        if self.kind in ("table", "hub") and not (self.source_column and self.target_column):
            raise ValueError(
                f"{kind_name(self.kind)} needs source_column and target_column: give both"
            )
        if self.source_column and self.source_column == self.target_column:
            raise ValueError(
                f"source_column and target_column are both '{self.source_column}': they must differ"
            )
        return self


class NamedText(TextSpec):
    """One of several texts, identified by its name."""

    name: FileName
    """Name in records, curves and tables."""


class MixedText(NamedText):
    """One of several training texts."""

    weight: float = Field(1.0, ge=0)
    """How often each row is read per epoch: 2 is twice, 0.25 once in four epochs, and 0 never, if
    only records derived from the text are to be read."""


class Filter(Cleaning):
    """Preparation of a parallel corpus.

    All text is normalised to NFC and stripped of ASCII white space. Case and entities are changed
    in every split. Lengths, ratio and duplicates filter training rows only: validation and test
    sets are never filtered, and empty sides in them are errors. Lengths are in words, and the
    default ratio is that of Moses' clean-corpus-n.
    """

    min_length: PositiveInt = 1
    """Minimum number of words on each side."""
    max_length: PositiveInt | None = 175
    """Maximum number of words on each side; null for no limit."""
    max_ratio: float | None = Field(default=9, ge=1)
    """Maximum ratio of the longer to the shorter side, in characters for pairs with a script
    without spaces (Chinese, Thai); null for no limit."""

    @property
    def limits(self) -> Limits:
        return Limits(self.min_length, self.max_length, self.max_ratio)

    @model_validator(mode="after")
    def _ordered(self) -> Filter:
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(
                f"min_length {self.min_length} is larger than max_length {self.max_length}: lower "
                "it"
            )
        return self


class CorpusSpec(BaseSpec):
    """A parallel corpus."""

    source_language: LanguageCode
    """Code of the source language, such as `de`."""
    target_language: LanguageCode
    """Code of the target language."""
    known: str | None = None
    """A known public data set, which provides all that is not given below, including the source of
    texts without one, such as `train: {first: 5000}`."""
    train: TextSpec | tuple[MixedText, ...] | None = None
    """Training text, or a list of texts with names and weights, which are filtered separately."""
    valid: TextSpec | tuple[NamedText, ...] | None = None
    """Validation text; without it, training pairs are held out (`every`). Of a list of named texts,
    one controls training (`decides`), and the others are only scored."""
    decides: str | None = None
    """The validation text that controls early stopping and the selection of checkpoints.

    By default the first.
    """
    tests: dict[str, TextSpec] = Field(default_factory=dict)
    """Test sets by name; if any are given, those of the known set are not used."""
    filter: Filter | None = None
    """Preparation; by default that of the known set, or else the default settings."""
    every: int | None = Field(default=None, ge=2)
    """Hold out every n-th pair (counted from 1) of the filtered training text for validation."""

    TEXT: ClassVar = TextSpec
    FILTER: ClassVar = Filter
    KIND: ClassVar[Kind] = PARALLEL
    KNOWN: ClassVar = KNOWN

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        return self.source_language, self.target_language

    def languages_of(self, split: str) -> tuple[str, ...]:
        return self.languages

    def language_codes(self) -> dict[str, str]:
        return {"source": self.source_language, "target": self.target_language}

    @property
    def mixture(self) -> dict[str, CorpusSpec]:
        if not isinstance(self.train, tuple):
            return {}
        content = self.model_dump(mode="json", exclude_unset=True)
        texts = [
            text.model_dump(mode="json", exclude_unset=True, exclude={"name", "weight"})
            for text in self.train
        ]
        return {
            text.name: self.model_validate({**content, "train": settings})
            for text, settings in zip(self.train, texts, strict=True)
        }

    @property
    def shares(self) -> dict[str, Share]:
        if isinstance(self.train, tuple):
            return {text.name: Share(weight=text.weight, tag=text.tag) for text in self.train}
        return {"train": Share(tag=self.train.tag if self.train else None)}

    @property
    def dev_sets(self) -> tuple[str, ...]:
        if not isinstance(self.valid, tuple):
            return ()
        return tuple(f"valid {text.name}" for text in self.valid if text is not self._deciding)

    @property
    def deciding(self) -> str | None:
        """The name of the validation text that controls training, if there are several."""
        return self._deciding.name if isinstance(self._deciding, NamedText) else None

    def tag(self, split: str) -> str | None:
        text = self._text_setting("valid" if self.is_validation(split) else split)
        return text.tag if isinstance(text, TextSpec) else None

    @property
    def _deciding(self) -> TextSpec | None:
        if not isinstance(self.valid, tuple):
            return self.valid
        return next(text for text in self.valid if self.decides in (None, text.name))

    def _text_setting(self, split: str) -> BaseText | None:
        if split == "valid":
            return self._deciding
        if isinstance(self.valid, tuple) and split.startswith("valid "):
            return next(text for text in self.valid if split == f"valid {text.name}")
        return super()._text_setting(split)

    def _file_languages(self, text: BaseText | None) -> dict[str, str]:
        if not (isinstance(text, TextSpec) and text.reversed):
            return self.language_codes()
        for known in self._known_sets:
            check_languages(KNOWN[known.name], self.languages[::-1])
        return {"source": self.target_language, "target": self.source_language}

    @property
    def held_out(self) -> int | None:
        if self.valid is not None:
            return None
        return self.every or (KNOWN[self.known].every if self.known else None)

    def _no_valid(self) -> UserError:
        return UserError(
            "the corpus has no validation set: give valid, or every to hold out training pairs"
        )

    @model_validator(mode="after")
    def _named(self) -> CorpusSpec:
        for key, texts in (("train", self.train), ("valid", self.valid)):
            names = [text.name for text in texts] if isinstance(texts, tuple) else []
            if texts == () or len(set(names)) < len(names):
                raise ValueError(
                    f"{key} is a list of texts: give at least one, with distinct names"
                )
        if isinstance(self.train, tuple) and self.held_out:
            raise ValueError("every does not support several training texts: give valid")
        names = [text.name for text in self.valid] if isinstance(self.valid, tuple) else []
        if self.decides is not None and self.decides not in names:
            raise ValueError(str(unknown("validation text in decides", self.decides, names)))
        return self

    @model_validator(mode="after")
    def _possible(self) -> CorpusSpec:
        for name, text in self._text_settings().items():
            assert isinstance(text, TextSpec)
            if text.references and name.partition(".")[0] in ("train", "valid"):
                raise ValueError(f"{name}.references: only tests have several references")
        if self.known is not None:
            check_languages(KNOWN[self.known], self.languages)
        if self.every is not None and (self.valid is not None or "train" not in self.splits()):
            raise ValueError(
                "every holds out training pairs for validation: give train, and remove valid"
            )
        return self


def generated_pairs(text: BaseText, role: Role, languages: tuple[str, ...]) -> Generated:
    """Return built-in pairs: of the NLI languages, or of the German-like and the English-like
    one."""
    assert text.builtin is not None
    size, seed, columns = text.builtin, text.seed, ("source", "target")
    if {*languages} & {*NLI_LANGUAGES}:
        from augury.corpora import builtin_nli  # imports the grammar

        lexicon, both = text.lexicon or NLI_LEXICON, (*languages, *languages)[:2]
        content, note = ["builtin nli", role, str(lexicon)], builtin_nli.NOTE
        pairs = partial(builtin_nli.translations, role, size, both, seed=seed, lexicon=lexicon)
    else:
        from augury.corpora import builtin  # imports the grammar

        content, note = ["builtin", role], builtin.NOTE
        pairs = partial(builtin.generate, role, size, seed=seed, lexicon=text.lexicon or LEXICON)
        german, english = BUILTIN_SIDES
        if languages[:1] == (english,) or languages[1:] == (german,):
            content, columns = [*content, "swapped"], ("target", "source")
    return Generated(
        content, note, columns, lambda: ((pair.source, pair.target) for pair in pairs())
    )


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
