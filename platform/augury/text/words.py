"""A text as words and the white space between them, and back again, its words in another order.

Words are runs of letters, digits and marks, joined by hyphens and apostrophes, and numbers with their points and
commas; any other character that is not white space is a word of its own (a punctuation mark). Scripts that write no
spaces need a segmenter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Part of a word, though `\w` leaves them out: vowel signs, accents that are not composed, soft hyphens, joiners.
_MARKS = "".join(filter(lambda character: unicodedata.category(character)[0] == "M", map(chr, range(0x10000))))
_LETTERS = rf"[\w{_MARKS}\u00ad\u200c\u200d]+"
_WORD = rf"{_LETTERS}(?:['’-]{_LETTERS}|(?<=\d)[.,:]\d+)*|[^\w\s][{_MARKS}]*"
_words = re.compile(_WORD).findall
_words_and_gaps = re.compile(f"({_WORD})").split


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return _words(text)


def is_punctuation(word: str) -> bool:
    """Return whether a word has neither letters nor digits."""
    return not any(map(str.isalnum, word))


@dataclass(frozen=True)
class Words:
    """The words of a text, and `gaps`: the white space before each of them and, last, after all."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Words:
        """Split a text into words and gaps; `text()` gives it back, character by character."""
        parts = _words_and_gaps(text)
        return cls(tuple(parts[1::2]), tuple(parts[::2]))

    def text(self, order: Sequence[int] | None = None) -> str:
        """Return the text, with word `order[i]` of this one as its word i.

        White space between words that were neighbours stays. Between new ones there is a space, unless one is a
        punctuation mark that was written on a word on that side, as a comma is on the word before it and an opening
        bracket on the word after it.
        """
        positions = range(len(self.words)) if order is None else order
        assert sorted(positions) == list(range(len(self.words))), order
        if not self.words:
            return self.gaps[0]
        parts = [self.gaps[0], self.words[positions[0]]]
        for before, after in pairwise(positions):
            parts += [self._gap(before, after), self.words[after]]
        return "".join([*parts, self.gaps[-1]])

    def _gap(self, before: int, after: int) -> str:
        if after == before + 1:
            return self.gaps[after]
        return "" if self._attached(after, -1) or self._attached(before, 1) else " "

    def _attached(self, position: int, step: int) -> bool:
        """Return whether this is a punctuation mark that is written on the word to its left (-1) or right (1)."""
        if not is_punctuation(self.words[position]):
            return False
        while is_punctuation(self.words[position]):
            if self.gaps[max(position, position + step)] or not 0 <= position + step < len(self.words):
                return False
            position += step
        return True
