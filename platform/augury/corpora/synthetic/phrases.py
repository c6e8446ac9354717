"""Noun phrases, pronouns and numbers of the synthetic language pair: German in its case, and English."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from augury.corpora.synthetic.inflection import DATIVE, PLURAL, Adjective, Noun

# Endings by case (nominative, accusative, dative, genitive) and gender (masculine, feminine, neuter, plural).
STRONG = (("er", "e", "es", "e"), ("en", "e", "es", "e"), ("em", "er", "em", "en"), ("es", "er", "es", "er"))
WEAK = (("e", "e", "e", "en"), ("en", "e", "e", "en"), ("en",) * 4, ("en",) * 4)
MIXED = (("er", "e", "es", "en"), ("en", "e", "es", "en"), ("en",) * 4, ("en",) * 4)
EIN = (("", "e", "", "e"), ("en", "e", "", "e"), *STRONG[DATIVE:])
DEFINITE = (("der", "die", "das", "die"), ("den", "die", "das", "die"), ("dem", "der", "dem", "den"),
            ("des", "der", "des", "der"))  # fmt: skip
RELATIVE = (*DEFINITE[:DATIVE], ("dem", "der", "dem", "denen"))

CONTRACTIONS = {
    "in dem": "im", "in das": "ins", "an dem": "am", "an das": "ans", "zu dem": "zum", "zu der": "zur",
    "von dem": "vom", "durch das": "durchs",
}  # fmt: skip


class Both(NamedTuple):
    """The same words in both languages."""

    german: str
    english: str


class Determiner(NamedTuple):
    """What stands before adjectives and noun: German by case and gender, endings of the adjectives, English by number."""

    german: Sequence[Sequence[str]]
    endings: Sequence[Sequence[str]]
    english: tuple[str, str]


class Pronoun(NamedTuple):
    """A personal pronoun: German by case, English as subject and object, the stems of its possessive."""

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
    pronoun: Pronoun  # that stands for it
    light: bool = False  # a pronoun itself, which stands before other objects
    kind: str = ""  # of its noun

    @property
    def person(self) -> int:
        """The person of the verb whose subject it is."""
        return self.pronoun.person


ICH = Pronoun(("ich", "mich", "mir"), "I", "me", 0, Both("mein", "my"))
DU = Pronoun(("du", "dich", "dir"), "you", "you", 1, Both("dein", "your"))
WIR = Pronoun(("wir", "uns", "uns"), "we", "us", 3, Both("unser", "our"))
IHR = Pronoun(("ihr", "euch", "euch"), "you", "you", 4, Both("euer", "your"))
THEY = Pronoun(("sie", "sie", "ihnen"), "they", "them", 5, Both("ihr", "their"))
FORMAL = Pronoun(("Sie", "Sie", "Ihnen"), "you", "you", 5, Both("Ihr", "your"))
_GERMAN = (("er", "ihn", "ihm"), ("sie", "sie", "ihr"), ("es", "es", "ihm"))
_ENGLISH = {"he": ("him", "his"), "she": ("her", "her"), "it": ("it", "its")}
SINGULAR = {  # German says er, sie, es by gender, English he, she, it by nature
    (gender, english): Pronoun(german, english, other, 2, Both("ihr" if gender == 1 else "sein", possessive), gender)
    for gender, german in enumerate(_GERMAN)
    for english, (other, possessive) in _ENGLISH.items()
}


@cache
def der_word(stem: str, english: str, english_plural: str) -> Determiner:
    """dieser, jeder: endings of the definite article."""
    return Determiner([[stem + ending for ending in case] for case in STRONG], WEAK, (english, english_plural))


@cache
def ein_word(stem: str, english: str, english_plural: str) -> Determiner:
    """ein, kein, mein: endings of the indefinite article; euer loses its second e before them."""
    short = "eur" if stem == "euer" else stem
    forms = [[short + ending if ending else stem for ending in case] for case in EIN]
    return Determiner(forms, MIXED, (english, english_plural))


@cache
def strong_word(german: str, english: str) -> Determiner:
    """Nothing, a number or a name's genitive: does not change, and adjectives take strong endings."""
    return Determiner(((german,) * 4,) * 4, STRONG, (english, english))


THE = Determiner(DEFINITE, WEAK, ("the", "the"))
A = ein_word("ein", "a", "")
NO = ein_word("kein", "a", "any")  # the English verb is negated
THIS = der_word("dies", "this", "these")
EVERY = der_word("jed", "every", "all")
MANY = Determiner([[f"viel{ending}" for ending in case] for case in STRONG], STRONG, ("", "many"))
BARE = strong_word("", "")


def noun_phrase(determiner: Determiner, adjectives: Sequence[Adjective], noun: Noun, case: int, *,
                plural: bool = False, of: Phrase | None = None) -> Phrase:
    """das kleine Haus der Frau: the woman's small house; `of` is a phrase in the genitive."""
    gender = PLURAL if plural else noun.gender
    article, ending = determiner.german[case][gender], determiner.endings[case][gender]
    german = [article] if article else []
    german += [adjective.stem + ending for adjective in adjectives]
    german.append(noun.german[plural][case])
    words = [adjective.english for adjective in adjectives]
    words.append(noun.english[plural])
    english = determiner.english[plural]
    if of:
        german.append(of.german)
        english = of.english + ("'" if of.english.endswith("s") else "'s")
    elif english == "a" and words[0][0] in "aeiou":
        english = "an"
    if english:
        words.insert(0, english)
    text = " ".join(words)
    pronoun = THEY if plural else SINGULAR[noun.gender, noun.pronoun]
    return Phrase(" ".join(german), text, text, pronoun, kind=noun.kind)


def pronoun_phrase(pronoun: Pronoun, case: int) -> Phrase:
    """er, ihn, ihm: he, him."""
    return Phrase(pronoun.german[case], pronoun.english, pronoun.english_object, pronoun, light=True)


def relative_pronoun(antecedent: Phrase, case: int) -> Phrase:
    """der, den, dem: who for people, that for the rest."""
    pronoun = antecedent.pronoun
    english = "who" if pronoun.english in ("he", "she") else "that"
    return Phrase(RELATIVE[case][pronoun.gender], english, english, pronoun)


def prepositional(preposition: Both, phrase: Phrase) -> Both:
    """in dem Haus becomes im Haus."""
    german = f"{preposition.german} {phrase.german}"
    words = german.split(" ", 2)
    short = CONTRACTIONS.get(f"{words[0]} {words[1]}")
    return Both(f"{short} {words[2]}" if short else german, f"{preposition.english} {phrase.english_object}")


UNITS = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
TEENS = "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
ENGLISH_UNITS = "zero one two three four five six seven eight nine ten eleven twelve".split()
ENGLISH_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def number(value: int) -> Both:
    """2 to 99 in words; German says the units before the tens: dreiundzwanzig, twenty-three."""
    if value < 20:
        return Both((UNITS + TEENS)[value], (ENGLISH_UNITS + ENGLISH_TEENS)[value])
    tens, units = divmod(value, 10)
    german, english = TENS[tens - 2], ENGLISH_TENS[tens - 2]
    return Both(f"{UNITS[units]}und{german}", f"{english}-{ENGLISH_UNITS[units]}") if units else Both(german, english)
