"""Noun phrases, pronouns and numbers of the synthetic language pair: German in its case, and
English."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from toy_languages import words
from toy_languages.inflection import DATIVE, PLURAL, Adjective, Noun
from toy_languages.words import rows

# Endings by case (nominative, accusative, dative, genitive) and gender (masculine, feminine,
# neuter, plural).
STRONG = (
    ("er", "e", "es", "e"),
    ("en", "e", "es", "e"),
    ("em", "er", "em", "en"),
    ("es", "er", "es", "er"),
)
WEAK = (("e", "e", "e", "en"), ("en", "e", "e", "en"), ("en",) * 4, ("en",) * 4)
MIXED = (("er", "e", "es", "en"), ("en", "e", "es", "en"), ("en",) * 4, ("en",) * 4)
EIN = (("", "e", "", "e"), ("en", "e", "", "e"), *STRONG[DATIVE:])
DEFINITE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
    ("des", "der", "des", "der"),
)
RELATIVE = (*DEFINITE[:DATIVE], ("dem", "der", "dem", "denen"))

CONTRACTIONS = {
    "in dem": "im",
    "in das": "ins",
    "an dem": "am",
    "an das": "ans",
    "zu dem": "zum",
    "zu der": "zur",
    "von dem": "vom",
    "durch das": "durchs",
}


class Both(NamedTuple):
    """The same words in both languages."""

    german: str
    english: str


class Determiner(NamedTuple):
    """The first word of a noun phrase: German forms and adjective endings by case and gender,
    English by number."""

    german: Sequence[Sequence[str]]
    endings: Sequence[Sequence[str]]
    english: tuple[str, str]


class Pronoun(NamedTuple):
    """A personal pronoun: German by case, English as subject and object, the stems of its
    possessive."""

    german: tuple[str, str, str]
    english: str
    english_object: str
    person: int  # 0 to 5: ich, du, er, wir, ihr, sie
    possessive: Both
    gender: int = PLURAL


class Phrase(NamedTuple):
    """A noun phrase or pronoun in its case."""

    german: str
    english: str
    english_object: str
    pronoun: Pronoun  # refers to the phrase
    light: bool = False  # a pronoun itself, which precedes other objects
    kind: str = ""  # kind of the noun

    @property
    def person(self) -> int:
        """The person of a verb with this subject."""
        return self.pronoun.person


ICH = Pronoun(("ich", "mich", "mir"), "I", "me", 0, Both("mein", "my"))
DU = Pronoun(("du", "dich", "dir"), "you", "you", 1, Both("dein", "your"))
WIR = Pronoun(("wir", "uns", "uns"), "we", "us", 3, Both("unser", "our"))
IHR = Pronoun(("ihr", "euch", "euch"), "you", "you", 4, Both("euer", "your"))
THEY = Pronoun(("sie", "sie", "ihnen"), "they", "them", 5, Both("ihr", "their"))
FORMAL = Pronoun(("Sie", "Sie", "Ihnen"), "you", "you", 5, Both("Ihr", "your"))
_GERMAN = (("er", "ihn", "ihm"), ("sie", "sie", "ihr"), ("es", "es", "ihm"))
_ENGLISH = {"he": ("him", "his"), "she": ("her", "her"), "it": ("it", "its")}
SINGULAR = {  # German uses er, sie, es by grammatical gender, English he, she, it by natural gender
    (gender, english): Pronoun(
        german, english, other, 2, Both("ihr" if gender == 1 else "sein", possessive), gender
    )
    for gender, german in enumerate(_GERMAN)
    for english, (other, possessive) in _ENGLISH.items()
}


@cache
def der_word(stem: str, english: str, english_plural: str) -> Determiner:
    """Return a determiner with the endings of the definite article: dieser, jeder."""
    return Determiner(
        [[stem + ending for ending in case] for case in STRONG], WEAK, (english, english_plural)
    )


@cache
def ein_word(stem: str, english: str, english_plural: str) -> Determiner:
    """Return a determiner with the endings of the indefinite article: ein, kein, mein.

    Euer loses its second e.
    """
    short = "eur" if stem == "euer" else stem
    forms = [[short + ending if ending else stem for ending in case] for case in EIN]
    return Determiner(forms, MIXED, (english, english_plural))


@cache
def strong_word(german: str, english: str) -> Determiner:
    """Return an uninflected determiner, such as a number or a name's genitive.

    Adjectives take strong endings.
    """
    return Determiner(((german,) * 4,) * 4, STRONG, (english, english))


THE = Determiner(DEFINITE, WEAK, ("the", "the"))
A = ein_word("ein", "a", "")
NO = ein_word("kein", "a", "any")  # the English verb is negated
THIS = der_word("dies", "this", "these")
EVERY = der_word("jed", "every", "all")
MANY = Determiner([[f"viel{ending}" for ending in case] for case in STRONG], STRONG, ("", "many"))
BARE = strong_word("", "")


def noun_phrase(
    determiner: Determiner,
    adjectives: Sequence[Adjective],
    noun: Noun,
    case: int,
    *,
    plural: bool = False,
    of: Phrase | None = None,
) -> Phrase:
    """Return a noun phrase: das kleine Haus der Frau, the woman's small house; `of` is in the
    genitive."""
    gender = PLURAL if plural else noun.gender
    german, text = determiner.german[case][gender], ""
    ending = determiner.endings[case][gender]
    for adjective in adjectives:
        german += f" {adjective.stem}{ending}"
        text += f"{adjective.english} "
    german = f"{german} {noun.german[plural][case]}".lstrip()
    text += noun.english[plural]
    english = determiner.english[plural]
    if of:
        german = f"{german} {of.german}"
        english = of.english + ("'" if of.english.endswith("s") else "'s")
    elif english == "a" and text[0] in "aeiou":
        english = "an"
    text = f"{english} {text}" if english else text
    pronoun = THEY if plural else SINGULAR[noun.gender, noun.pronoun]
    return Phrase(german, text, text, pronoun, kind=noun.kind)


def pronoun_phrase(pronoun: Pronoun, case: int) -> Phrase:
    """Return a pronoun as a phrase: er, ihn, ihm; he, him."""
    return Phrase(
        pronoun.german[case], pronoun.english, pronoun.english_object, pronoun, light=True
    )


def relative_pronoun(antecedent: Phrase, case: int) -> Phrase:
    """Return a relative pronoun: der, den, dem; who for people, that for the rest."""
    pronoun = antecedent.pronoun
    english = "who" if pronoun.english in ("he", "she") else "that"
    return Phrase(RELATIVE[case][pronoun.gender], english, english, pronoun)


def prepositional(preposition: Both, phrase: Phrase) -> Both:
    """Return a preposition and a phrase, contracted: in dem Haus becomes im Haus."""
    german = f"{preposition.german} {phrase.german}"
    words = german.split(" ", 2)
    short = CONTRACTIONS.get(f"{words[0]} {words[1]}")
    return Both(
        f"{short} {words[2]}" if short else german, f"{preposition.english} {phrase.english_object}"
    )


NUMBERS = [Both(*row) for row in rows(words.NUMBERS)]
TENS = [Both(*row) for row in rows(words.TENS)]


def number(value: int) -> Both:
    """Return a number from 2 to 99 in words; German has units before tens: dreiundzwanzig,
    twenty-three."""
    if value < len(NUMBERS):
        return NUMBERS[value]
    tens, units = TENS[value // 10 - 2], NUMBERS[value % 10]
    return (
        Both(f"{units.german}und{tens.german}", f"{tens.english}-{units.english}")
        if value % 10
        else tens
    )
