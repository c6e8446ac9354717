"""Words and letters of any script: the one place that says what they are.

A letter has marks: vowel signs, accents and joiners, which are neither punctuation nor letters of
their own. Words consist of letters and digits, and can contain hyphens and apostrophes, or decimal
points and commas in numbers. All other characters except white space, emoji of several characters
as a whole, are words of their own (punctuation marks). Scripts without spaces need a segmenter, or
are read character by character.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import regex

WORDLIKE = r"\p{L}\p{M}\p{N}_\u00ad\u200c\u200d"
"""What words are made of, for a class of a regular expression: soft hyphens and joiners too."""
SPACE = r"\s\x1c-\x1f"
"""White space as `str.isspace` knows it."""
_LETTERS = rf"[{WORDLIKE}]+"
_MARK = rf"(?:\p{{RI}}{{2}}|[^{WORDLIKE}{SPACE}])"
_EMOJI = rf"{_MARK}(?:[\p{{M}}\p{{EMod}}\U000e0020-\U000e007f]|\u200d{_MARK})*"
_WORD = rf"{_LETTERS}(?:['’-]{_LETTERS}|(?<=\d)[.,:]\d+)*|{_EMOJI}"
_words = regex.compile(_WORD).findall
_words_and_gaps = regex.compile(f"({_WORD})").split
_spelt = regex.compile(r"\p{L}[\p{L}\p{M}\u200c\u200d]*")
_clusters = regex.compile(r"\X").findall
_HAN = r"\p{Han}\p{Hiragana}\p{Katakana}"
UNSPACED = (
    rf"{_HAN}\p{{Thai}}\p{{Lao}}\p{{Khmer}}\p{{Myanmar}}\p{{Tibetan}}\p{{Tai_Tham}}"
    r"\p{New_Tai_Lue}\p{Tai_Le}\p{Javanese}\p{Balinese}"
)
"""The scripts that write no spaces between words."""


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return list(_words(text))


def spelt_words(text: str) -> list[str]:
    """Return the words of a text that are spelt with letters alone: parts of others, no numbers."""
    return list(_spelt.findall(text))


def is_spelt(word: str) -> bool:
    """Return whether a word consists of letters and their marks alone."""
    return _spelt.fullmatch(word) is not None


def is_punctuation(word: str) -> bool:
    """Return whether a word has neither letters nor digits."""
    return not any(map(str.isalnum, word))


def clusters(text: str) -> list[str]:
    """Return what readers take for the characters of a text: letters with their marks, emoji."""
    return list(_clusters(text))


def is_unspaced(texts: Iterable[str]) -> bool:
    """Return whether most letters of texts are of scripts that write no spaces between words."""
    return _are_of(UNSPACED, texts)


def is_han(texts: Iterable[str]) -> bool:
    """Return whether most letters of texts are Chinese characters or Japanese kana."""
    return _are_of(_HAN, texts)


def _are_of(scripts: str, texts: Iterable[str]) -> bool:
    text = "".join(texts)
    of_scripts = sum(map(str.isalpha, regex.findall(f"[{scripts}]", text)))
    return 2 * of_scripts > sum(map(str.isalpha, text))


def reordered(text: str, order: Sequence[int]) -> str:
    """Return a text with its words in another order, given as their indices.

    White space between adjacent words is kept. New neighbours are separated by a space, unless one
    is a punctuation mark that was attached to a word on that side, like a comma to the word before
    it or an opening bracket to the word after it.
    """
    parts = _words_and_gaps(text)
    words, gaps = parts[1::2], parts[::2]
    assert sorted(order) == list(range(len(words))), order

    def is_attached(position: int, step: int) -> bool:
        """Return whether this is a punctuation mark attached to the word to its left (-1) or right
        (1)."""
        if not is_punctuation(words[position]):
            return False
        while is_punctuation(words[position]):
            following = position + step
            if gaps[max(position, following)] or not 0 <= following < len(words):
                return False
            position = following
        return True

    if not words:
        return text
    result = [gaps[0], words[order[0]]]
    for before, after in pairwise(order):
        gap = gaps[after]
        if after != before + 1:
            gap = "" if is_attached(after, -1) or is_attached(before, 1) else " "
        result += [gap, words[after]]
    return "".join([*result, gaps[-1]])
