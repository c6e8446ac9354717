"""Random noun phrases and places of the synthetic language pair."""

from __future__ import annotations

from toy_languages.inflection import GENITIVE, NOMINATIVE, compound
from toy_languages.lexicon import SYLLABLES, Lexicon
from toy_languages.phrases import (
    DETERMINERS,
    PRONOUNS,
    Determiner,
    Phrase,
    Preposition,
    Pronoun,
    noun_phrase,
    number,
    possessive,
    prepositional,
    pronoun_phrase,
    uninflected,
)
from toy_languages.randomness import Draw, Drawer
from toy_languages.tables import CHOICES, PAIRS, Both


class PhraseDrawer(Drawer):
    """Draws noun phrases and places from a lexicon and a random stream."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        super().__init__(draw)
        self.lexicon = lexicon

    def choice(self, name: str) -> str:
        """Return a random alternative of the table `choices`."""
        return self.one_of(CHOICES[name])

    def pair(self, name: str) -> Both:
        """Return a random row of a group of the table `pairs`."""
        return self.one_of(PAIRS[name])

    def subject(self, kinds: str) -> Phrase:
        """Return a pronoun or noun phrase in the nominative."""
        if "p" in kinds and self.chance(0.33):
            return pronoun_phrase(PRONOUNS[self.choice("speakers")], NOMINATIVE)
        return self.phrase(kinds, NOMINATIVE)

    def object(self, kinds: str, case: int, subject: Phrase) -> Phrase:
        """Return a pronoun or noun phrase in an oblique case, of one of `kinds`."""
        if self.chance(0.15):
            people = "listeners" if subject.person == 2 else "others"
            return pronoun_phrase(PRONOUNS[self.choice(people if "p" in kinds else "things")], case)
        return self.phrase(kinds, case, owner=subject.pronoun)

    def phrase(
        self,
        kinds: str,
        case: int,
        *,
        owner: Pronoun | None = None,
        negated: bool = False,
        determiners: str = "determiners",
    ) -> Phrase:
        """Return a noun phrase of one of `kinds`.

        Names and genitives only with the default determiners.
        """
        free = determiners == "determiners" and not negated
        if free and "p" in kinds and self.chance(0.15):
            return self.name(case)
        noun = self.lexicon.nouns(kinds).pick(self.draw)
        if self.chance(0.06):
            modifier = self.lexicon.nouns("tafs").pick(self.draw)
            noun = compound(modifier, noun) if modifier is not noun else noun
        adjectives = []
        if self.chance(0.33):
            adjectives.append(self.lexicon.adjectives[noun.kind].pick(self.draw))
        determiner = DETERMINERS["no"]
        if not negated:
            determiner = self.determiner(determiners, owner)
        plural = determiner.plural == 1 or determiner.plural > 0 and self.chance(determiner.plural)
        of = None
        if determiner is DETERMINERS["the"] and free and self.chance(0.07):
            of = self.phrase("p", GENITIVE, determiners="plain determiners")
        return noun_phrase(determiner, adjectives, noun, case, plural=plural, of=of)

    def name(self, case: int) -> Phrase:
        """Return a first name, or a title with a surname, which is the same in both languages."""
        name, pronoun = self.pair("name")
        if self.chance(0.7):
            return Phrase(name, name, name, PRONOUNS[pronoun])
        surname = "".join(self.one_of(SYLLABLES)[0] for _ in range(2)).capitalize()
        german, english = "Herr" if case == NOMINATIVE else "Herrn", "Mr"
        if pronoun == "she":
            german, english = "Frau", "Mrs"
        text = f"{english} {surname}"
        return Phrase(f"{german} {surname}", text, text, PRONOUNS[pronoun])

    def determiner(self, options: str, owner: Pronoun | None) -> Determiner:
        """Return a determiner."""
        name = self.choice(options)
        if name == "mine":
            return possessive(*(owner or PRONOUNS[self.choice("owners")]).possessive)
        if name == "number":
            return self.number()
        if name == "name":
            person = self.pair("name").german
            return uninflected(f"{person}s", f"{person}'s")
        return DETERMINERS[name]

    def number(self) -> Determiner:
        """Return a number from 2 to 99, preferably small; some large ones in digits."""
        value = 2 + int(98 * self.draw() ** 4)
        digits = value > 12 and self.chance(0.3)
        german, english = (str(value), str(value)) if digits else number(value)
        return uninflected(german, english, plural=1)

    def location(self) -> Both:
        """Return a location: im Wald, in the forest."""
        if self.chance(0.08):
            return self.city(Both("in", "in"))
        return self.place("location")

    def direction(self) -> Both:
        """Return a direction: in den Wald, into the forest."""
        if self.chance(0.1):
            return self.city(self.pair("to city"))
        return self.place("direction")

    def city(self, preposition: Both) -> Both:
        """Return a preposition and a city: nach Wien, to Vienna."""
        city = self.pair("city")
        german, english = f"{preposition.german} {city.german}", preposition.english
        return Both(german, f"{english} {city.english}")

    def place(self, prepositions: str) -> Both:
        """Return a preposition and a place that it combines with."""
        kind = "i" if self.chance(0.6) else "s"
        preposition = self.pair(f"{prepositions} {kind}")
        return self.prepositional_phrase(preposition, kind, determiners="plain determiners")

    def prepositional_phrase(
        self, pair: Both, kinds: str, *, determiners: str = "determiners"
    ) -> Both:
        """Return a preposition of the table `pairs` and a noun phrase."""
        preposition = Preposition.read(*pair)
        phrase = self.phrase(kinds, preposition.case, determiners=determiners)
        return prepositional(Both(preposition.german, preposition.english), phrase)
