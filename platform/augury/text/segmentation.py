"""Checks of text segmentation: scripts without spaces, and text that is already tokenised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from augury.core.errors import UserError
from augury.core.words import words
from augury.corpora.languages import UNSPACED, base_language

MARKS = frozenset(",.。，、")  # marks that no language separates by a space
LETTERS = 6  # maximum number of letters per space in segmented text


def require_words(texts: Iterable[str], language: str, where: str) -> None:
    """Raise UserError, prefixed by `where`, if the words of a text are not separated by spaces.

    Text in a language without spaces is considered unsegmented if it has more than six letters per
    space.
    """
    if base_language(language) not in UNSPACED:
        return
    spaces = letters = 0
    for text in texts:
        spaces += max(0, len(text.split()) - 1)
        letters += sum(map(str.isalnum, text))
    if letters > LETTERS * spaces:
        raise UserError(
            f"{where}: '{language}' is written without spaces, and this text is not segmented "
            f"into words ({spaces:,} spaces, {letters:,} letters at its beginning): run a "
            "segmenter first"
        )


def tokenised_line(texts: Sequence[str]) -> int | None:
    """Return the index of the shortest tokenised text that `words` splits differently; None if
    there is none.

    Texts are considered tokenised if most commas and full stops are tokens of their own.
    """
    separate = attached = 0
    for text in texts:
        for token in text.split():
            separate += token in MARKS
            attached += len(token) > 1 and token[-1] in MARKS
    if separate <= attached:
        return None
    split = [index for index, text in enumerate(texts) if words(text) != text.split()]
    return min(split, key=lambda index: len(texts[index]), default=None)
