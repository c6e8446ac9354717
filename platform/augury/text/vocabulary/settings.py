"""Settings of vocabularies, which do not import sentencepiece."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator

from augury.core.config import Section
from augury.text.vocabulary.preprocessing import Casing, Preprocessor, Tokenise

DEFAULT_SIZE = 12_000
Pieces = Annotated[int, Field(ge=1, le=10_000_000)]
SPECIALS = ("<pad>", "<unk>", "</s>")
SPACE = "▁"
"""Symbol for spaces in pieces, as in sentencepiece."""


class VocabularyConfig(Section):
    """Sizes, symbols and preprocessing of a vocabulary."""

    size: Pieces | Literal["auto"] = "auto"
    """Number of entries for the plain bitext, including special symbols and tags; `auto`: 12,000,
    or for small corpora the number of characters and repeated words."""
    size_per_key: Pieces | Literal["auto"] = "auto"
    """Joint mode: number of additional entries per further view; `auto`: as many as keep the
    number of pieces of plain text the same as without further views, so that systems differ in the
    method only (CipherDAug, per key of a cipher: 4,000)."""
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
    casing: Casing = "none"
    """`inline`: lower-case words and encode case by markers before them, `<title>` or `<upper>`."""

    def preprocessor(self, source_language: str, target_language: str) -> Preprocessor:
        """Return the preprocessor for text in these languages."""
        return Preprocessor(self.tokenise, self.casing, source_language, target_language)

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
            if symbol in SPECIALS or symbol in symbols[:position]:
                raise ValueError(
                    f"'{symbol}' already exists: give each symbol once, and none of {SPECIALS}"
                )
            if symbol.split() != [symbol] or SPACE in symbol:
                raise ValueError(
                    f"'{symbol}' is not one word without spaces and '▁': use one such as "
                    "'<clean_s>'"
                )
        return symbols
