"""Nouns, verbs and adjectives of the synthetic language pair with all their inflected forms."""

from __future__ import annotations

import re
from typing import NamedTuple

from toy_languages.tables import inflect

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
# Articles and adjectives treat the plural like a fourth gender.
MASCULINE, FEMININE, NEUTER, PLURAL = range(4)
GENDERS = {"der": MASCULINE, "die": FEMININE, "das": NEUTER}


class Noun(NamedTuple):
    """A noun: German forms by number (0, 1) and case, English forms by number."""

    kind: str
    gender: int
    german: tuple[tuple[str, ...], ...]
    english: tuple[str, str]
    first: str  # German form as the first part of a compound
    pronoun: str  # English pronoun for the singular


class English(NamedTuple):
    """The forms of an English verb, and the words that follow it unchanged."""

    base: str
    third: str
    past: str
    participle: str
    progressive: str
    rest: str = ""


class Verb(NamedTuple):
    """A verb: German finite forms by person (ich, du, er, wir, ihr, sie), without the separable
    prefix."""

    infinitive: str
    present: tuple[str, ...]
    preterite: tuple[str, ...]
    participle: str
    prefix: str  # ends with a space if it is a separate word (Hunger haben)
    with_sein: bool  # forms the perfect with sein
    reflexive: bool
    english: English
    subjects: str  # kinds of noun
    objects: str
    ongoing: bool  # has an English progressive

    @property
    def full_infinitive(self) -> str:
        """The infinitive with its prefix: `sehen`, `aufstehen`."""
        return self.prefix + self.infinitive

    @property
    def zu_infinitive(self) -> str:
        """The infinitive with zu: `zu sehen`, `aufzustehen`."""
        return f"{self.prefix}zu{'' if self.separable else ' '}{self.infinitive}"

    @property
    def separable(self) -> bool:
        """Whether adjacent prefix and verb are written as one word."""
        return bool(self.prefix) and not self.prefix.endswith(" ")


class Adjective(NamedTuple):
    """An adjective: `stem` takes endings, `german` is the predicate and the adverb."""

    german: str
    stem: str
    comparative: str
    english: str
    english_comparative: str
    adverb: str  # English; may be empty
    kinds: str


def noun(
    kind: str, article: str, singular: str, plural: str, english: str, english_plural: str = ""
) -> Noun:
    """Return a noun from its columns in the table `nouns`."""
    article, _, pronoun = article.partition("/")
    singular, _, link = singular.partition("+")
    bare, gender = singular.rstrip("*"), GENDERS[article]
    if singular != bare:
        cases, first = (bare, plural, plural, plural), plural
    else:
        genitive = bare if gender == FEMININE else inflect("genitive", bare)
        cases, first = (bare, bare, bare, genitive), bare + link
    plurals = (plural, plural, inflect("dative plural", plural), plural)
    pronoun = pronoun or (("he", "she", "it")[gender] if kind == "p" else "it")
    both = (english, english_plural or inflect("s", english))
    return Noun(kind, gender, (cases, plurals), both, first, pronoun)


def compound(modifier: Noun, head: Noun) -> Noun:
    """Return a compound, one German word and two English ones: Haustür, house door."""
    german = [tuple(modifier.first + form.lower() for form in number) for number in head.german]
    singular, plural = (f"{modifier.english[0]} {form}" for form in head.english)
    first = modifier.first + head.first.lower()
    return Noun(head.kind, head.gender, tuple(german), (singular, plural), first, head.pronoun)


def verb(kinds: str, german: str, english: str) -> Verb:
    """Return a verb from its columns in the table `verbs`."""
    subjects, _, objects = kinds.partition(">")
    parts = german.split()
    flags = {part for part in parts if part in ("ist", "sich")}
    lemma, *strong = (part for part in parts if part not in flags)
    prefix, _, infinitive = lemma.rpartition("-")
    if "_" in lemma:
        prefix, _, infinitive = lemma.replace("_", " ").rpartition(" ")
        prefix += " "
    weak = inflect("third", inflect("stem", infinitive))
    third, past, participle = strong or (weak, f"{weak}e", _weak_participle(weak, prefix))
    present = (inflect("ich", infinitive), inflect("du", third), third, infinitive, weak)
    preterite = (past, inflect("du past", past), past, inflect("wir past", past))
    return Verb(
        infinitive,
        (*present, infinitive),
        (*preterite, inflect("ihr past", past), preterite[-1]),
        prefix + participle,
        prefix,
        "ist" in flags,
        "sich" in flags,
        english_verb(english.replace("!", "")),
        subjects,
        objects,
        "!" not in english,
    )


def _weak_participle(third: str, prefix: str) -> str:
    """Return the participle: gesucht; besucht and repariert have no ge-."""
    inseparable = not prefix and re.match("be|er|ge|ver|zer", third)
    return third if inseparable or third.endswith("iert") else f"ge{third}"


def english_verb(entry: str) -> English:
    """Return a verb from its base, its past and participle if irregular, and `+rest`."""
    words = entry.split()
    rest = " ".join(word[1:] for word in words if word.startswith("+")).replace("_", " ")
    base, *irregular = (word for word in words if not word.startswith("+"))
    if base == "be":
        return English("be", "is", "was", "been", "being", rest)
    past, participle = irregular or [inflect("past", base)] * 2
    return English(base, inflect("s", base), past, participle, inflect("ing", base), rest)


def adjective(
    german: str, comparative: str, english: str, kinds: str, adverb: str = ""
) -> Adjective:
    """Return an adjective from its columns in the table `adjectives`."""
    german, _, stem = german.partition("~")
    more = inflect("comparative", english)
    return Adjective(german, stem or german, comparative, english, more, adverb, kinds)
