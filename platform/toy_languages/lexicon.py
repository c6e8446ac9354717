"""The words of the toy languages, Zipf-distributed and ordered in taxonomies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, product
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")
Draw = Callable[[], float]  # returns the next number of a random stream, uniform on [0, 1)

ROOTS, BRANCHES = 4, 3  # of each taxonomy, of nouns and of verbs
# Kinds of words in cyclic order.
KINDS = ("noun", "noun", "noun", "transitive", "intransitive", "adjective")
SYLLABLES = [consonant + vowel for consonant, vowel in product("bdfghjklmnprstvz", "aeiou")]
ORDER = 124442912483428377292605204496895417004  # seed of the order of the words
# Of the Zipf-Mandelbrot law: rank r = 0, 1, ... has weight (r + SHIFT) ** -EXPONENT.
EXPONENT, SHIFT = 1.3, 3.0


class Zipf(Generic[T]):
    """Items in order of decreasing frequency."""

    def __init__(self, items: Sequence[T]):
        self.items = items
        weights = list(accumulate((rank + SHIFT) ** -EXPONENT for rank in range(len(items))))
        self._cumulative = [weight / weights[-1] for weight in weights]

    def pick(self, draw: Draw) -> T:
        """Return a random item by frequency."""
        return self.items[bisect_right(self._cumulative, draw())]


class Lexicon:
    """A lexicon of `size` words of two syllables, the beginning of any larger one.

    The words of a kind are numbered from 0 by decreasing frequency. The hypernym of noun or verb i
    is word (i - ROOTS) // BRANCHES; the first ROOTS words have none. Hyponyms never cover all of
    their hypernym's extension.
    """

    def __init__(self, size: int):
        self.size = size
        self.words: dict[str, list[str]] = {kind: [] for kind in KINDS}
        pairs = product(SYLLABLES, repeat=2)
        invented = [first + second for first, second in pairs if first != second]
        order = np.random.Generator(np.random.Philox(key=ORDER)).permutation(len(invented))
        for word, kind in zip(order[:size], KINDS * size, strict=False):
            self.words[kind].append(invented[word])
        self.ranks = {kind: Zipf(range(len(words))) for kind, words in self.words.items()}

    def hyponyms(self, kind: str, word: int) -> list[int]:
        """Return the direct hyponyms of a word."""
        first = ROOTS + BRANCHES * word
        return list(range(first, min(first + BRANCHES, len(self.words[kind]))))


@cache
def lexicon_of(size: int) -> Lexicon:
    """Return the lexicon of a size, created once per process."""
    return Lexicon(size)


@cache
def line(word: int) -> tuple[int, ...]:
    """Return a word, its hypernym, the hypernym of that, up to the root of its taxonomy."""
    return (word,) if word < ROOTS else (word, *line((word - ROOTS) // BRANCHES))
