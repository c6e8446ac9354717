"""The lexicon of the synthetic language pair: hand-written words and a long tail of invented
ones, Zipf-distributed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, zip_longest
from typing import Generic, TypeVar

from toy_languages import words
from toy_languages.inflection import Adjective, Noun, Verb, adjective, noun, verb
from toy_languages.randomness import generator
from toy_languages.words import entries, rows

T = TypeVar("T")
Draw = Callable[[], float]  # returns the next number of a random stream, uniform on [0, 1)

EXPONENT, SHIFT = (
    1.3,
    3.0,
)  # of the Zipf-Mandelbrot law: rank r = 0, 1, ... has weight (r + SHIFT) ** -EXPONENT
LARGEST = 50_000  # entries
SYLLABLES = [tuple(pair.split("=")) for pair in words.SYLLABLES.split()]  # German, English


class Zipf(Generic[T]):
    """Items in order of decreasing frequency."""

    def __init__(self, items: Sequence[T]):
        self.items = items
        weights = list(accumulate((rank + SHIFT) ** -EXPONENT for rank in range(len(items))))
        self._cumulative = [weight / weights[-1] for weight in weights]

    def pick(self, draw: Draw) -> T:
        """Return a random item by frequency."""
        return self.items[bisect_right(self._cumulative, draw())]


class Lexicon:
    """A lexicon of `size` entries, a subset of any larger one.

    Raises ValueError for an unsupported size.
    """

    def __init__(self, size: int):
        nouns = {
            kind: [noun(kind, *row) for row in rows(table)] for kind, table in words.NOUNS.items()
        }
        verbs = {
            frame: [read_verb(entry) for entry in entries(table)]
            for frame, table in words.VERBS.items()
        }
        adjectives = [adjective(*row) for row in rows(words.ADJECTIVES)]
        written = len(adjectives) + sum(map(len, nouns.values())) + sum(map(len, verbs.values()))
        if not written <= size <= LARGEST:
            raise ValueError(
                f"the built-in corpus has no lexicon of {size} entries: {written} are "
                "hand-written, more are invented; "
                f"give a number from {written} to {LARGEST}"
            )
        for _, (word, frame) in zip(range(size - written), rare_words(), strict=False):
            if isinstance(word, Noun):
                nouns[word.kind].append(word)
            elif isinstance(word, Verb):
                verbs[frame].append(word)
            else:
                adjectives.append(word)
        self.size = size
        self._nouns = nouns
        self._nouns_of: dict[str, Zipf[Noun]] = {}
        self.verbs = {frame: Zipf(verbs_of_frame) for frame, verbs_of_frame in verbs.items()}
        self.adjectives = {
            kind: Zipf([word for word in adjectives if kind in word.kinds]) for kind in nouns
        }
        self.adverbs = Zipf([word for word in adjectives if word.adverb])

    def nouns(self, kinds: str) -> Zipf[Noun]:
        """Return the nouns of all `kinds`, interleaved by rank."""
        if kinds not in self._nouns_of:
            ranks = zip_longest(*(self._nouns[kind] for kind in kinds))
            self._nouns_of[kinds] = Zipf(
                [word for rank in ranks for word in rank if word is not None]
            )
        return self._nouns_of[kinds]


@cache
def lexicon_of(size: int) -> Lexicon:
    """Return the lexicon of a size, created once per process."""
    return Lexicon(size)


def read_verb(entry: str) -> Verb:
    """Return a verb from its entry in `words.VERBS`."""
    german, _, english = entry.partition(" = ")
    kinds, _, german = german.partition(" ")
    subjects, _, objects = kinds.partition(">")
    return verb(subjects, objects, german, english)


def rare_words() -> Iterator[tuple[Noun | Verb | Adjective, str]]:
    """Yield an infinite stream of invented words, unique in both languages, with the frames of
    verbs."""
    draw = generator("builtin", "lexicon").random
    nouns, verbs, adjectives = (
        rows(words.RARE_NOUNS),
        rows(words.RARE_VERBS),
        rows(words.RARE_ADJECTIVES),
    )
    seen: set[str] = set()
    while True:
        count = 1 + (draw() > 0.15) + (draw() > 0.8)
        parts = [choose(SYLLABLES, draw) for _ in range(count)]
        german, english = ("".join(part[side] for part in parts) for side in (0, 1))
        part_of_speech, frame = draw(), ""
        word: Noun | Verb | Adjective
        if part_of_speech < 0.6:
            word = rare_noun(german, english, *choose(nouns, draw))
            lemmas = {word.german[0][0], word.english[0]}
        elif part_of_speech < 0.8:
            frame, kinds = choose(verbs, draw)
            word = rare_verb(german, english, frame, kinds, draw)
            lemmas = {word.full_infinitive, f"to {word.english.base} {word.english.rest}"}
        else:
            ending, english_ending, adverb = choose(adjectives, draw)
            word = adjective(
                german + ending,
                german + ending + "er",
                english + english_ending,
                "patfis",
                english + adverb,
            )
            lemmas = {word.german, word.english}
        if not lemmas & seen:
            seen |= lemmas
            yield word, frame


def rare_noun(
    german: str,
    english: str,
    kind: str,
    article: str,
    ending: str,
    plural: str,
    link: str,
    english_ending: str,
) -> Noun:
    """Return a noun from a stem and an entry of `words.RARE_NOUNS`."""
    stem = german.capitalize()
    return noun(
        kind, article, f"{stem}{ending}+{link.strip('-')}", stem + plural, english + english_ending
    )


def rare_verb(german: str, english: str, frame: str, kinds: str, draw: Draw) -> Verb:
    """Return a verb from a stem: one third have a separable prefix, one sixth an inseparable
    one."""
    infinitive = german + ("hen" if german[-1] in "aeiouäöü" else "en")
    chance, particle = draw(), ""
    if chance < 1 / 3:
        prefix = choose(list(words.SEPARABLE), draw)
        infinitive, particle = f"{prefix}-{infinitive}", f" +{words.SEPARABLE[prefix]}"
    elif chance < 1 / 2:
        prefix = choose(list(words.INSEPARABLE), draw)
        infinitive, english = prefix + infinitive, words.INSEPARABLE[prefix] + english
    return read_verb(
        f"{kinds} {'ist ' if frame == 'motion' else ''}{infinitive} = {english}{particle}"
    )


def choose(items: Sequence[T], draw: Draw) -> T:
    """Return a uniformly random item."""
    return items[int(draw() * len(items))]
