"""The lexicon of the NLI languages: invented words in taxonomies, with few frequent, general
words."""

from __future__ import annotations

from functools import cache
from itertools import product

from toy_languages.randomness import Zipf, generator

ROOTS, BRANCHES = 4, 3  # of each taxonomy, of nouns and of verbs
SMALLEST, LARGEST = 24, 2000  # words
# Kinds of words in cyclic order.
KINDS = ("noun", "noun", "noun", "transitive", "intransitive", "adjective")
CONSONANTS, VOWELS = "bdfghjklmnprstvz", "aeiou"


class NliLexicon:
    """A lexicon of `size` content words, a subset of any larger one.

    Raises ValueError for an unsupported size.

    The words of a kind are numbered from 0 by decreasing frequency. The hypernym of noun or verb i
    is word (i - ROOTS) // BRANCHES; the first ROOTS words have none. Hyponyms never cover all of
    their hypernym's extension.
    """

    def __init__(self, size: int):
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(
                f"the NLI languages have no lexicon of {size} words: give a number from "
                f"{SMALLEST} to {LARGEST}"
            )
        self.size = size
        self.words: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for word, kind in zip(_invented_words()[:size], KINDS * size, strict=False):
            self.words[kind].append(word)
        self.ranks = {kind: Zipf(range(len(words))) for kind, words in self.words.items()}

    def hyponyms(self, kind: str, word: int) -> list[int]:
        """Return the direct hyponyms of a word."""
        first = ROOTS + BRANCHES * word
        return list(range(first, min(first + BRANCHES, len(self.words[kind]))))


def hypernym(word: int) -> int | None:
    """Return the direct hypernym of a word; None for a root."""
    return None if word < ROOTS else (word - ROOTS) // BRANCHES


def is_a(word: int, other: int) -> bool:
    """Return whether a word is `other` or one of its direct or indirect hyponyms."""
    while word >= ROOTS and word > other:  # a hypernym has the smaller number
        word = (word - ROOTS) // BRANCHES
    return word == other


def root(word: int) -> int:
    """Return the root of a word's taxonomy."""
    while word >= ROOTS:
        word = (word - ROOTS) // BRANCHES
    return word


@cache
def nli_lexicon_of(size: int) -> NliLexicon:
    """Return the lexicon of a size, created once per process."""
    return NliLexicon(size)


@cache
def _invented_words() -> tuple[str, ...]:
    """Return all words of two different syllables in a fixed random order."""
    syllables = [consonant + vowel for consonant, vowel in product(CONSONANTS, VOWELS)]
    words = [first + second for first, second in product(syllables, syllables) if first != second]
    return tuple(
        words[index] for index in generator("builtin", "nli", "lexicon").permutation(len(words))
    )
