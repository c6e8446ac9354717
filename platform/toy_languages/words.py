"""The words of the German-like language with their translations and all inflected forms: those of
the tables, and a long tail of invented ones, Zipf-distributed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from toy_languages.randomness import Drawer, Zipf, generator

NOMINATIVE, ACCUSATIVE, DATIVE = range(3)
# Articles and adjectives treat the plural like a fourth gender.
MASCULINE, FEMININE, NEUTER, PLURAL = range(4)
GENDERS = {"der": MASCULINE, "die": FEMININE, "das": NEUTER}
FIRST, THIRD, PLURALS = range(3)  # persons of verbs: ich; er, sie, es; wir and sie
LARGEST = 50_000  # words of a lexicon


class Both(NamedTuple):
    """The same words in both languages."""

    german: str
    english: str


class Noun(NamedTuple):
    """A noun: German forms by number (0, 1) and case, English forms by number."""

    kind: str
    gender: int
    german: tuple[tuple[str, ...], tuple[str, ...]]
    english: tuple[str, str]
    first: str  # German form as the first part of a compound
    pronoun: str  # English pronoun for the singular


class Verb(NamedTuple):
    """A verb: German finite forms by person, without the separable prefix."""

    frame: str
    subjects: str  # kinds of noun
    objects: str
    prefix: str
    infinitive: str
    present: tuple[str, str, str]
    preterite: tuple[str, str, str]
    participle: str
    with_sein: bool  # forms the perfect with sein
    english: tuple[str, str, str]  # base, third person, past
    particle: str  # English words after the verb


class Adjective(NamedTuple):
    """An adjective: `stem` takes endings, `german` is the predicate."""

    german: str
    stem: str
    english: str
    kinds: str


Word = Noun | Verb | Adjective


def table(name: str) -> list[list[str]]:
    """Return the rows of a table: tab-separated, comments behind `#`."""
    text = Path(__file__).with_name("tables").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


@cache
def grouped(name: str) -> dict[str, list[list[str]]]:
    """Return the rows of a table, without their first column, by this column."""
    groups: dict[str, list[list[str]]] = {}
    for group, *row in table(name):
        groups.setdefault(group, []).append(row)
    return groups


def inflect(rule: str, word: str) -> str:
    """Return the form of a word by a rule of inflection: that of the first pattern that matches."""
    for pattern, replacement in grouped("rules")[rule]:
        form, replaced = re.subn(pattern, replacement, word, count=1)
        if replaced:
            return form
    raise ValueError(f"no form of '{word}' by the rule '{rule}'")


def noun(
    kind: str, article: str, singular: str, plural: str, english: str, english_plural: str = ""
) -> Noun:
    """Return a noun from its columns in the table `nouns`."""
    article, _, pronoun = article.partition("/")
    singular, _, link = singular.partition("+")
    bare, gender = singular.rstrip("*"), GENDERS[article]
    is_weak = singular != bare
    cases = (bare, plural, plural) if is_weak else (bare, bare, bare)
    plurals = (plural, plural, inflect("dative plural", plural))
    pronoun = pronoun or (("he", "she", "it")[gender] if kind == "p" else "it")
    both = (english, english_plural or inflect("s", english))
    first = plural if is_weak else bare + link
    return Noun(kind, gender, (cases, plurals), both, first, pronoun)


def compound(modifier: Noun, head: Noun) -> Noun:
    """Return a compound, one German word and two English ones: Haustür, house door."""
    singular, plural = (
        tuple(modifier.first + form.lower() for form in forms) for forms in head.german
    )
    one, several = (f"{modifier.english[0]} {form}" for form in head.english)
    first = modifier.first + head.first.lower()
    return head._replace(german=(singular, plural), english=(one, several), first=first)


def verb(frame: str, kinds: str, german: str, english: str) -> Verb:
    """Return a verb from its columns in the table `verbs`."""
    subjects, _, objects = kinds.partition(">")
    lemma, *strong = german.removeprefix("ist ").split()
    prefix, _, infinitive = lemma.rpartition("-")
    weak = inflect("third", inflect("stem", infinitive))
    participle = weak if weak.endswith("iert") else f"ge{weak}"
    if not prefix and re.match("be|er|ge|ver|zer", weak):
        participle = weak
    third, past, participle = strong or (weak, f"{weak}e", participle)
    words, _, particle = english.partition(" +")
    base, *irregular = words.split()
    (english_past,) = irregular or [inflect("past", base)]
    return Verb(
        frame,
        subjects,
        objects,
        prefix,
        infinitive,
        (inflect("ich", infinitive), third, infinitive),
        (past, past, inflect("wir past", past)),
        prefix + participle,
        german.startswith("ist "),
        (base, inflect("s", base), english_past),
        particle.replace("_", " "),
    )


def adjective(german: str, english: str, kinds: str = "patfis") -> Adjective:
    """Return an adjective from its columns in the table `adjectives`."""
    german, _, stem = german.partition("~")
    return Adjective(german, stem or german, english, kinds)


@cache
def written() -> list[Word]:
    """Return the words of the tables."""
    words: list[Word] = [noun(*row) for row in table("nouns")]
    words += [verb(*row) for row in table("verbs")]
    return words + [adjective(*row) for row in table("adjectives")]


def invented() -> Iterator[Word]:
    """Yield an infinite stream of words, unique in both languages: of ten, six are nouns, two verbs
    and two adjectives."""
    drawer, parts = Drawer(generator("builtin", "lexicon").random), grouped("rare")
    seen: set[str] = set()
    word: Word
    while True:
        count = 1 + drawer.chance(0.85) + drawer.chance(0.2)
        syllables = [drawer.one_of(parts["syllable"]) for _ in range(count)]
        german, english = map("".join, zip(*syllables, strict=True))
        part_of_speech = drawer.draw()
        if part_of_speech < 0.6:
            kind, article, ending, plural, link, english_ending = drawer.one_of(parts["noun"])
            stem, english = german.capitalize(), english + english_ending
            word = noun(kind, article, f"{stem}{ending}+{link}", stem + plural, english)
            lemmas = {word.german[0][0], english}
        elif part_of_speech < 0.8:
            frame, kinds = drawer.one_of(parts["verb"])
            german += "hen" if german[-1] in "aeiouäöü" else "en"
            if drawer.chance(1 / 3):
                prefix, particle = drawer.one_of(parts["separable"])
                german, english = f"{prefix}-{german}", f"{english} +{particle}"
            word = verb(frame, kinds, f"ist {german}" if frame == "motion" else german, english)
            lemmas = {german, f"to {english}"}
        else:
            ending, english_ending = drawer.one_of(parts["adjective"])
            word = adjective(german + ending, english + english_ending)
            lemmas = {word.german, word.english}
        if not lemmas & seen:
            seen |= lemmas
            yield word


class Lexicon:
    """A lexicon of `size` words, the beginning of any larger one."""

    def __init__(self, size: int):
        self.size = size
        self._nouns: dict[str, list[Noun]] = {}
        self._interleaved: dict[str, Zipf[Noun]] = {}
        verbs: dict[str, list[Verb]] = {}
        adjectives: list[Adjective] = []
        for word in [*written(), *islice(invented(), size - len(written()))]:
            if isinstance(word, Noun):
                self._nouns.setdefault(word.kind, []).append(word)
            elif isinstance(word, Verb):
                verbs.setdefault(word.frame, []).append(word)
            else:
                adjectives.append(word)
        self.verbs = {frame: Zipf(words) for frame, words in verbs.items()}
        self.adjectives = {kind: Zipf(_fitting(adjectives, kind)) for kind in self._nouns}

    def nouns(self, kinds: str) -> Zipf[Noun]:
        """Return the nouns of all `kinds`, interleaved by rank."""
        if kinds not in self._interleaved:
            ranks = zip_longest(*(self._nouns[kind] for kind in kinds))
            nouns = filter(None, chain.from_iterable(ranks))
            self._interleaved[kinds] = Zipf(list(nouns))
        return self._interleaved[kinds]


def _fitting(adjectives: list[Adjective], kind: str) -> list[Adjective]:
    return [word for word in adjectives if kind in word.kinds]


@cache
def lexicon_of(size: int) -> Lexicon:
    """Return the lexicon of a size, created once per process."""
    return Lexicon(size)
