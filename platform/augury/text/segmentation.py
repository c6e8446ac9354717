"""What spaces tell of words: nothing in scripts that write none, all of them in text that is tokenised already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from augury.core.errors import UserError
from augury.text.words import words

UNSPACED = frozenset({"zh", "ja", "th", "km", "lo", "my"})
MARKS = frozenset(",.。，、")  # that no language writes a space before
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


def tokenised_line(texts: Sequence[str]) -> int | None:
    """The place of the shortest text that `words` splits otherwise than spaces do, where these are tokenised already.

    They are taken to be so where most commas and full stops stand alone. None where they are not, or where it makes no
    difference.
    """
    alone = attached = 0
    for text in texts:
        for token in text.split():
            alone += token in MARKS
            attached += len(token) > 1 and token[-1] in MARKS
    if alone <= attached:
        return None
    split = [place for place, text in enumerate(texts) if words(text) != text.split()]
    return min(split, key=lambda place: len(texts[place]), default=None)
