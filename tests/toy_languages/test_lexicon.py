from itertools import islice

import pytest

from toy_languages.inflection import Adjective, Noun, Verb
from toy_languages.lexicon import RARE, SYLLABLES, Lexicon, rare_words


def lemmas(word: Noun | Verb | Adjective) -> tuple[str, str]:
    if isinstance(word, Noun):
        return word.german[0][0], word.english[0]
    if isinstance(word, Verb):
        return word.full_infinitive, f"{word.english.base} {word.english.rest}".rstrip()
    return word.german, word.english


def test_rare_words_are_translated_syllable_by_syllable() -> None:
    translation = dict(SYLLABLES)
    assert len(translation) == len(set(translation.values())) == len(SYLLABLES) == 124
    endings = {ending: english for _, _, ending, _, _, english in RARE["noun"]}
    nouns = [word for word, _ in islice(rare_words(), 300) if isinstance(word, Noun)]
    for word in nouns:
        german, english = lemmas(word)
        readings = {
            translated + endings[ending]
            for ending in endings
            if german.endswith(ending)
            for translated in translations(german.removesuffix(ending).lower(), translation)
        }
        assert english in readings


def translations(stem: str, translation: dict[str, str]) -> list[str]:
    if not stem:
        return [""]
    return [
        english + rest
        for syllable, english in translation.items()
        if stem.startswith(syllable)
        for rest in translations(stem.removeprefix(syllable), translation)
    ]


def test_no_two_rare_words_share_a_form() -> None:
    pairs = [lemmas(word) for word, _ in islice(rare_words(), 5_000)]
    assert len({german for german, _ in pairs}) == len({english for _, english in pairs}) == 5_000


def test_a_smaller_lexicon_is_part_of_a_larger_one() -> None:
    small, large = Lexicon(500), Lexicon(1_000)
    for kind in "patfis":
        known = small.nouns(kind).items
        assert large.nouns(kind).items[: len(known)] == known
    for frame, verbs in small.verbs.items():
        assert large.verbs[frame].items[: len(verbs.items)] == verbs.items


def test_size_counts_the_entries() -> None:
    lexicon = Lexicon(1_234)
    nouns = sum(len(lexicon.nouns(kind).items) for kind in "patfis")
    verbs = sum(len(frame.items) for frame in lexicon.verbs.values())
    adjectives = {word for kind in lexicon.adjectives.values() for word in kind.items}
    assert nouns + verbs + len(adjectives) == 1_234


@pytest.mark.parametrize("size", [0, 100, 50_001])
def test_impossible_sizes(size: int) -> None:
    with pytest.raises(ValueError, match=f"no lexicon of {size} entries"):
        Lexicon(size)


def test_context_decides_between_two_translations() -> None:
    lexicon = Lexicon(500)
    castle = {
        kind: word
        for kind in "patfis"
        for word in lexicon.nouns(kind).items
        if word.german[0][0] == "Schloss"
    }
    assert {kind: word.english[0] for kind, word in castle.items()} == {"t": "lock", "i": "castle"}
