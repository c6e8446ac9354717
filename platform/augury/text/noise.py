"""Synthetic noise: small edits of a fraction of the words of a text.

The random numbers of a word do not depend on the rate: words that are changed at one rate are
changed in the same way at all higher rates, so that a series of test sets differs in the rate only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import regex

from augury.core.errors import UserError
from augury.core.words import WORDLIKE, clusters, is_spelt
from augury.corpora.languages import base_language

LANGUAGES = ("en", "de", "fr")
"""Those with rules of pronunciation in `sounds.tsv`."""
DRAWS = 3  # random numbers per word, in addition to the one that decides whether it is changed

T = TypeVar("T")
_parts = re.compile(r"(\s+)").split
_core = regex.compile(rf"[{WORDLIKE}](?:.*[{WORDLIKE}])?")


class NoiseContext(NamedTuple):
    """The parameters of edits."""

    language: str
    confusions: Mapping[str, Sequence[str]]
    """Words by phonetic key."""
    coverage: float = 1.0
    """The share of words that have another with their key; only these can be confused."""


def require_language(kinds: Sequence[str], language: str) -> None:
    """Raise UserError if a kind of noise does not support a language."""
    if "asr" in kinds and base_language(language) not in LANGUAGES:
        raise UserError(
            f"noise asr does not support '{language}': use it for text in {', '.join(LANGUAGES)}"
        )


def add_noise(
    text: str, kind: str, rate: float, random: np.random.Generator, context: NoiseContext
) -> str:
    """Return a text with noise of one kind, which supports the language.

    `rate` is the expected share of all words that change. As not every word sounds like another,
    those that do are confused at the rate divided by their share, at most all of them.
    """
    if kind == "asr" and context.coverage > 0:
        rate /= context.coverage
    parts = _parts(text)
    words = [index for index in range(0, len(parts), 2) if parts[index]]
    letters = list(filter(is_spelt, clusters(text)))
    numbers = random.random((len(words), 1 + DRAWS)).tolist()
    for index, (number, *draws) in zip(words, numbers, strict=True):
        if number < rate:
            if kind == "asr":
                parts[index] = _heard(parts[index], draws, context)
            else:
                parts[index] = _typed(parts[index], draws, letters)
    return "".join(parts)


def _typed(word: str, draws: Sequence[float], known: Sequence[str]) -> str:
    """Insert, delete or replace a letter by random numbers, or swap it with the next one, if the
    word has enough letters; new letters are among the `known` ones of the sentence."""
    characters = clusters(word)
    letters = [index for index, character in enumerate(characters) if is_spelt(character)]
    if not letters:
        return word
    swaps = [at for at in letters if at + 1 in letters and characters[at] != characters[at + 1]]
    edits = ["insert", "replace", *["delete"] * (len(letters) > 1), *["swap"] * bool(swaps)]
    edit = _choice(edits, draws[0])
    index = _choice(swaps if edit == "swap" else letters, draws[1])
    letter = characters[index]
    distinct = dict.fromkeys(other.lower() for other in known)
    others = [other for other in distinct if other != letter.lower()] or [letter]
    end = index + 1
    if edit == "delete":
        new = ""
    elif edit == "swap":
        new, end = characters[index + 1] + letter, index + 2
    elif edit == "insert":
        new = letter + _choice(others, draws[2])
    else:
        new = _cased(_choice(others, draws[2]), letter)
    return "".join([*characters[:index], new, *characters[end:]])


def _heard(word: str, draws: Sequence[float], context: NoiseContext) -> str:
    """Replace a word by a random one that sounds alike, if there is any."""
    core = _core.search(word)
    if core is None:
        return word
    options = _alternatives(core[0], context.confusions, context.language)
    if not options:
        return word
    replacement = _choice(options, draws[0])
    cased = _cased(replacement[0], core[0][0]) + replacement[1:]
    return word[: core.start()] + cased + word[core.end() :]


def _choice(options: Sequence[T], number: float) -> T:
    """Return the option that a random number in [0, 1) chooses."""
    return options[int(number * len(options))]


def _cased(letter: str, like: str) -> str:
    return letter.upper() if like.isupper() else letter


def core_words(text: str) -> list[str]:
    """Return the words of a text without surrounding punctuation."""
    return [core[0] for word in text.split() if (core := _core.search(word))]


def confusions(words: Sequence[str], language: str) -> dict[str, list[str]]:
    """Group lower-cased words by phonetic key, without keys of a single word; UserError for a
    language without rules."""
    require_language(["asr"], language)
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


def _alternatives(word: str, groups: Mapping[str, Sequence[str]], language: str) -> list[str]:
    """Return the other words with the phonetic key of a word."""
    group = groups.get(phonetic_key(word, language), ())
    return [other for other in group if other != word.lower()]


@lru_cache(maxsize=2**16)
def phonetic_key(word: str, language: str) -> str:
    """Return the phonetic key of a word in a language with rules, empty if no letter is pronounced.

    Words with the same key sound similar, and can be confused by a speech recogniser.
    """
    key = re.sub(r"[\W\d_]", "", word.lower())
    for pattern, sound in _rules(base_language(language)):
        key = re.sub(pattern, sound, key)
    return re.sub(r"(.)\1+", r"\1", key)


@cache
def _rules(language: str) -> list[tuple[str, str]]:
    """Return the rewrite rules of phonetic keys of a language, which are applied in order.

    They are coarse on purpose: English vowels are a single class, since their spelling is a poor
    guide to pronunciation; German and French vowels are distinguished.
    """
    lines = Path(__file__).with_name("sounds.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rules = [line.split("\t") for line in lines]
    return [(pattern, sound) for code, pattern, sound in rules if code == language]
