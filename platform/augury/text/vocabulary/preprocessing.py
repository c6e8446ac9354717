"""Preprocessing of text for subword models: Moses tokenisation and inline casing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from augury.corpora.languages import base_language
from augury.text.vocabulary import casing

Tokenise = Literal["none", "moses"]
Casing = Literal["none", "inline"]
TARGET = "target"


@dataclass(frozen=True)
class Preprocessor:
    """Encodes text before it is segmented into subwords, and decodes the output of a model."""

    tokenise: Tokenise = "none"
    """`moses`: Moses tokenisation for the language, inverted by detokenisation, which does not
    preserve all spaces."""
    casing: Casing = "none"
    """`inline`: lossless encoding of case by markers."""
    source_language: str = ""
    target_language: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols that must not be split into pieces."""
        return casing.SYMBOLS if self.casing == "inline" else ()

    @property
    def is_identity(self) -> bool:
        """Whether text is unchanged."""
        return self.tokenise == "none" and self.casing == "none"

    def encode(self, texts: Sequence[str], view: str) -> Sequence[str]:
        """Preprocess the texts of a view; all views except `target` are in the source language."""
        if self.tokenise == "moses":
            tokenize = _tokenizer(self.target_language if view == TARGET else self.source_language)
            texts = [tokenize(text) for text in texts]
        return [casing.encode(text) for text in texts] if self.casing == "inline" else texts

    def decode(self, texts: Sequence[str]) -> Sequence[str]:
        """Invert `encode` for texts in the target language."""
        if self.casing == "inline":
            texts = [casing.decode(text) for text in texts]
        if self.tokenise == "moses":
            detokenize = _detokenizer(self.target_language)
            texts = [detokenize(text) for text in texts]
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
    """Return the language code of Moses' rules."""
    return base_language(language)
