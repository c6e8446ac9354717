"""Scripts that write no spaces between words: their text has words only where a segmenter has put spaces in."""

from __future__ import annotations

from collections.abc import Iterable

from augury.core.errors import UserError

UNSPACED = frozenset({"zh", "ja", "th", "km", "lo", "my"})
LETTERS = 6  # to a space: segmented text has fewer, other text, with spaces between clauses at most, more


def require_words(texts: Iterable[str], language: str, where: str) -> None:
    """UserError, beginning with `where`, for text of which spaces do not part the words though words are needed.

    Of text in a language that writes no spaces this is taken to be so where it has less than one space to six letters.
    """
    if language.replace("_", "-").partition("-")[0].lower() not in UNSPACED:
        return
    spaces = letters = 0
    for text in texts:
        spaces += max(0, len(text.split()) - 1)
        letters += sum(map(str.isalnum, text))
    if letters > LETTERS * spaces:
        raise UserError(
            f"{where}: '{language}' is written without spaces, and this text is not segmented ({spaces:,} spaces, "
            f"{letters:,} letters in its beginning), so that no words can be told apart: give it with a space between "
            "words, as a segmenter writes it"
        )
