"""NLI corpora: their settings."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from augury.core.config import FileName
from augury.core.errors import nearest, unknown
from augury.corpora.corpus import NLI, NO_GOLD, Kind, Label, NoGold
from augury.corpora.known import KNOWN_NLI
from augury.corpora.languages import SEVERAL, LanguageCode
from augury.corpora.splits import LanguageSpec, Share
from augury.corpora.text_settings import BaseText, Generated, Role, text_keys
from toy_languages import NLI_LANGUAGES, NLI_LEXICON


class NliText(BaseText):
    """An NLI text, from a table, a Hugging Face dataset (`xnli`, `multi_nli`, `snli`) or the
    built-in corpus."""

    format: Literal["tsv", "csv", "jsonl", "parquet"] | None = None
    """Format of the table; by default that of the file extension."""
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
    labels: Annotated[dict[str, Label | NoGold], BeforeValidator(text_keys)] = Field(
        default_factory=dict
    )
    """Maps label names or numbers of the text to labels, or to `-` for no gold label (such rows are
    removed). The standard names (`entailment`, `e`, `contradictory`, `-`) and the classes of
    Hugging Face datasets are known."""
    subset: PositiveInt | None = None
    """Size of a stratified random subset of training text, drawn after filtering; smaller subsets
    with the same seed are contained in larger ones."""
    subset_seed: int = 1
    """Seed of the subset."""

    APPLIES_TO: ClassVar = {
        **BaseText.APPLIES_TO,
        "language_column": ("table", "hub"),
        "labels": ("table", "hub"),
    }
    COLUMNS: ClassVar = NLI.read
    ALTERNATIVES: ClassVar = "file, or hub, or builtin"

    def columns(self) -> dict[str, str]:
        return super().columns() | (
            {"language": self.language_column} if self.language_column else {}
        )

    @property
    def renamed(self) -> dict[str, str | None]:
        return {name: None if label == NO_GOLD else label for name, label in self.labels.items()}

    @property
    def drawn(self) -> tuple[int, int] | None:
        return (self.subset, self.subset_seed) if self.subset else None

    def generated(self, role: Role, languages: tuple[str, ...]) -> Generated:
        from augury.corpora import builtin_nli  # imports the grammars

        return builtin_nli.generated(self, role, languages[0])

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "lexicon": self.lexicon or NLI_LEXICON}

    @model_validator(mode="after")
    def _three_columns(self) -> NliText:
        columns = list(self.columns().values())
        if len(set(columns)) < len(columns):
            raise ValueError(
                f"the columns of premise, hypothesis and label are {', '.join(columns)}: they "
                "must differ"
            )
        if self.language and self.language_column:
            raise ValueError(
                f"language: {self.language} is that of all rows: remove it, or language_column"
            )
        return self


class NamedNliText(NliText):
    """One of several training texts, such as translations of one text."""

    name: FileName
    """Name in records and tables."""


class NliSpec(LanguageSpec):
    """An NLI corpus."""

    language: LanguageCode
    """Language code of training and validation text, such as `en`."""
    known: str | tuple[str, ...] | None = None
    """One or more known public data sets. Each of train, valid and tests that is not given below
    comes from the first set that has it, and so does a text without a source, such as `train:
    {subset: 20000}`."""
    train: NliText | tuple[NamedNliText, ...] | None = None
    """Training text, or a list of texts with names, which are filtered separately and read
    together: one per language for translate-train-all."""
    valid: NliText | None = None
    """Validation text."""
    tests: dict[str, NliText] = Field(default_factory=dict)
    """Test sets by name; if any are given, those of known sets are not used."""

    TEXT: ClassVar = NliText
    KIND: ClassVar[Kind] = NLI
    KNOWN: ClassVar = KNOWN_NLI

    def language_of(self, split: str) -> str:
        """Return the language of a split; `mul` for one in several."""
        if split == "train" and self.mixture:
            languages = {spec.language_of(split) for spec in self.mixture.values()}
            return languages.pop() if len(languages) == 1 else SEVERAL
        text, known = self._text_setting(split), self._known_set(split)
        if isinstance(text, NliText) and text.language_column:
            return SEVERAL
        own = (
            known.texts[split].get("language")
            if known and (text is None or text.kind is None)
            else None
        )
        return (text.language if isinstance(text, NliText) else None) or own or self.language

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language_of(split),)

    @property
    def mixture(self) -> dict[str, NliSpec]:
        if not isinstance(self.train, tuple):
            return {}
        content = self.model_dump(
            mode="json", exclude_unset=True, include={"language", "known", "filter"}
        )
        texts = [
            text.model_dump(mode="json", exclude_unset=True, exclude={"name"})
            for text in self.train
        ]
        return {
            text.name: self.model_validate(
                content | {"language": text.language or self.language, "train": settings}
            )
            for text, settings in zip(self.train, texts, strict=True)
        }

    @property
    def shares(self) -> dict[str, Share]:
        return {name: Share() for name in self.mixture} or super().shares

    @model_validator(mode="after")
    def _named(self) -> NliSpec:
        if isinstance(self.train, tuple):
            names = [text.name for text in self.train]
            if not names or len(set(names)) < len(names):
                raise ValueError("train is a list of texts: give at least one, with distinct names")
        return self

    @model_validator(mode="after")
    def _possible(self) -> NliSpec:
        for split in self.splits():
            if split == "train" and self.mixture:  # each text is checked by its own corpus
                continue
            text, language = self._text_setting(split), self.language_of(split)
            if isinstance(text, NliText) and text.subset and split != "train":
                raise ValueError(f"{split}: subset is for training text only: use first")
            if text is not None and text.builtin and language not in NLI_LANGUAGES:
                wrong = unknown("language of the built-in NLI corpus", language, NLI_LANGUAGES)
                raise ValueError(f"{split}: {wrong}")
            if text is None or text.kind is None:
                known = self._known_set(split)
                assert known is not None
                if "language" not in known.texts[split] and self.language not in known.languages:
                    raise ValueError(
                        f"{known.name} has no {split} in '{self.language}': "
                        f"{nearest(self.language, known.languages)}"
                    )
        return self
