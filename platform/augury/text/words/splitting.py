"""Splitting of text into words and white space, and reassembly in another word order.

Words consist of letters, digits and combining marks, and can contain hyphens and apostrophes, or
decimal points and commas in numbers. All other characters except white space are words of their own
(punctuation marks). Scripts without spaces need a segmenter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Characters in words that `\w` does not match: vowel signs, combining accents, soft hyphens,
# joiners.
_MARKS = "".join(
    filter(lambda character: unicodedata.category(character)[0] == "M", map(chr, range(0x10000)))
)
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
    """The words of a text, and the white space before each word and after the last one (`gaps`)."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Words:
        """Split a text into words and gaps, losslessly."""
        parts = _words_and_gaps(text)
        return cls(tuple(parts[1::2]), tuple(parts[::2]))

    def text(self, order: Sequence[int] | None = None) -> str:
        """Return the text with its words in another order, by default unchanged.

        White space between adjacent words is kept. New neighbours are separated by a space, unless
        one is a punctuation mark that was attached to a word on that side, like a comma to the word
        before it or an opening bracket to the word after it.
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
        """Return whether this is a punctuation mark attached to the word to its left (-1) or
        right (1)."""
        if not is_punctuation(self.words[position]):
            return False
        while is_punctuation(self.words[position]):
            if self.gaps[max(position, position + step)] or not 0 <= position + step < len(
                self.words
            ):
                return False
            position += step
        return True
