"""Synthetic noise: a text with a share of its words, or of its marks, changed by one small edit each.

Every word has numbers of its own, which do not depend on the rate: the words that change at one rate change in the same
way at a higher one, so that series of test sets differ in nothing but the rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from augury.core.errors import UserError
from augury.corpora.noise import Layout
from augury.text.keyboards import neighbours
from augury.text.phonetic import phonetic_key, require_keys

EMOJI = tuple("😂🤣😭😍😊🙏👍🔥💯🤔😅🙄😎🎉👀🤷😡💀✨🙃")
FILLERS: Mapping[str, tuple[str, ...]] = {
    "en": ("um", "uh", "er", "well", "like", "you know", "I mean"),
    "de": ("äh", "ähm", "also", "halt", "na ja", "sozusagen", "ich meine"),
    "fr": ("euh", "ben", "bah", "enfin", "quoi", "tu vois", "du coup"),
}
"""What speakers say while they think, by language."""
DRAWS = 3  # numbers of a word, besides the one that says whether it changes

_parts = re.compile(r"(\s+)").split
_core = re.compile(r"\w(?:.*\w)?")
_mark = re.compile(r"[^\w\s]")


class Word(NamedTuple):
    """A word in its place, what it may become taken from its numbers."""

    text: str
    first: bool
    """Whether no word comes before it."""
    letters: str
    """All letters of its sentence, in order."""
    draws: Sequence[float]
    """`DRAWS` numbers in [0, 1)."""

    def choice(self, options: Sequence[str], draw: int) -> str:
        """Return the option that a number of the word chooses."""
        return options[int(self.draws[draw] * len(options))]


class Setting(NamedTuple):
    """What edits depend on besides the word."""

    language: str
    layout: Layout
    confusions: Mapping[str, Sequence[str]]
    """Words by their phonetic key."""


Edit = Callable[[Word, Setting], str]


def require_language(kinds: Sequence[str], language: str) -> None:
    """Raise UserError where a kind of noise is not known for a language."""
    if "asr" in kinds:
        require_keys(language)
    if "fillers" in kinds and _base(language) not in FILLERS:
        raise UserError(f"there are no fillers for '{language}': noise fillers is for text in {', '.join(FILLERS)}")


def noisy(text: str, kind: str, rate: float, random: np.random.Generator, setting: Setting) -> str:
    """Return a text with noise of one kind; UserError where it is not known for the text's language."""
    if kind == "punctuation":
        return _punctuation(text, rate, random)
    parts = _parts(text)
    words = [place for place in range(0, len(parts), 2) if parts[place]]
    letters = "".join(filter(str.isalpha, text))
    for place, (touched, *draws) in zip(words, random.random((len(words), 1 + DRAWS)).tolist(), strict=True):
        if touched < rate:
            parts[place] = EDITS[kind](Word(parts[place], place == words[0], letters, draws), setting)
    return "".join(parts)


def confusions(words: Sequence[str], language: str) -> dict[str, list[str]]:
    """Return words, in lower case, by their phonetic key, where there are several with one key."""
    require_keys(language)
    groups: dict[str, list[str]] = {}
    for word in sorted({word.lower() for word in words if word.isalpha()}):
        groups.setdefault(phonetic_key(word, language), []).append(word)
    return {key: group for key, group in sorted(groups.items()) if key and len(group) > 1}


def spoken_words(text: str) -> list[str]:
    """Return the words of a text without the marks before and behind them."""
    return [core[0] for word in text.split() if (core := _core.search(word))]


def _spelling(word: Word, setting: Setting) -> str:
    """Insert, delete or replace a letter, or let it change places with the next, as far as the word allows it."""
    places = [place for place, character in enumerate(word.text) if character.isalpha()]
    if not places:
        return word.text
    swaps = [place for place in places if place + 1 in places and word.text[place] != word.text[place + 1]]
    edits = ["insert", "replace", *["delete"] * (len(places) > 1), *["swap"] * bool(swaps)]
    edit = word.choice(edits, 0)
    options = swaps if edit == "swap" else places
    place = options[int(word.draws[1] * len(options))]
    before, letter, after = word.text[:place], word.text[place], word.text[place + 1 :]
    others = [other for other in dict.fromkeys(word.letters.lower()) if other != letter.lower()] or [letter]
    match edit:
        case "delete":
            return before + after
        case "swap":
            return before + after[0] + letter + after[1:]
        case "insert":
            return before + letter + word.choice(others, 2) + after
        case _:
            return before + _cased(word.choice(others, 2), letter) + after


def _keyboard(word: Word, setting: Setting) -> str:
    keys = neighbours(setting.layout, setting.language)
    places = [place for place, character in enumerate(word.text) if character.lower() in keys]
    if not places:
        return word.text
    place = places[int(word.draws[0] * len(places))]
    letter = word.text[place]
    return word.text[:place] + _cased(word.choice(keys[letter.lower()], 1), letter) + word.text[place + 1 :]


def _casing(word: Word, setting: Setting) -> str:
    first = word.text[:1].swapcase() + word.text[1:]
    options = [option for option in (word.text.lower(), word.text.upper(), first) if option != word.text]
    return word.choice(options, 0) if options else word.text


def _asr(word: Word, setting: Setting) -> str:
    core = _core.search(word.text)
    if core is None or not setting.confusions:
        return word.text
    key = phonetic_key(core[0], setting.language)
    options = [option for option in setting.confusions.get(key, ()) if option != core[0].lower()]
    if not options:
        return word.text
    heard = word.choice(options, 0)
    return word.text[: core.start()] + _cased(heard[0], core[0][0]) + heard[1:] + word.text[core.end() :]


def _fillers(word: Word, setting: Setting) -> str:
    filler = word.choice(FILLERS[_base(setting.language)], 0)
    if word.first and word.text[:1].isupper():
        filler = filler[0].upper() + filler[1:]
    return f"{filler}, {word.text}"


def _emoji(word: Word, setting: Setting) -> str:
    return f"{word.text} {word.choice(EMOJI, 0)}"


EDITS: Mapping[str, Edit] = {
    "asr": _asr,
    "spelling": _spelling,
    "keyboard": _keyboard,
    "casing": _casing,
    "fillers": _fillers,
    "emoji": _emoji,
}
"""What becomes of a word, by the kind of noise."""


def _punctuation(text: str, rate: float, random: np.random.Generator) -> str:
    """Leave out or double marks, as often the one as the other; a text of marks alone stays."""
    draws = iter(random.random((len(_mark.findall(text)), 2)).tolist())

    def changed(mark: re.Match[str]) -> str:
        touched, kept = next(draws)
        return mark[0] if touched >= rate else mark[0] * 2 if kept < 0.5 else ""

    return _mark.sub(changed, text) if re.search(r"\w", text) else text


def _cased(letter: str, like: str) -> str:
    return letter.upper() if like.isupper() else letter


def _base(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()
