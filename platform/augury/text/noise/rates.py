"""Estimate the rates of synthetic noise that make a clean text as noisy as another text.

No clean version of the noisy text is needed. Noise of a kind shows in features that clean text has
too, only less often: unknown words that are one edit away from a known one, words in another case,
doubled marks, emoji. Each kind of noise is added to clean text at a small rate, which tells how
much of every feature it makes; the rates are those, none below 0, whose effects together come
nearest to what the noisy text has more than the clean one (least squares).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import regex

from augury.core.rng import generator
from augury.core.words import PUNCTUATION, is_spelt
from augury.corpora.languages import base_language
from augury.corpora.noise import KINDS, Layout
from augury.text.noise.edits import FILLERS, NoiseContext, add_noise, core_words
from augury.text.noise.keyboards import neighbours

ESTIMATED = tuple(kind for kind in KINDS if kind != "asr")
"""The kinds whose rate can be estimated: a confused word is a known word."""
TRIAL = 0.1
"""The rate at which every kind is added to clean text."""
SHORTEST = 4
"""The letters of the shortest word that another can be a misspelling of."""

_doubled = regex.compile(rf"({PUNCTUATION.pattern})\1")
_emoji = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_ended = regex.compile(rf"{PUNCTUATION.pattern}\s*$")


def estimate_rates(
    forms: Mapping[str, int],
    clean: Sequence[str],
    noisy: Sequence[str],
    language: str,
    layout: Layout = "auto",
) -> dict[str, float]:
    """Return the rates from 0 to 1 of the kinds of noise in a text, four decimals, without those
    that are 0.

    `forms` are the words of clean text, in their case, with their counts, and `clean` other
    sentences of it.
    """
    from scipy.optimize import nnls  # here, as commands that estimate nothing start without it

    features, context = _Features(forms, language, layout), NoiseContext(language, layout, {})
    base = features.of(clean)
    kinds = [kind for kind in ESTIMATED if kind != "fillers" or base_language(language) in FILLERS]
    effects = (
        np.stack([features.of(_with_noise(clean, kind, context)) - base for kind in kinds], axis=1)
        / TRIAL
    )
    rates, _ = nnls(effects, np.maximum(features.of(noisy) - base, 0))
    estimated = {
        kind: round(min(1.0, float(rate)), 4) for kind, rate in zip(kinds, rates, strict=True)
    }
    return {kind: rate for kind, rate in estimated.items() if rate}


def _with_noise(texts: Sequence[str], kind: str, context: NoiseContext) -> list[str]:
    return [
        add_noise(text, kind, TRIAL, generator("rates", kind, number), context).text
        for number, text in enumerate(texts)
    ]


class _Features:
    """Measures what noise leaves in texts, given the words of clean text."""

    def __init__(self, forms: Mapping[str, int], language: str, layout: Layout):
        self.forms, self.keys = forms, neighbours(layout, language)
        self.lower = Counter[str]()
        for form, count in forms.items():
            self.lower[form.lower()] += count
        fillers = "|".join(map(re.escape, FILLERS.get(base_language(language), ())))
        self.filler = re.compile(rf"\b(?:{fillers})," if fillers else r"(?!)", re.IGNORECASE)
        self.misspelt = lru_cache(maxsize=2**16)(self._misspelt)

    def of(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the features of texts: five shares of words, and two of punctuation marks."""
        words = [word for text in texts for word in core_words(text)]
        kinds = Counter(
            self.misspelt(word.lower()) for word in words if word.lower() not in self.lower
        )
        cased = sum(word.lower() in self.lower and word not in self.forms for word in words)
        whole = "\n".join(texts)
        counts = (
            kinds["letter"],
            kinds["key"],
            cased,
            len(self.filler.findall(whole)),
            len(_emoji.findall(whole)),
        )
        shares = [count / max(1, len(whole.split())) for count in counts]
        return np.array([*shares, *_punctuation([_emoji.sub("", text) for text in texts])])

    def _misspelt(self, word: str) -> str:
        """Return `key` where an adjacent key makes a known word of this one, `letter`
        for any other edit."""
        if not is_spelt(word) or len(word) < SHORTEST - 1:
            return ""
        for place, letter in enumerate(word):
            if any(
                word[:place] + other + word[place + 1 :] in self.lower
                for other in self.keys.get(letter, "")
            ):
                return "key" if len(word) >= SHORTEST else ""
        for shorter in [word, *_deletions(word)]:
            if any(_one_edit(word, known) for known in self.by_deletion.get(shorter, ())):
                return "letter"
        return ""

    @cached_property
    def by_deletion(self) -> dict[str, list[str]]:
        """Known words by themselves and by what is left of them without one letter."""
        known: dict[str, list[str]] = {}
        for word in self.lower:
            if is_spelt(word) and len(word) >= SHORTEST:
                for shorter in {word, *_deletions(word)}:
                    known.setdefault(shorter, []).append(word)
        return known


def _punctuation(texts: Sequence[str]) -> tuple[float, float]:
    """Return the doubled marks, and the texts that end without one, for each mark; 0 where there
    is none."""
    marks = sum(len(PUNCTUATION.findall(text)) for text in texts)
    unended = sum(bool(text.strip()) and not _ended.search(text) for text in texts)
    doubled = sum(len(_doubled.findall(text)) for text in texts)
    return (doubled / marks, unended / marks) if marks else (0.0, 0.0)


def _deletions(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place in range(len(word))]


def _one_edit(word: str, other: str) -> bool:
    """Return whether one insertion, deletion, replacement or swap of neighbours separates two
    words."""
    from rapidfuzz.distance import OSA

    return bool(OSA.distance(word, other, score_cutoff=1) == 1)
