"""Random clauses of the synthetic language pair: verb, tense, subject and objects, time and
place, word order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal, cast

from toy_languages.grammar import COPULA, GERN, MODALS, Adverbial, Clause, Tense, english, fill
from toy_languages.inflection import ACCUSATIVE, DATIVE, NOMINATIVE
from toy_languages.phrase_drawer import PhraseDrawer
from toy_languages.phrases import (
    DETERMINERS,
    Phrase,
    Preposition,
    noun_phrase,
    number,
    prepositional,
    relative_pronoun,
)
from toy_languages.randomness import Zipf
from toy_languages.tables import Both, table

When = Literal["present", "past"]
BY = Both("von3", "by")
SIMPLE: dict[When, Tense] = {"present": "present", "past": "preterite"}
COMPATIBLE: dict[Tense, tuple[str, ...]] = {
    "present": ("any", "present", "ongoing", "future"),
    "future": ("any", "future"),
    "preterite": ("any", "past"),
    "perfect": ("any", "past"),
}
"""What adverbials of time require, by tense."""


def _times(allowed: Collection[str]) -> Zipf[Adverbial]:
    times = []
    for row in table("times"):
        german, in_english, when = row[:3]
        if when in allowed:
            times.append(Adverbial(german, in_english, when, middle="middle" in row[3:]))
    return Zipf(times)


TIMES = {tense: _times(allowed) for tense, allowed in COMPATIBLE.items()}


class ClauseDrawer(PhraseDrawer):
    """Draws clauses from a lexicon and a random stream."""

    def tense(self, when: When) -> Tense:
        """Return a random tense."""
        return cast(Tense, self.choice(f"tenses {when}"))

    def clause(self, when: When, subject: Phrase | None = None) -> Clause:
        """Return a random clause, with `subject` (a person or an animal) if given."""
        frame = self.choice("frames")
        if frame == "copula":
            return self.description(when, subject)
        if frame == "experiencer":
            return self.experience(when) if subject is None else self.clause(when, subject)
        verb = self.lexicon.verbs[frame].pick(self.draw)
        if frame == "accusative" and verb.ongoing and subject is None and self.chance(0.06):
            agent = self.prepositional_phrase(BY, verb.subjects) if self.chance(0.6) else None
            subject, tense = self.phrase(verb.objects, NOMINATIVE), SIMPLE[when]
            time = self.time(tense)
            return Clause(subject, verb, tense, passive=True, complement=agent, time=time)
        subject = subject or self.related(self.subject(verb.subjects))
        clause = Clause(subject, verb, self.tense(when))
        self.add_circumstances(clause, when)
        self.add_objects(clause, frame)
        clause.front = self.front(clause)
        return clause

    def add_circumstances(self, clause: Clause, when: When) -> None:
        """Add a compatible combination of modal verb, time, negation and manner."""
        verb = clause.verb
        if self.chance(0.12):
            modal = MODALS[self.choice("modals")]
            if when == "present" or modal.preterite:
                clause.modal, clause.tense = modal, SIMPLE[when]
        if self.chance(0.35):
            time = self.time(clause.tense)
            clause.time = time if verb.ongoing or time.when != "ongoing" else None
        if verb.prefix.endswith(" "):  # Hunger haben: incompatible with nicht and adverbs
            return
        if self.chance(0.12) and not (clause.time and clause.time.middle):
            clause.negation = "nicht"
        elif self.chance(0.08):
            manner = self.lexicon.adverbs.pick(self.draw)
            clause.manner = Adverbial(manner.german, manner.adverb)
        elif verb.subjects == "p" and not (clause.modal or clause.time) and self.chance(0.05):
            clause.manner = GERN

    def add_objects(self, clause: Clause, frame: str) -> None:
        """Add the objects of the verb's frame, and sometimes a place or company."""
        kinds, subject = clause.verb.objects, clause.subject
        if frame == "accusative":
            if clause.negation and self.chance(0.5):
                clause.negation = "kein"
                clause.accusative = self.phrase(kinds, ACCUSATIVE, negated=True)
            else:
                clause.accusative = self.related(self.object(kinds, ACCUSATIVE, subject))
        elif frame == "dative":
            clause.dative = self.related(self.object(kinds, DATIVE, subject))
        elif frame == "ditransitive":
            clause.dative = self.object("p", DATIVE, subject)
            clause.accusative = self.phrase(kinds, ACCUSATIVE, owner=subject.pronoun)
        elif frame == "motion":
            clause.place = self.direction()
        elif frame == "rest":
            clause.place = self.location()
        elif frame != "intransitive":
            preposition = Preposition.read(frame, "")
            phrase = self.object(kinds, preposition.case, subject)
            german = prepositional(Both(preposition.german, ""), phrase).german
            clause.complement = Both(german, phrase.english_object)
        if not clause.place and self.chance(0.18):
            clause.place = self.location()
        if not clause.complement and frame != "ditransitive" and self.chance(0.06):
            clause.complement = self.prepositional_phrase(self.pair("company"), "pa")

    def front(self, clause: Clause) -> str:
        """Return the part that comes first in German.

        An object only if its case form is unambiguous.
        """
        chance = self.draw()
        if chance < 0.45:
            return "time" if clause.time else "subject"
        if chance < 0.60:
            return "place" if clause.place else "subject"
        if chance > 0.90:
            for name, phrase in (("accusative", clause.accusative), ("dative", clause.dative)):
                if phrase and phrase.kind and phrase.german.split()[0].endswith(("en", "em")):
                    return name
        return "subject"

    def time(self, tense: Tense) -> Adverbial:
        """Return an adverbial of time: heute, um drei Uhr, vor fünf Tagen."""
        chance = self.draw()
        if chance > 0.16:
            return TIMES[tense].pick(self.draw)
        count, template = number(2 + int(11 * self.draw())), "clock"
        if chance <= 0.06 and tense in ("preterite", "perfect"):
            template = "days" if chance > 0.03 else "year"
        if template == "year":
            year = str(1700 + int(320 * self.draw()))
            count = Both(year, year)
        return Adverbial(*fill(template, count=count))

    def description(self, when: When, subject: Phrase | None = None) -> Clause:
        """Return a clause with a predicate: the baker is tall."""
        if subject is None:
            subject = self.subject(self.choice("described"))
        kind = subject.kind or ("a" if subject.pronoun.english == "it" else "p")
        complement = self.predicate(kind, subject.person < 3)
        clause = Clause(subject, COPULA, SIMPLE[when], complement=complement)
        if self.chance(0.15):
            time = self.time(clause.tense)
            clause.time = time if time.when != "ongoing" else None
        elif self.chance(0.12):
            clause.negation = "nicht"
        return clause

    def predicate(self, kind: str, singular: bool) -> Both:
        """Return a predicate: sehr klein, kleiner als der Hund, so klein wie der Hund, ein
        kluger Lehrer."""
        chance, word = self.draw(), self.lexicon.adjectives[kind].pick(self.draw)
        if chance < 0.20 and kind == "p" and singular:
            noun = self.lexicon.nouns("p").pick(self.draw)
            return _both(noun_phrase(DETERMINERS["a"], [word], noun, NOMINATIVE))
        adjective = Both(word.german, word.english)
        if chance < 0.36:
            other = _both(self.phrase(kind, NOMINATIVE))
            comparative = Both(word.comparative, word.english_comparative)
            template = "than" if chance < 0.30 else "as"
            return fill(template, adjective=adjective, comparative=comparative, other=other)
        if chance < 0.62:
            return fill("very" if chance < 0.56 else "too", adjective=adjective)
        return adjective

    def experience(self, when: When) -> Clause:
        """Return a clause of liking: the German dative is the English subject."""
        verb = self.lexicon.verbs["experiencer"].pick(self.draw)
        subject = self.subject(verb.subjects)
        person = self.object(verb.objects, DATIVE, subject)
        clause = Clause(subject, verb, SIMPLE[when], dative=person, swapped=True)
        if self.chance(0.12):
            clause.negation = "nicht"
        if self.chance(0.6):
            clause.front = "dative"
        return clause

    def related(self, phrase: Phrase) -> Phrase:
        """Return the phrase, sometimes with a relative clause: den Hund, der schläft.

        The dog that sleeps.
        """
        if not phrase.kind or not self.chance(0.08):
            return phrase
        frame = self.choice("relative")
        verb, tense = self.lexicon.verbs[frame].pick(self.draw), self.one_of([*SIMPLE.values()])
        if phrase.kind in verb.subjects and (frame != "accusative" or self.chance(0.6)):
            clause = Clause(relative_pronoun(phrase, NOMINATIVE), verb, tense)
            if frame == "accusative":
                determiners = "plain determiners"
                clause.accusative = self.phrase(verb.objects, ACCUSATIVE, determiners=determiners)
            elif frame == "rest":
                clause.place = self.location()
            both = fill("relative subject", phrase=_both(phrase), clause=clause)
        elif phrase.kind in verb.objects:
            subject, pronoun = self.subject(verb.subjects), relative_pronoun(phrase, ACCUSATIVE)
            clause = Clause(subject, verb, tense, accusative=pronoun, front="accusative")
            rest = english(replace(clause, accusative=None))
            both = fill("relative object", phrase=_both(phrase), clause=clause, english=("", rest))
        else:
            return phrase
        german, text = both
        return phrase._replace(german=german, english=text, english_object=text)


def _both(phrase: Phrase) -> Both:
    return Both(phrase.german, phrase.english)
