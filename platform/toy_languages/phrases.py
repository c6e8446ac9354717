"""Noun phrases, pronouns and numbers of the synthetic language pair: German in its case, and
English."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from toy_languages.inflection import ACCUSATIVE, DATIVE, PLURAL, Adjective, Noun
from toy_languages.tables import PAIRS, Both, table

Forms = Sequence[Sequence[str]]  # by case and gender


def _endings(case: str) -> list[str]:
    return ["" if form == "-" else form for form in case.split()]


ENDINGS: dict[str, Forms] = {name: list(map(_endings, cases)) for name, *cases in table("endings")}
CONTRACTIONS = dict(PAIRS["contraction"])


class Determiner(NamedTuple):
    """The first word of a noun phrase: German forms and adjective endings by case and gender,
    English by number."""

    german: Forms
    endings: Forms
    english: tuple[str, str]
    plural: float  # how often its noun is in the plural


class Pronoun(NamedTuple):
    """A personal pronoun: German by case, English as subject and object, the stems of its
    possessive."""

    german: tuple[str, str, str]
    english: str
    english_object: str
    person: int  # 0 to 5: ich, du, er, wir, ihr, sie
    possessive: Both
    gender: int


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


class Preposition(NamedTuple):
    """A preposition, the case it governs, its translation."""

    german: str
    case: int
    english: str

    @classmethod
    def read(cls, german: str, english: str) -> Preposition:
        """Read a preposition from `in3` and `in`."""
        return cls(german[:-1], {"3": DATIVE, "4": ACCUSATIVE}[german[-1]], english)


PRONOUNS = {
    name: Pronoun(
        (nominative, accusative, dative), english, other, int(person), Both(*stems), int(gender)
    )
    for name, nominative, accusative, dative, english, other, person, *stems, gender in table(
        "pronouns"
    )
}
SINGULAR = {(one.gender, one.english): one for one in PRONOUNS.values() if one.person == 2}


@cache
def determiner(
    stem: str, endings: str, adjectives: str, english: str, english_plural: str, plural: float = 0.2
) -> Determiner:
    """Return a determiner from its columns in the table `determiners`."""
    short = "eur" if stem == "euer" else stem  # it loses its second e before endings
    forms: list[list[str]] = []
    for case in ENDINGS[endings]:
        forms.append([short + ending if ending else stem for ending in case])
    return Determiner(forms, ENDINGS[adjectives], (english, english_plural), float(plural))


def possessive(stem: str, english: str) -> Determiner:
    """Return a possessive, which has the endings of the indefinite article: mein, euer."""
    return determiner(stem, "ein", "mixed", english, english)


def uninflected(german: str, english: str, plural: float = 0.2) -> Determiner:
    """Return a determiner without endings, such as a number or a name's genitive."""
    return determiner(german, "none", "strong", english, english, plural)


DETERMINERS = {name: determiner(*row) for name, *row in table("determiners")}


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
    ending = determiner.endings[case][gender]
    german = [determiner.german[case][gender], *(word.stem + ending for word in adjectives)]
    german += [noun.german[plural][case], of.german if of else ""]
    text = " ".join([*(word.english for word in adjectives), noun.english[plural]])
    english = determiner.english[plural]
    if of:
        english = of.english + ("'" if of.english.endswith("s") else "'s")
    elif english == "a" and text[0] in "aeiou":
        english = "an"
    text = f"{english} {text}".lstrip()
    pronoun = PRONOUNS["they"] if plural else SINGULAR[noun.gender, noun.pronoun]
    return Phrase(" ".join(filter(None, german)), text, text, pronoun, kind=noun.kind)


def pronoun_phrase(pronoun: Pronoun, case: int) -> Phrase:
    """Return a pronoun as a phrase: er, ihn, ihm; he, him."""
    german, english, other = pronoun.german[case], pronoun.english, pronoun.english_object
    return Phrase(german, english, other, pronoun, light=True)


def relative_pronoun(antecedent: Phrase, case: int) -> Phrase:
    """Return a relative pronoun: der, den, dem; who for people, that for the rest."""
    pronoun = antecedent.pronoun
    english = "who" if pronoun.english in ("he", "she") else "that"
    return Phrase(ENDINGS["relative"][case][pronoun.gender], english, english, pronoun)


def prepositional(preposition: Both, phrase: Phrase) -> Both:
    """Return a preposition and a phrase, contracted: in dem Haus becomes im Haus."""
    article, space, rest = phrase.german.partition(" ")
    start = f"{preposition.german} {article}"
    if space:
        start = CONTRACTIONS.get(start, start)
    return Both(f"{start}{space}{rest}", f"{preposition.english} {phrase.english_object}")


def number(value: int) -> Both:
    """Return a number from 2 to 99 in words; German has units before tens: dreiundzwanzig,
    twenty-three."""
    if value < len(PAIRS["number"]):
        return PAIRS["number"][value]
    tens, units = PAIRS["tens"][value // 10 - 2], PAIRS["number"][value % 10]
    if not value % 10:
        return tens
    return Both(f"{units.german}und{tens.german}", f"{tens.english}-{units.english}")
