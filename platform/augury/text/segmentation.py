"""Whether the words of a text are separated by spaces."""

from __future__ import annotations

from collections.abc import Iterable

from augury.core.errors import UserError
from augury.corpora.languages import UNSPACED, base_language

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
