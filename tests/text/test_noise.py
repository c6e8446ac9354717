"""Noise in texts: what each kind changes, how often, and that series of rates nest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from augury.core.errors import UserError
from augury.core.rng import generator
from augury.core.words import clusters
from augury.text.noise import (
    NoiseContext,
    add_noise,
    confusions,
    core_words,
    phonetic_key,
    require_language,
)

TEXT = "Their dog, who wrote to me here, did not know two words. " * 40
WORDS = len(TEXT.split())
ENGLISH = NoiseContext(
    "en", confusions([*core_words(TEXT), "there", "too", "hear", "no", "rote"], "en")
)


def changed(kind: str, rate: float, text: str = TEXT) -> str:
    return add_noise(text, kind, rate, generator("test", kind), ENGLISH)


def places(kind: str, rate: float) -> set[int]:
    """Words that change, for kinds that leave their number as it is."""
    pairs = zip(TEXT.split(), changed(kind, rate).split(), strict=True)
    return {place for place, (old, new) in enumerate(pairs) if old != new}


def test_the_rate_is_the_share_of_words() -> None:
    """480 words; three standard deviations of a share of 0.3 are 0.063."""
    assert len(places("spelling", 0.3)) / WORDS == pytest.approx(0.3, abs=0.063)
    assert len(places("spelling", 1.0)) == WORDS


@pytest.mark.parametrize("kind", ["asr", "spelling"])
def test_a_lower_rate_changes_some_of_the_same_words_alike(kind: str) -> None:
    few, many = changed(kind, 0.1).split(), changed(kind, 0.3).split()
    assert places(kind, 0.1) < places(kind, 0.3)
    assert all(few[place] == many[place] for place in places(kind, 0.1))


@given(
    st.lists(st.text(alphabet="aBé'1", min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(0, 99),
)
def test_a_misspelt_word_is_one_edit_away(words: list[str], seed: int) -> None:
    for old, new in zip(
        words,
        add_noise(" ".join(words), "spelling", 1.0, generator(seed), ENGLISH).split(" "),
        strict=True,
    ):
        assert new and OSA.distance(old, new) <= 1
        assert any(map(str.isalpha, old)) or new == old


def test_words_that_sound_alike_have_one_key() -> None:
    for language, words in (
        ("en", "their there they're"),
        ("de", "das dass daß"),
        ("fr", "chanter chanté chantez chantait"),
    ):
        assert len({phonetic_key(word, language) for word in words.split()}) == 1


def test_words_are_confused_with_those_that_sound_alike() -> None:
    heard = changed("asr", 1.0).split()[:12]
    assert (
        " ".join([*heard[:4], *heard[5:10], heard[11]])
        == "There dog, who rote me hear, did not no words."
    )
    assert heard[4] in ("too", "two") and heard[10] in ("to", "too")
    with pytest.raises(UserError, match="noise asr does not support 'cs'"):
        require_language(["asr"], "cs")
    require_language(["spelling"], "cs")


HINDI = "कुत्ते पार्क में दौड़ते हैं और बच्चे उन्हें देखते हैं " * 20


def test_letters_keep_their_marks() -> None:
    """Vowel signs are part of a letter: none stands alone, is doubled or left over."""
    noised = add_noise(HINDI, "spelling", 1.0, generator("marks"), NoiseContext("hi", {}))
    assert set(clusters(noised)) <= {*clusters(HINDI)} and noised != HINDI
