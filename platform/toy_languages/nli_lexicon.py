"""The lexicon of the toy languages: invented words in a taxonomy, few of them frequent and general."""

from __future__ import annotations

from functools import cache
from itertools import product

from toy_languages.lexicon import Zipf
from toy_languages.randomness import generator

ROOTS, BRANCHES = 4, 3  # of the taxonomies of nouns and of verbs
SMALLEST, LARGEST = 24, 2000  # words
KINDS = ("noun", "noun", "noun", "transitive", "intransitive", "adjective")  # of the words, in turn
CONSONANTS, VOWELS = "bdfghjklmnprstvz", "aeiou"


class NliLexicon:
    """A lexicon of `size` content words, part of any larger one; raises ValueError where there is none of that size.

    The words of a kind are numbered from 0, the frequent first. Nouns and verbs have hypernyms: word i is right below
    word (i - ROOTS) // BRANCHES, the first ROOTS words are below none. No word is exhausted by those below it.
    """

    def __init__(self, size: int):
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(
                f"the toy languages have no lexicon of {size} words: give a number from {SMALLEST} to {LARGEST}"
            )
        self.size = size
        self.words: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for word, kind in zip(_invented()[:size], KINDS * size, strict=False):
            self.words[kind].append(word)
        self.ranks = {kind: Zipf(range(len(words))) for kind, words in self.words.items()}

    def hyponyms(self, kind: str, word: int) -> list[int]:
        """Return the words right below a word."""
        first = ROOTS + BRANCHES * word
        return list(range(first, min(first + BRANCHES, len(self.words[kind]))))


def hypernym(word: int) -> int | None:
    """Return the word right above a word; None at the top."""
    return None if word < ROOTS else (word - ROOTS) // BRANCHES


def is_a(word: int, other: int) -> bool:
    """Return whether a word is `other` or below it."""
    while word >= ROOTS and word > other:  # a hypernym has the smaller number
        word = (word - ROOTS) // BRANCHES
    return word == other


def root(word: int) -> int:
    """Return the top of the taxonomy that a word belongs to."""
    while word >= ROOTS:
        word = (word - ROOTS) // BRANCHES
    return word


@cache
def nli_lexicon_of(size: int) -> NliLexicon:
    """Return the lexicon of a size, made once per process."""
    return NliLexicon(size)


@cache
def _invented() -> tuple[str, ...]:
    """Return words of two syllables, no two alike."""
    syllables = [consonant + vowel for consonant, vowel in product(CONSONANTS, VOWELS)]
    words = [first + second for first, second in product(syllables, syllables) if first != second]
    return tuple(words[index] for index in generator("builtin", "nli", "lexicon").permutation(len(words)))
