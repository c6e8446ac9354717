"""EDA: a sentence changed by one of four small operations (Wei and Zou 2019, "EDA: Easy Data Augmentation", §2).

A sentence is a list of words without white space. Punctuation belongs to the word that it is written with: it is
skipped to look the word up, and stays when a synonym replaces the word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from augury.text.synonyms import Synonyms

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
    """Return the sentence after one operation; empty only if `words` is.

    `alpha` is the share of the words that change, at least one; for deletion, the probability that a word goes.
    Stop words (in lower case) have no synonyms.
    """
    if not words:
        return []
    if operation == "deletion":
        return delete_words(words, alpha, random)
    count = changes(len(words), alpha)
    if operation == "swap":
        return swap_words(words, count, random)
    change = {"replacement": replace_words, "insertion": insert_words}[operation]
    return change(words, count, random, synonyms, stop_words)


def operation_of(copy: int, offset: int) -> Operation:
    """Return the operation of copy number `copy` of a sentence: four in a row are the four, from `offset` on."""
    return OPERATIONS[(copy + offset) % len(OPERATIONS)]


def changes(words: int, alpha: float) -> int:
    """Return the number of words that are replaced, inserted or swapped in a sentence of `words` words."""
    return max(1, int(alpha * words))


def clean(text: str) -> str:
    """Return the text as the authors' code leaves it: lower case, no apostrophes, spaces for all that is not a to z."""
    return re.sub("[^a-z]+", " ", re.sub("['’]", "", text.lower())).strip()


def replace_words(
    words: Sequence[str], count: int, random: np.random.Generator, synonyms: Synonyms, stop_words: Collection[str]
) -> list[str]:
    """Replace `count` words, wherever they occur, by a synonym each; fewer where fewer have one."""
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
    return " ".join(replaced).split()  # a synonym may be several words


def insert_words(
    words: Sequence[str], count: int, random: np.random.Generator, synonyms: Synonyms, stop_words: Collection[str]
) -> list[str]:
    """Insert a synonym of a random word before a random word, `count` times; not where ten tries find none."""
    longer = list(words)
    for _ in range(count):
        for _ in range(_INSERTION_TRIES):
            match = _look_up(longer[random.integers(len(longer))], synonyms, stop_words)
            if match:
                options = synonyms[match.entry]
                position = random.integers(len(longer))
                longer[position:position] = options[random.integers(len(options))].split()
                break
    return longer


def swap_words(words: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    """Swap two random words, `count` times; not where three draws give the same position twice."""
    swapped = list(words)
    for _ in range(count):
        first = int(random.integers(len(swapped)))
        for _ in range(_SWAP_TRIES):
            second = int(random.integers(len(swapped)))
            if second != first:
                swapped[first], swapped[second] = swapped[second], swapped[first]
                break
    return swapped


def delete_words(words: Sequence[str], probability: float, random: np.random.Generator) -> list[str]:
    """Delete each word with this probability; a single word stays, as does one at random where all would go."""
    if len(words) == 1:
        return list(words)
    remaining = [word for word, draw in zip(words, random.random(len(words)), strict=True) if draw >= probability]
    return remaining or [words[int(random.integers(len(words)))]]


class _Match(NamedTuple):
    """A word that has synonyms: its entry, the marks before and after it, and whether it is capitalised."""

    entry: str
    before: str
    after: str
    capitalised: bool

    def replaced_by(self, synonym: str) -> str:
        first = synonym[0].upper() if self.capitalised else synonym[0]
        return f"{self.before}{first}{synonym[1:]}{self.after}"


def _look_up(word: str, synonyms: Synonyms, stop_words: Collection[str]) -> _Match | None:
    """Look a word up as it is written, then in lower case: US is not us, and a sentence may begin with either."""
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
