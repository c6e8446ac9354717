"""Synthetic noise: small edits of a fraction of the words or punctuation marks of a text.

The random numbers of a word do not depend on the rate: words that are changed at one rate are
changed in the same way at all higher rates, so that a series of test sets differs in the rate only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import regex

from augury.core.errors import UserError
from augury.core.words import PUNCTUATION, WORDLIKE, clusters, is_spelt
from augury.corpora.languages import base_language
from augury.corpora.noise import Layout
from augury.text.noise.keyboards import neighbours
from augury.text.noise.phonetic import phonetic_key, require_keys

EMOJI = tuple("😂🤣😭😍😊🙏👍🔥💯🤔😅🙄😎🎉👀🤷😡💀✨🙃")
FILLERS: Mapping[str, tuple[str, ...]] = {
    "en": ("um", "uh", "er", "well", "like", "you know", "I mean"),
    "de": ("äh", "ähm", "also", "halt", "na ja", "sozusagen", "ich meine"),
    "fr": ("euh", "ben", "bah", "enfin", "quoi", "tu vois", "du coup"),
}
"""Filled pauses and discourse markers by language."""
DRAWS = 3  # random numbers per word, in addition to the one that decides whether it is changed

_parts = re.compile(r"(\s+)").split
_core = regex.compile(rf"[{WORDLIKE}](?:.*[{WORDLIKE}])?")


class Word(NamedTuple):
    """A word with its context and random numbers."""

    text: str
    first: bool
    """Whether it is the first word of the sentence."""
    letters: Sequence[str]
    """All letters of the sentence, with their marks, in order."""
    draws: Sequence[float]
    """`DRAWS` random numbers in [0, 1)."""

    def choice(self, options: Sequence[str], draw: int) -> str:
        """Return a random option, using the word's random number with index `draw`."""
        return options[int(self.draws[draw] * len(options))]


class NoiseContext(NamedTuple):
    """The parameters of edits."""

    language: str
    layout: Layout
    confusions: Mapping[str, Sequence[str]]
    """Words by phonetic key."""
    coverage: float = 1.0
    """The share of words that have another with their key; only these can be confused."""


class Noised(NamedTuple):
    """A text with noise, the number of places (words or marks) that could have any, and of those
    that have."""

    text: str
    places: int
    edits: int


Edit = Callable[[Word, NoiseContext], str]


def require_language(kinds: Sequence[str], language: str) -> None:
    """Raise UserError if a kind of noise does not support a language."""
    if "asr" in kinds:
        require_keys(language)
    if "fillers" in kinds and _base(language) not in FILLERS:
        raise UserError(
            f"noise fillers does not support '{language}': use it for text in {', '.join(FILLERS)}"
        )


def add_noise(
    text: str, kind: str, rate: float, random: np.random.Generator, context: NoiseContext
) -> Noised:
    """Return a text with noise of one kind; raise UserError if that does not support the language.

    `rate` is the expected share of all words, or marks, that change. As not every word sounds like
    another, those that do are confused at the rate divided by their share, at most all of them.
    """
    if kind == "punctuation":
        return _punctuation(text, rate, random)
    if kind == "asr" and context.coverage > 0:
        rate /= context.coverage
    parts = _parts(text)
    words = [index for index in range(0, len(parts), 2) if parts[index]]
    letters = list(filter(is_spelt, clusters(text)))
    edits = 0
    for index, (number, *draws) in zip(
        words, random.random((len(words), 1 + DRAWS)).tolist(), strict=True
    ):
        if number < rate:
            edited = EDITS[kind](Word(parts[index], index == words[0], letters, draws), context)
            edits += edited != parts[index]
            parts[index] = edited
    return Noised("".join(parts), len(words), edits)


def confusions(words: Sequence[str], language: str) -> dict[str, list[str]]:
    """Group lower-cased words by phonetic key, without keys of a single word."""
    require_keys(language)
    groups: dict[str, list[str]] = {}
    for word in sorted({word.lower() for word in words if is_spelt(word)}):
        groups.setdefault(phonetic_key(word, language), []).append(word)
    return {key: group for key, group in sorted(groups.items()) if key and len(group) > 1}


def coverage(
    counts: Mapping[str, int], groups: Mapping[str, Sequence[str]], language: str, total: int
) -> float:
    """Return the share of `total` words that can be confused, given the counts of lower-cased
    words."""
    confused = sum(count for word, count in counts.items() if _alternatives(word, groups, language))
    return confused / total if total else 0.0


def core_words(text: str) -> list[str]:
    """Return the words of a text without surrounding punctuation."""
    return [core[0] for word in text.split() if (core := _core.search(word))]


def _spelling(word: Word, context: NoiseContext) -> str:
    """Insert, delete or replace a letter, or swap it with the next one, if the word has enough
    letters."""
    characters = clusters(word.text)
    letters = [index for index, character in enumerate(characters) if is_spelt(character)]
    if not letters:
        return word.text
    swaps = [
        index
        for index in letters
        if index + 1 in letters and characters[index] != characters[index + 1]
    ]
    edits = ["insert", "replace", *["delete"] * (len(letters) > 1), *["swap"] * bool(swaps)]
    edit = word.choice(edits, 0)
    options = swaps if edit == "swap" else letters
    index = options[int(word.draws[1] * len(options))]
    letter = characters[index]
    before, after = "".join(characters[:index]), "".join(characters[index + 1 :])
    known = dict.fromkeys(other.lower() for other in word.letters)
    others = [other for other in known if other != letter.lower()] or [letter]
    match edit:
        case "delete":
            return before + after
        case "swap":
            return before + characters[index + 1] + letter + "".join(characters[index + 2 :])
        case "insert":
            return before + letter + word.choice(others, 2) + after
        case _:
            return before + _cased(word.choice(others, 2), letter) + after


def _keyboard(word: Word, context: NoiseContext) -> str:
    keys = neighbours(context.layout, context.language)
    letters = [index for index, character in enumerate(word.text) if character.lower() in keys]
    if not letters:
        return word.text
    index = letters[int(word.draws[0] * len(letters))]
    letter = word.text[index]
    return (
        word.text[:index]
        + _cased(word.choice(keys[letter.lower()], 1), letter)
        + word.text[index + 1 :]
    )


def _casing(word: Word, context: NoiseContext) -> str:
    first = word.text[:1].swapcase() + word.text[1:]
    options = [
        option for option in (word.text.lower(), word.text.upper(), first) if option != word.text
    ]
    return word.choice(options, 0) if options else word.text


def _asr(word: Word, context: NoiseContext) -> str:
    core = _core.search(word.text)
    if core is None or not context.confusions:
        return word.text
    options = _alternatives(core[0], context.confusions, context.language)
    if not options:
        return word.text
    replacement = word.choice(options, 0)
    cased = _cased(replacement[0], core[0][0]) + replacement[1:]
    return word.text[: core.start()] + cased + word.text[core.end() :]


def _alternatives(word: str, groups: Mapping[str, Sequence[str]], language: str) -> list[str]:
    """Return the other words with the phonetic key of a word."""
    return [
        other for other in groups.get(phonetic_key(word, language), ()) if other != word.lower()
    ]


def _fillers(word: Word, context: NoiseContext) -> str:
    filler = word.choice(FILLERS[_base(context.language)], 0)
    if word.first and word.text[:1].isupper():
        filler = filler[0].upper() + filler[1:]
    return f"{filler}, {word.text}"


def _emoji(word: Word, context: NoiseContext) -> str:
    return f"{word.text} {word.choice(EMOJI, 0)}"


EDITS: Mapping[str, Edit] = {
    "asr": _asr,
    "spelling": _spelling,
    "keyboard": _keyboard,
    "casing": _casing,
    "fillers": _fillers,
    "emoji": _emoji,
}
"""Edits of words by kind of noise."""


def _punctuation(text: str, rate: float, random: np.random.Generator) -> Noised:
    """Delete or double marks with equal probability, unless the text has no words."""
    numbers = random.random((len(PUNCTUATION.findall(text)), 2)).tolist()
    draws = iter(numbers)

    def edit(mark: regex.Match[str]) -> str:
        number, choice = next(draws)
        return mark[0] if number >= rate else mark[0] * 2 if choice < 0.5 else ""

    if not regex.search(f"[{WORDLIKE}]", text):
        return Noised(text, 0, 0)
    edits = sum(number < rate for number, _ in numbers)
    return Noised(PUNCTUATION.sub(edit, text), len(numbers), edits)


def _cased(letter: str, like: str) -> str:
    return letter.upper() if like.isupper() else letter


def _base(language: str) -> str:
    return base_language(language)
