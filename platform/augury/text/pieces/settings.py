"""Settings of vocabularies, without sentencepiece, and the tokenisation before subwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.corpora.languages import base_language

DEFAULT_SIZE = 12_000
Tokenise = Literal["none", "moses"]
TARGET = "target"
Pieces = Annotated[int, Field(ge=1, le=10_000_000)]
SPECIALS = ("<pad>", "<unk>", "</s>")
SPACE = "▁"
"""Symbol for spaces in pieces, as in sentencepiece."""


@dataclass(frozen=True)
class Moses:
    """Moses' tokenisation before text is segmented into subwords, inverted by detokenisation, which
    does not preserve all spaces."""

    source_language: str
    target_language: str

    def encode(self, texts: Sequence[str], view: str) -> Sequence[str]:
        """Tokenise the texts of a view; all views except `target` are in the source language."""
        tokenize = _tokenizer(self.target_language if view == TARGET else self.source_language)
        return [tokenize(text) for text in texts]

    def decode(self, texts: Sequence[str]) -> Sequence[str]:
        """Invert `encode` for texts in the target language."""
        detokenize = _detokenizer(self.target_language)
        return [detokenize(text) for text in texts]


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=base_language(language))
    return lambda text: str(moses.tokenize(text, return_str=True, escape=False))


@cache
def _detokenizer(language: str) -> Callable[[str], str]:
    from sacremoses import MosesDetokenizer

    moses = MosesDetokenizer(lang=base_language(language))
    return lambda text: str(moses.detokenize(text.split(), unescape=False))


class VocabularySettings(Section):
    """Sizes, symbols and preprocessing of a vocabulary."""

    size: Pieces | Literal["auto"] = "auto"
    """Number of entries for the plain bitext, including special symbols and tags; `auto`: 12,000,
    or for small corpora the number of characters and repeated words."""
    size_per_key: Pieces | Literal["auto"] = "auto"
    """Joint mode: number of additional entries per further view; `auto`: in proportion to its
    repeated words that plain text lacks, so that plain text keeps about as many pieces as without
    further views (CipherDAug, per key of a cipher: 4,000)."""
    mode: Literal["joint", "separate", "mirrored"] = "joint"
    """joint: one model for all views; separate: one for the plain bitext and one for each further
    view; mirrored: one for the plain bitext, with its letters replaced for each further view, so
    that views are segmented as plain text."""
    separate_size_per_key: Pieces = 6_500
    """Separate mode: number of pieces of the model of each further view.

    Pieces of other models add no entries.
    """
    character_coverage: float = Field(default=1.0, ge=0.98, le=1.0)
    """Fraction of characters to cover; the rarest others become unknown."""
    max_sentences: PositiveInt | None = Field(None, exclude_if=lambda most: most is None)
    """Maximum number of sentences of each side and view to learn from, evenly spaced; null: all.

    Learning takes about 0.8 GB of memory for a million pairs.
    """
    reserved: tuple[str, ...] = ()
    """Additional symbols that text does not encode to, such as domain tags: `<clean_s>`."""

    tokenise: Tokenise = "none"
    """`moses`: apply Moses tokenisation before segmentation, and detokenise outputs."""

    @property
    def entries(self) -> int:
        """The number of entries for the plain bitext; the default size if it is `auto`."""
        return DEFAULT_SIZE if self.size == "auto" else self.size

    def inactive(self) -> dict[str, str]:
        sizes = {"joint": "size_per_key", "separate": "separate_size_per_key"}
        unused = [size for mode, size in sizes.items() if mode != self.mode]
        return dict.fromkeys(unused, f"the mode of the vocabulary is {self.mode}")

    @field_validator("reserved")
    @classmethod
    def _distinct_words(cls, symbols: tuple[str, ...]) -> tuple[str, ...]:
        for position, symbol in enumerate(symbols):
            # No piece of text is such a word, since pieces are of one script.
            if not re.fullmatch(r"<[^\s▁<>]+>", symbol):
                raise UserError(f"'{symbol}' is no tag: give a word such as '<clean_s>'")
            if symbol in (*SPECIALS, *symbols[:position]):
                raise UserError(f"'{symbol}' already exists: give each symbol once")
        return symbols
