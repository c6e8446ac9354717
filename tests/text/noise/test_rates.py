"""Rates of noise estimated from text, without a clean version of it."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from augury.core.rng import generator
from augury.text.noise.edits import FILLERS, NoiseContext, add_noise, core_words
from augury.text.noise.rates import ESTIMATED, estimate_rates

SUBJECTS = (
    "My brother",
    "The old teacher",
    "Another neighbour",
    "Her daughter",
    "Nobody here",
    "This famous writer",
)
VERBS = ("visited", "remembers", "wanted", "describes", "painted", "forgot", "watches", "follows")
OBJECTS = (
    "a quiet garden",
    "the broken window",
    "seven letters",
    "the next station",
    "our winter journey",
    "that song",
)
ENDS = (".", "!", ", of course.", "; we know that.", ", didn't they?")


@cache
def sentences(start: int, count: int) -> tuple[str, ...]:
    """Sentences that are drawn from a grammar."""
    texts = []
    for number in range(start, start + count):
        draw = generator("sentence", number)
        parts = [parts[draw.integers(len(parts))] for parts in (SUBJECTS, VERBS, OBJECTS, ENDS)]
        texts.append(f"{parts[0]} {parts[1]} {parts[2]}{parts[3]}")
    return tuple(texts)


def noisy(rates: dict[str, float], count: int = 400) -> list[str]:
    context, texts = NoiseContext("en", "auto", {}), list(sentences(5_000, count))
    for kind, rate in rates.items():
        texts = [
            add_noise(text, kind, rate, generator("noisy", kind, number), context).text
            for number, text in enumerate(texts)
        ]
    return texts


def estimated(texts: list[str]) -> dict[str, float]:
    forms = Counter(word for text in sentences(0, 400) for word in core_words(text))
    return estimate_rates(forms, sentences(1_000, 400), texts, "en")


def test_clean_text_has_next_to_none() -> None:
    assert all(rate < 0.03 for rate in estimated(noisy({})).values())


@pytest.mark.parametrize("kind", ESTIMATED)
@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_the_rate_of_one_kind_is_found_and_no_other(kind: str, rate: float) -> None:
    """2,400 words: three standard deviations of a share of 0.2 are 0.025, and marks are a
    quarter of that."""
    rates = estimated(noisy({kind: rate}))
    assert rates.pop(kind) == pytest.approx(rate, abs=0.05)
    assert all(other < 0.05 for other in rates.values())


def test_several_kinds_are_told_apart() -> None:
    rates = {"spelling": 0.1, "keyboard": 0.04, "casing": 0.15, "emoji": 0.03}
    measured = estimated(noisy(rates))
    assert {kind: measured.get(kind, 0.0) for kind in rates} == pytest.approx(rates, abs=0.04)


def test_fillers_are_those_of_the_language() -> None:
    forms = Counter(word for text in sentences(0, 400) for word in core_words(text))
    texts = [f"{FILLERS['en'][0]}, {text}" for text in sentences(5_000, 100)]
    assert "fillers" in estimate_rates(forms, sentences(1_000, 100), texts, "en")
    assert "fillers" not in estimate_rates(forms, sentences(1_000, 100), texts, "cs")
