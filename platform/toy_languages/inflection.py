"""Nouns, verbs and adjectives of the synthetic language pair with all their inflected forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
MASCULINE, FEMININE, NEUTER, PLURAL = range(
    4
)  # articles and adjectives treat the plural like a fourth gender
GENDERS = {"der": MASCULINE, "die": FEMININE, "das": NEUTER}


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun: German forms by number (0, 1) and case, English forms by number."""

    kind: str
    gender: int
    german: tuple[tuple[str, ...], ...]
    english: tuple[str, str]
    first: str  # German form as the first part of a compound
    pronoun: str  # English pronoun for the singular


@dataclass(frozen=True, slots=True)
class English:
    """The forms of an English verb, and the words that follow it unchanged."""

    base: str
    third: str
    past: str
    participle: str
    progressive: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Verb:
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


@dataclass(frozen=True, slots=True)
class Adjective:
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
    """Return a noun from its columns in `words.NOUNS`."""
    article, _, pronoun = article.partition("/")
    singular, _, link = singular.partition("+")
    bare, gender = singular.rstrip("*"), GENDERS[article]
    if singular != bare:
        cases, first = (bare, plural, plural, plural), plural
    else:
        cases, first = (
            (bare, bare, bare, bare if gender == FEMININE else genitive(bare)),
            bare + link,
        )
    plurals = (plural, plural, plural if plural[-1] in "ns" else plural + "n", plural)
    pronoun = pronoun or (("he", "she", "it")[gender] if kind == "p" else "it")
    return Noun(
        kind, gender, (cases, plurals), (english, english_plural or with_s(english)), first, pronoun
    )


def compound(modifier: Noun, head: Noun) -> Noun:
    """Return a compound, one German word and two English ones: Haustür, house door."""
    german = tuple(
        tuple(modifier.first + form.lower() for form in number) for number in head.german
    )
    singular, plural = (f"{modifier.english[0]} {form}" for form in head.english)
    return Noun(
        head.kind,
        head.gender,
        german,
        (singular, plural),
        modifier.first + head.first.lower(),
        head.pronoun,
    )


def verb(subjects: str, objects: str, german: str, english: str) -> Verb:
    """Return a verb from the columns of `words.VERBS`."""
    parts = german.split()
    flags = {part for part in parts if part in ("ist", "sich")}
    lemma, *strong = (part for part in parts if part not in flags)
    prefix, _, infinitive = lemma.rpartition("-")
    if "_" in lemma:
        prefix, _, infinitive = lemma.replace("_", " ").rpartition(" ")
        prefix += " "
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    ending = "et" if re.search("([td]|(ch|[bfgkp])n)$", stem) else "t"
    third, past, participle = strong or (
        stem + ending,
        stem + ending + "e",
        weak_participle(stem + ending, prefix),
    )
    words = english.replace("!", "").split()
    return Verb(
        infinitive,
        present_forms(infinitive, stem, third, ending),
        preterite_forms(past),
        prefix + participle,
        prefix,
        "ist" in flags,
        "sich" in flags,
        english_verb(words),
        subjects,
        objects,
        "!" not in english,
    )


def present_forms(infinitive: str, stem: str, third: str, ending: str) -> tuple[str, ...]:
    """Return the present: ich sehe, du siehst, er sieht, wir sehen, ihr seht, sie sehen."""
    first = {"hat": "habe", "weiß": "weiß"}.get(
        third, stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"
    )
    second = third.removesuffix("t")
    second = second + "t" if second[-1] in "sßzx" else second + "st"
    return first, second, third, infinitive, stem + ending, infinitive


def preterite_forms(past: str) -> tuple[str, ...]:
    """Return the preterite: ich sah, du sahst, er sah, wir sahen, ihr saht, sie sahen.

    Ich suchte, du suchtest.
    """
    weak = past.endswith("te")
    plural = past + ("n" if weak else "en")
    second = past + ("est" if past[-1] in "sßzdt" and not weak else "st")
    return past, second, past, plural, past + ("et" if past[-1] in "dt" else "t"), plural


def weak_participle(third: str, prefix: str) -> str:
    """Return the participle: gesucht.

    No ge- after an inseparable prefix (besucht) nor in -ieren (repariert).
    """
    without_ge = third.endswith("iert") or (
        not prefix and third.startswith(("be", "er", "ge", "ver", "zer"))
    )
    return third if without_ge else "ge" + third


def genitive(singular: str) -> str:
    """Return the genitive: des Vogels, des Hundes.

    Sibilant endings and most monosyllables take -es.
    """
    vowel = "aeiouäöü"
    short = f"[^{vowel}]*[{vowel}]+[^{vowel}]*(ch|ll|nn|[^{vowel}hlmnr])"
    return singular + ("es" if re.fullmatch(f"{short}|.*(s|ß|z|x|sch)", singular.lower()) else "s")


def adjective(
    german: str, comparative: str, english: str, kinds: str, adverb: str = ""
) -> Adjective:
    """Return an adjective from its columns in `words.ADJECTIVES`."""
    german, _, stem = german.partition("~")
    return Adjective(
        german, stem or german, comparative, english, english_comparative(english), adverb, kinds
    )


def english_comparative(english: str) -> str:
    """Return the comparative: smaller, bigger, happier, more diligent."""
    irregular = {"good": "better", "clever": "cleverer", "yellow": "yellower"}
    if english in irregular:
        return irregular[english]
    if len(re.findall("[aeiou]+", english.removesuffix("e"))) > 1:
        return "more " + english
    return (
        english[:-1] + "ier" if english.endswith("y") else doubled(english).removesuffix("e") + "er"
    )


def english_verb(words: list[str]) -> English:
    """Return a verb from its base, its past and participle if irregular, and `+rest`."""
    rest = " ".join(word[1:] for word in words if word.startswith("+")).replace("_", " ")
    base, *irregular = (word for word in words if not word.startswith("+"))
    if base == "be":
        return English("be", "is", "was", "been", "being", rest)
    regular = (
        base[:-1] + "ied"
        if re.search("[^aeiou]y$", base)
        else doubled(base).removesuffix("e") + "ed"
    )
    past, participle = irregular or (regular, regular)
    ongoing = (
        base[:-2] + "ying" if base.endswith("ie") else re.sub("(?<!e)e$", "", doubled(base)) + "ing"
    )
    return English(base, "has" if base == "have" else with_s(base), past, participle, ongoing, rest)


def doubled(word: str) -> str:
    """Return the form of `word` before -ed, -er and -ing: stopp for stop."""
    short = re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]|begin|forget", word)
    return word + word[-1] if short else word


def with_s(word: str) -> str:
    """Return the plural of a noun or the third person of a verb: dogs, foxes, cherries."""
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search("(s|x|z|o|ch|sh)$", word) else "s")
