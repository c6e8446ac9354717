"""The form in which a subword model reads and writes text: as it is, as tokens of Moses, with case as markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from augury.text import casing

Tokenise = Literal["none", "moses"]
Casing = Literal["none", "inline"]
TARGET = "target"


@dataclass(frozen=True)
class TextForm:
    """How text is written for a subword model, and how what a model writes is read."""

    tokenise: Tokenise = "none"
    """`moses`: tokens are split as by the tokenizer of Moses for the language, and joined as by its detokenizer, which
    gives back what people write but not every space."""
    casing: Casing = "none"
    """`inline`: case as markers, without loss."""
    source_language: str = ""
    target_language: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that are one piece each."""
        return casing.SYMBOLS if self.casing == "inline" else ()

    @property
    def plain(self) -> bool:
        """Whether text is read and written as it is."""
        return self.tokenise == "none" and self.casing == "none"

    def written(self, texts: Sequence[str], view: str) -> Sequence[str]:
        """Return the texts of a view in this form; all views but the target are in the language of the source."""
        if self.tokenise == "moses":
            tokenised = _tokenizer(self.target_language if view == TARGET else self.source_language)
            texts = [tokenised(text) for text in texts]
        return [casing.written(text) for text in texts] if self.casing == "inline" else texts

    def read(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts of the target in this form as people write them."""
        if self.casing == "inline":
            texts = [casing.read(text) for text in texts]
        if self.tokenise == "moses":
            detokenised = _detokenizer(self.target_language)
            texts = [detokenised(text) for text in texts]
        return texts


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=_code(language))
    return lambda text: str(moses.tokenize(text, return_str=True, escape=False))


@cache
def _detokenizer(language: str) -> Callable[[str], str]:
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang=_code(language))
    return lambda text: str(moses.detokenize(text.split(), unescape=False))


def _code(language: str) -> str:
    """Return the code that Moses has its rules by."""
    return language.replace("_", "-").split("-")[0]
