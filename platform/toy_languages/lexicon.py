"""The lexicon of the synthetic language pair: hand-written words and a long tail of invented
ones, Zipf-distributed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property, partial
from itertools import islice, starmap, zip_longest
from typing import NamedTuple

from toy_languages.inflection import Adjective, Noun, Verb, adjective, noun, verb
from toy_languages.randomness import Drawer, Zipf, generator
from toy_languages.tables import grouped, table

LARGEST = 50_000  # entries
RARE = grouped("rare")
SYLLABLES = [(german, english) for german, english in RARE["syllable"]]


class Words(NamedTuple):
    """The words of a lexicon, by rank."""

    nouns: dict[str, list[Noun]]
    """By kind."""
    verbs: dict[str, list[Verb]]
    """By frame."""
    adjectives: list[Adjective]


class Lexicon:
    """A lexicon of `size` entries, a subset of any larger one; they are inflected when the first is
    asked for.

    Raises ValueError for an unsupported size.
    """

    def __init__(self, size: int):
        tables = table("adjectives"), *grouped("nouns").values(), *grouped("verbs").values()
        written = sum(map(len, tables))
        if not written <= size <= LARGEST:
            raise ValueError(
                f"the built-in corpus has no lexicon of {size} entries: {written} are "
                f"hand-written, more are invented; give a number from {written} to {LARGEST}"
            )
        self.size, self._rare = size, size - written
        self._nouns_of: dict[str, Zipf[Noun]] = {}

    @cached_property
    def _words(self) -> Words:
        words = Words(
            nouns={
                kind: list(starmap(partial(noun, kind), rows))
                for kind, rows in grouped("nouns").items()
            },
            verbs={frame: list(starmap(verb, rows)) for frame, rows in grouped("verbs").items()},
            adjectives=[adjective(*row) for row in table("adjectives")],
        )
        for word, frame in islice(rare_words(), self._rare):
            if isinstance(word, Noun):
                words.nouns[word.kind].append(word)
            elif isinstance(word, Verb):
                words.verbs[frame].append(word)
            else:
                words.adjectives.append(word)
        return words

    @cached_property
    def verbs(self) -> dict[str, Zipf[Verb]]:
        """The verbs by frame."""
        return {frame: Zipf(verbs) for frame, verbs in self._words.verbs.items()}

    @cached_property
    def adjectives(self) -> dict[str, Zipf[Adjective]]:
        """The adjectives by the kind of nouns that they go with."""
        return {
            kind: Zipf([word for word in self._words.adjectives if kind in word.kinds])
            for kind in self._words.nouns
        }

    @cached_property
    def adverbs(self) -> Zipf[Adjective]:
        """The adjectives that have an adverb."""
        return Zipf([word for word in self._words.adjectives if word.adverb])

    def nouns(self, kinds: str) -> Zipf[Noun]:
        """Return the nouns of all `kinds`, interleaved by rank."""
        if kinds not in self._nouns_of:
            nouns: list[Noun] = []
            for rank in zip_longest(*(self._words.nouns[kind] for kind in kinds)):
                nouns += [word for word in rank if word is not None]
            self._nouns_of[kinds] = Zipf(nouns)
        return self._nouns_of[kinds]


@cache
def lexicon_of(size: int) -> Lexicon:
    """Return the lexicon of a size, created once per process."""
    return Lexicon(size)


def rare_words() -> Iterator[tuple[Noun | Verb | Adjective, str]]:
    """Yield an infinite stream of invented words, unique in both languages, with the frames of
    verbs."""
    drawer = Drawer(generator("builtin", "lexicon").random)
    seen: set[str] = set()
    word: Noun | Verb | Adjective
    while True:
        count = 1 + (drawer.draw() > 0.15) + (drawer.draw() > 0.8)
        syllables = [drawer.one_of(SYLLABLES) for _ in range(count)]
        german, english = map("".join, zip(*syllables, strict=True))
        part_of_speech, frame = drawer.draw(), ""
        if part_of_speech < 0.6:
            kind, article, ending, plural, link, english_ending = drawer.one_of(RARE["noun"])
            stem, english = german.capitalize(), english + english_ending
            word = noun(kind, article, f"{stem}{ending}+{link}", stem + plural, english)
            lemmas = {word.german[0][0], word.english[0]}
        elif part_of_speech < 0.8:
            frame, kinds = drawer.one_of(RARE["verb"])
            word = _rare_verb(drawer, german, english, frame, kinds)
            lemmas = {word.full_infinitive, f"to {word.english.base} {word.english.rest}"}
        else:
            ending, english_ending, adverb = drawer.one_of(RARE["adjective"])
            german += ending
            word = adjective(
                german, f"{german}er", english + english_ending, "patfis", english + adverb
            )
            lemmas = {word.german, word.english}
        if not lemmas & seen:
            seen |= lemmas
            yield word, frame


def _rare_verb(drawer: Drawer, german: str, english: str, frame: str, kinds: str) -> Verb:
    """Return a verb from a stem: one third have a separable prefix, one sixth an inseparable
    one."""
    infinitive = german + ("hen" if german[-1] in "aeiouäöü" else "en")
    chance = drawer.draw()
    if chance < 1 / 3:
        prefix, particle = drawer.one_of(RARE["separable"])
        infinitive, english = f"{prefix}-{infinitive}", f"{english} +{particle}"
    elif chance < 1 / 2:
        prefix, english_prefix = drawer.one_of(RARE["inseparable"])
        infinitive, english = prefix + infinitive, english_prefix + english
    return verb(kinds, f"ist {infinitive}" if frame == "motion" else infinitive, english)
