"""Checks of spaces as word boundaries: scripts that write none, and text that is tokenised already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from augury.core.errors import UserError
from augury.text.words import words

UNSPACED = frozenset({"zh", "ja", "th", "km", "lo", "my"})
MARKS = frozenset(",.。，、")  # no language writes a space before these
LETTERS = 6  # per space: segmented text has fewer, other text, with spaces between clauses at most, more


def require_words(texts: Iterable[str], language: str, where: str) -> None:
    """Raise UserError, beginning with `where`, for text whose words are needed but not separated by spaces.

    Text in a language that writes no spaces is taken to be unsegmented where it has less than one space to six letters.
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
    """Return the index of the shortest text that `words` splits otherwise than its spaces do.

    None where the texts are not tokenised already, which they are taken to be where most commas and full stops are
    tokens of their own, or where all texts are split alike.
    """
    alone = attached = 0
    for text in texts:
        for token in text.split():
            alone += token in MARKS
            attached += len(token) > 1 and token[-1] in MARKS
    if alone <= attached:
        return None
    split = [index for index, text in enumerate(texts) if words(text) != text.split()]
    return min(split, key=lambda index: len(texts[index]), default=None)
