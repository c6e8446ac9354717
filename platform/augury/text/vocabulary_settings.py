"""What an experiment says of its vocabulary; reading it loads no subword model."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, field_validator

from augury.core.config import Section
from augury.text.text_form import Casing, TextForm, Tokenise

USUAL_SIZE = 12_000
SPECIALS = ("<pad>", "<unk>", "</s>")
SPACE = "▁"
"""What stands for a space in pieces, as in sentencepiece."""


class VocabularyConfig(Section):
    """The number of pieces, and the symbols in the same table."""

    size: PositiveInt | Literal["auto"] = "auto"
    """Entries for the plain bitext, special symbols and tags included; `auto`: 12,000, or of little text one for
    every character and every word that comes twice."""
    size_per_key: PositiveInt | Literal["auto"] = "auto"
    """Joint mode: entries added for every enciphered view; `auto`: as many as leave plain text in as many pieces as
    without enciphered views, so that systems differ in the method alone (the paper: 4,000)."""
    mode: Literal["joint", "separate"] = "joint"
    """One model for all views, or one for the plain bitext and one for every enciphered view."""
    separate_size_per_key: PositiveInt = 6_500
    """Separate mode: pieces of every enciphered view's own model; those known already add no entry."""
    character_coverage: float = Field(default=1.0, ge=0.98, le=1.0)
    """The share of characters that have a piece; the rarest others become unknown."""
    reserved: tuple[str, ...] = ()
    """Further symbols that are entered by id alone, such as domain tags: `<clean_s>`."""

    tokenise: Tokenise = "none"
    """`moses`: subwords are those of the tokens that Moses splits text into, by the rules of its language; outputs are
    joined as Moses does for the target language."""
    casing: Casing = "none"
    """`inline`: words are in lower case, and a marker before a word, `<title>` or `<upper>`, says if it was not."""

    def form(self, source_language: str, target_language: str) -> TextForm:
        """Return the form in which text is segmented."""
        return TextForm(self.tokenise, self.casing, source_language, target_language)

    @property
    def entries(self) -> int:
        """The number of entries for the plain bitext in the settings."""
        return USUAL_SIZE if self.size == "auto" else self.size

    def inactive(self) -> dict[str, str]:
        dead = {"joint": "separate_size_per_key", "separate": "size_per_key"}[self.mode]
        return {dead: f"the vocabulary's mode is {self.mode}"}

    @field_validator("reserved")
    @classmethod
    def _distinct_words(cls, symbols: tuple[str, ...]) -> tuple[str, ...]:
        for position, symbol in enumerate(symbols):
            if symbol in SPECIALS or symbol in symbols[:position]:
                raise ValueError(f"'{symbol}' is there already: give each symbol once, none of {SPECIALS}")
            if symbol.split() != [symbol] or SPACE in symbol:
                raise ValueError(f"'{symbol}' is not one word: leave out spaces and '▁', as in '<clean_s>'")
        return symbols
