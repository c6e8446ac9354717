"""Random noun phrases and places of the synthetic language pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from toy_languages import words
from toy_languages.inflection import ACCUSATIVE, DATIVE, GENITIVE, NOMINATIVE, compound
from toy_languages.lexicon import SYLLABLES, Draw, Lexicon
from toy_languages.phrases import (
    BARE,
    DU,
    EVERY,
    FORMAL,
    ICH,
    IHR,
    MANY,
    NO,
    SINGULAR,
    THE,
    THEY,
    THIS,
    WIR,
    A,
    Both,
    Determiner,
    Phrase,
    Pronoun,
    ein_word,
    noun_phrase,
    number,
    prepositional,
    pronoun_phrase,
    strong_word,
)
from toy_languages.words import rows

T = TypeVar("T")


class Preposition(NamedTuple):
    """A preposition, the case it governs, its translation."""

    german: str
    case: int
    english: str

    @classmethod
    def read(cls, german: str, english: str) -> Preposition:
        """Read a preposition from `in3` and `in_front_of`."""
        return cls(
            german[:-1], {"3": DATIVE, "4": ACCUSATIVE}[german[-1]], english.replace("_", " ")
        )


def prepositions(table: str) -> list[Preposition]:
    """Return the prepositions of a table in `words`."""
    return [Preposition.read(german, english) for german, english in rows(table)]


def spread(weights: dict[str, int]) -> list[str]:
    """Return a list of the names, each repeated by its weight."""
    return [name for name, weight in weights.items() for _ in range(weight)]


DETERMINERS = spread(
    {
        "the": 46,
        "a": 22,
        "mine": 9,
        "this": 5,
        "number": 5,
        "name": 4,
        "bare": 4,
        "many": 3,
        "every": 2,
    }
)
PLAIN_DETERMINERS = spread({"the": 6, "a": 2, "mine": 1})
INDEFINITE_DETERMINERS = spread({"a": 4, "number": 1, "many": 1})

HE, SHE, IT = SINGULAR[0, "he"], SINGULAR[1, "she"], SINGULAR[2, "it"]
SPEAKERS = (ICH, ICH, ICH, DU, DU, HE, HE, SHE, SHE, WIR, WIR, IHR, THEY, THEY, FORMAL)
OTHERS = (HE, SHE, THEY)
LISTENERS = (*OTHERS, HE, SHE, ICH, DU, WIR)
THINGS = (SINGULAR[0, "it"], SINGULAR[1, "it"], IT, THEY)
OWNERS = (ICH, ICH, DU, WIR)

NAMES = [(name, SINGULAR[int(english == "she"), english]) for name, english in rows(words.NAMES)]
CITIES = [Both(german, english) for german, english in rows(words.CITIES)]
LOCATIONS = {kind: prepositions(table) for kind, table in words.LOCATIONS.items()}
DIRECTIONS = {kind: prepositions(table) for kind, table in words.DIRECTIONS.items()}
COMPANY = prepositions(words.COMPANY)


class PhraseDrawer:
    """Draws noun phrases and places from a lexicon and a random stream."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        self.lexicon = lexicon
        self.draw = draw

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.draw() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """Return a uniformly random item."""
        return items[int(self.draw() * len(items))]

    def subject(self, kinds: str) -> Phrase:
        """Return a pronoun or noun phrase in the nominative."""
        if "p" in kinds and self.chance(0.33):
            return pronoun_phrase(self.one_of(SPEAKERS), NOMINATIVE)
        return self.phrase(kinds, NOMINATIVE)

    def object(self, kinds: str, case: int, subject: Phrase) -> Phrase:
        """Return a pronoun or noun phrase in an oblique case, of one of `kinds`."""
        if self.chance(0.15):
            people = LISTENERS if subject.person == 2 else OTHERS
            return pronoun_phrase(self.one_of(people if "p" in kinds else THINGS), case)
        return self.phrase(kinds, case, owner=subject.pronoun)

    def phrase(
        self,
        kinds: str,
        case: int,
        *,
        owner: Pronoun | None = None,
        negated: bool = False,
        determiners: Sequence[str] = DETERMINERS,
    ) -> Phrase:
        """Return a noun phrase of one of `kinds`.

        Names and genitives only with the default determiners.
        """
        free = determiners is DETERMINERS and not negated
        if free and "p" in kinds and self.chance(0.15):
            return self.name(case)
        noun = self.lexicon.nouns(kinds).pick(self.draw)
        if self.chance(0.06):
            modifier = self.lexicon.nouns("tafs").pick(self.draw)
            noun = compound(modifier, noun) if modifier is not noun else noun
        adjectives = []
        if self.chance(0.33):
            adjectives.append(self.lexicon.adjectives[noun.kind].pick(self.draw))
        if negated:
            return noun_phrase(NO, adjectives, noun, case, plural=self.chance(0.25))
        determiner, plural = self.determiner(determiners, owner)
        of = None
        if determiner is THE and free and self.chance(0.07):
            of = self.phrase("p", GENITIVE, determiners=PLAIN_DETERMINERS)
        return noun_phrase(determiner, adjectives, noun, case, plural=plural, of=of)

    def name(self, case: int) -> Phrase:
        """Return a first name, or a title with a surname, which is the same in both languages."""
        name, pronoun = self.one_of(NAMES)
        if self.chance(0.7):
            return Phrase(name, name, name, pronoun)
        surname = "".join(self.one_of(SYLLABLES)[0] for _ in range(2)).capitalize()
        german, english = (
            ("Frau", "Mrs") if pronoun is SHE else ("Herr" if case == NOMINATIVE else "Herrn", "Mr")
        )
        text = f"{english} {surname}"
        return Phrase(f"{german} {surname}", text, text, pronoun)

    def determiner(self, options: Sequence[str], owner: Pronoun | None) -> tuple[Determiner, bool]:
        """Return a determiner, and whether its noun is plural."""
        match self.one_of(options):
            case "the":
                return THE, self.chance(0.2)
            case "a":
                return A, False
            case "mine":
                stem, english = (owner or self.one_of(OWNERS)).possessive
                return ein_word(stem, english, english), self.chance(0.2)
            case "this":
                return THIS, self.chance(0.2)
            case "number":
                return self.number(), True
            case "name":
                name = self.one_of(NAMES)[0]
                return strong_word(f"{name}s", f"{name}'s"), self.chance(0.2)
            case "many":
                return MANY, True
            case "every":
                return EVERY, False
        return BARE, True

    def number(self) -> Determiner:
        """Return a number from 2 to 99, preferably small; some large ones in digits."""
        value = 2 + int(98 * self.draw() ** 4)
        written = Both(str(value), str(value)) if value > 12 and self.chance(0.3) else number(value)
        return strong_word(written.german, written.english)

    def location(self) -> Both:
        """Return a location: im Wald, in the forest."""
        if self.chance(0.08):
            return self.city("in", "in")
        return self.place(LOCATIONS)

    def direction(self) -> Both:
        """Return a direction: in den Wald, into the forest."""
        if self.chance(0.1):
            return self.city(*self.one_of((("nach", "to"), ("aus", "from"))))
        return self.place(DIRECTIONS)

    def city(self, german: str, english: str) -> Both:
        """Return a preposition and a city: nach Wien, to Vienna."""
        city = self.one_of(CITIES)
        return Both(f"{german} {city.german}", f"{english} {city.english}")

    def place(self, options: dict[str, list[Preposition]]) -> Both:
        """Return a preposition and a place that it combines with."""
        kind = "i" if self.chance(0.6) else "s"
        return self.prepositional_phrase(
            self.one_of(options[kind]), kind, determiners=PLAIN_DETERMINERS
        )

    def prepositional_phrase(
        self, preposition: Preposition, kinds: str, *, determiners: Sequence[str] = DETERMINERS
    ) -> Both:
        """Return a preposition and a noun phrase."""
        phrase = self.phrase(kinds, preposition.case, determiners=determiners)
        return prepositional(Both(preposition.german, preposition.english), phrase)
