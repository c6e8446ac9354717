"""The four operations of EDA on a sentence (Wei and Zou 2019, "EDA: Easy Data Augmentation", §2).

A sentence is a list of words without white space. Punctuation attached to a word is ignored when
the word is looked up, and kept when a synonym replaces it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from augury.text.eda.synonyms import Synonyms

Operation = Literal["replacement", "insertion", "swap", "deletion"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

_INSERTION_TRIES = 10
_SWAP_TRIES = 3


def augment(
    words: Sequence[str],
    operation: Operation,
    alpha: float,
    random: np.random.Generator,
    synonyms: Synonyms,
    stop_words: Collection[str],
) -> list[str]:
    """Apply an operation to a sentence; the result is empty only if `words` is.

    `alpha` is the fraction of words to change, at least one, or for deletion the probability to
    delete a word. Stop words (in lower case) are not replaced by synonyms.
    """
    if not words:
        return []
    if operation == "deletion":
        return delete_words(words, alpha, random)
    count = change_count(len(words), alpha)
    if operation == "swap":
        return swap_words(words, count, random)
    change = {"replacement": replace_words, "insertion": insert_words}[operation]
    return change(words, count, random, synonyms, stop_words)


def operation_of(copy: int, offset: int) -> Operation:
    """Return the operation of the copy with number `copy`: operations rotate, starting from
    `offset`."""
    return OPERATIONS[(copy + offset) % len(OPERATIONS)]


def change_count(words: int, alpha: float) -> int:
    """Return how many of `words` words to replace, insert or swap."""
    return max(1, int(alpha * words))


def clean(text: str) -> str:
    """Clean text as the authors' code does: lower-case it, remove apostrophes, and keep only a
    to z and spaces."""
    return re.sub("[^a-z]+", " ", re.sub("['’]", "", text.lower())).strip()


def replace_words(
    words: Sequence[str],
    count: int,
    random: np.random.Generator,
    synonyms: Synonyms,
    stop_words: Collection[str],
) -> list[str]:
    """Replace up to `count` distinct words that have synonyms, in all occurrences, by a random
    synonym."""
    matches = [_look_up(word, synonyms, stop_words) for word in words]
    entries = list(dict.fromkeys(match.entry for match in matches if match))
    chosen = {}
    for index in random.permutation(len(entries))[:count]:
        options = synonyms[entries[index]]
        chosen[entries[index]] = options[random.integers(len(options))]
    replaced = [
        match.replaced_by(chosen[match.entry]) if match and match.entry in chosen else word
        for word, match in zip(words, matches, strict=True)
    ]
    return " ".join(replaced).split()  # splits synonyms of several words


def insert_words(
    words: Sequence[str],
    count: int,
    random: np.random.Generator,
    synonyms: Synonyms,
    stop_words: Collection[str],
) -> list[str]:
    """Insert a synonym of a random word at a random position, `count` times.

    Skipped if ten tries find no synonym.
    """
    result = list(words)
    for _ in range(count):
        for _ in range(_INSERTION_TRIES):
            match = _look_up(result[random.integers(len(result))], synonyms, stop_words)
            if match:
                options = synonyms[match.entry]
                position = random.integers(len(result))
                result[position:position] = options[random.integers(len(options))].split()
                break
    return result


def swap_words(words: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    """Swap two random words, `count` times; skipped if three draws give the same position twice."""
    swapped = list(words)
    for _ in range(count):
        first = int(random.integers(len(swapped)))
        for _ in range(_SWAP_TRIES):
            second = int(random.integers(len(swapped)))
            if second != first:
                swapped[first], swapped[second] = swapped[second], swapped[first]
                break
    return swapped


def delete_words(
    words: Sequence[str], probability: float, random: np.random.Generator
) -> list[str]:
    """Delete each word with a probability.

    A single word is kept, and a random one if all would be deleted.
    """
    if len(words) == 1:
        return list(words)
    remaining = [
        word
        for word, draw in zip(words, random.random(len(words)), strict=True)
        if draw >= probability
    ]
    return remaining or [words[int(random.integers(len(words)))]]


class _Match(NamedTuple):
    """A word with synonyms: its entry, the punctuation around it, and whether it is capitalised."""

    entry: str
    before: str
    after: str
    capitalised: bool

    def replaced_by(self, synonym: str) -> str:
        first = synonym[0].upper() if self.capitalised else synonym[0]
        return f"{self.before}{first}{synonym[1:]}{self.after}"


def _look_up(word: str, synonyms: Synonyms, stop_words: Collection[str]) -> _Match | None:
    """Look up a word as written, then in lower case, to distinguish US and us, and to match the
    first word."""
    start, end = 0, len(word)
    while start < end and _is_mark(word[start]):
        start += 1
    while end > start and _is_mark(word[end - 1]):
        end -= 1
    core = word[start:end]
    lower = core.lower()
    if lower in stop_words:
        return None
    if core in synonyms:
        return _Match(core, word[:start], word[end:], False)
    return _Match(lower, word[:start], word[end:], True) if lower in synonyms else None


def _is_mark(character: str) -> bool:
    return not character.isalnum() and unicodedata.category(character)[0] in "PS"
