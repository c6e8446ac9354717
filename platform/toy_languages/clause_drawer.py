"""Random clauses of the synthetic language pair: verb, tense, subject and objects, time and
place, word order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from toy_languages import words
from toy_languages.grammar import COPULA, GERN, MODALS, Adverbial, Clause, Tense, english, german
from toy_languages.inflection import ACCUSATIVE, DATIVE, NOMINATIVE
from toy_languages.lexicon import Zipf
from toy_languages.phrase_drawer import (
    COMPANY,
    PLAIN_DETERMINERS,
    PhraseDrawer,
    Preposition,
    spread,
)
from toy_languages.phrases import (
    A,
    Both,
    Phrase,
    noun_phrase,
    number,
    prepositional,
    relative_pronoun,
)
from toy_languages.words import entries

When = Literal["present", "past"]

FRAMES = spread(
    {
        "accusative": 32,
        "intransitive": 12,
        "motion": 14,
        "rest": 10,
        "copula": 12,
        "ditransitive": 7,
        "dative": 5,
        "experiencer": 4,
        "mit3": 2,
        "auf4": 1,
        "von3": 1,
        "vor3": 1,
        "über4": 1,
        "an4": 1,
    }
)
TENSES: dict[When, Sequence[Tense]] = {
    "present": ("present", "present", "present", "present", "present", "future"),
    "past": ("preterite", "preterite", "perfect"),
}
SIMPLE: dict[When, Tense] = {"present": "present", "past": "preterite"}
BY = Preposition("von", DATIVE, "by")


def times() -> dict[Tense, Zipf[Adverbial]]:
    """Return the adverbials of time that are compatible with each tense."""
    columns = [entry.split("|") for entry in entries(words.TIMES)]
    adverbials = [
        Adverbial(german, english, when.removesuffix(" middle"), when.endswith(" middle"))
        for german, english, when in columns
    ]
    compatible: dict[Tense, str] = {
        "present": "any present ongoing future",
        "future": "any future",
        "preterite": "any past",
        "perfect": "any past",
    }
    return {
        tense: Zipf([time for time in adverbials if time.when in whens.split()])
        for tense, whens in compatible.items()
    }


TIMES = times()


class ClauseDrawer(PhraseDrawer):
    """Draws clauses from a lexicon and a random stream."""

    def clause(self, when: When, subject: Phrase | None = None) -> Clause:
        """Return a random clause, with `subject` (a person or an animal) if given."""
        frame = self.one_of(FRAMES)
        if frame == "copula":
            return self.description(when, subject)
        if frame == "experiencer":
            return self.experience(when) if subject is None else self.clause(when, subject)
        verb = self.lexicon.verbs[frame].pick(self.draw)
        if frame == "accusative" and verb.ongoing and subject is None and self.chance(0.06):
            agent = self.prepositional_phrase(BY, verb.subjects) if self.chance(0.6) else None
            return Clause(
                self.phrase(verb.objects, NOMINATIVE),
                verb,
                SIMPLE[when],
                passive=True,
                complement=agent,
                time=self.time(SIMPLE[when]),
            )
        clause = Clause(
            subject or self.related(self.subject(verb.subjects)), verb, self.one_of(TENSES[when])
        )
        self.add_circumstances(clause, when)
        self.add_objects(clause, frame)
        clause.front = self.front(clause)
        return clause

    def add_circumstances(self, clause: Clause, when: When) -> None:
        """Add a compatible combination of modal verb, time, negation and manner."""
        verb = clause.verb
        if self.chance(0.12):
            modal = self.one_of(MODALS)
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
        verb, subject = clause.verb, clause.subject
        if frame == "accusative":
            if clause.negation and self.chance(0.5):
                clause.negation = "kein"
                clause.accusative = self.phrase(verb.objects, ACCUSATIVE, negated=True)
            else:
                clause.accusative = self.related(self.object(verb.objects, ACCUSATIVE, subject))
        elif frame == "dative":
            clause.dative = self.related(self.object(verb.objects, DATIVE, subject))
        elif frame == "ditransitive":
            clause.dative = self.object("p", DATIVE, subject)
            clause.accusative = self.phrase(verb.objects, ACCUSATIVE, owner=subject.pronoun)
        elif frame == "motion":
            clause.place = self.direction()
        elif frame == "rest":
            clause.place = self.location()
        elif frame != "intransitive":
            preposition = Preposition.read(frame, "")
            phrase = self.object(verb.objects, preposition.case, subject)
            clause.complement = Both(
                prepositional(Both(preposition.german, ""), phrase).german, phrase.english_object
            )
        if not clause.place and self.chance(0.18):
            clause.place = self.location()
        if not clause.complement and frame != "ditransitive" and self.chance(0.06):
            clause.complement = self.prepositional_phrase(self.one_of(COMPANY), "pa")

    def front(self, clause: Clause) -> str:
        """Return the part that comes first in German.

        An object only if its case form is unambiguous.
        """
        chance = self.draw()
        if chance < 0.45:
            return "time" if clause.time else "subject"
        if chance < 0.60:
            return "place" if clause.place else "subject"
        for name, phrase in (("accusative", clause.accusative), ("dative", clause.dative)):
            if (
                chance > 0.90
                and phrase
                and phrase.kind
                and phrase.german.split(" ")[0].endswith(("en", "em"))
            ):
                return name
        return "subject"

    def time(self, tense: Tense) -> Adverbial:
        """Return an adverbial of time: heute, um drei Uhr, vor fünf Tagen."""
        chance = self.draw()
        if chance > 0.16:
            return TIMES[tense].pick(self.draw)
        count = number(2 + int(11 * self.draw()))
        if chance > 0.06 or tense not in ("preterite", "perfect"):
            return Adverbial(f"um {count.german} Uhr", f"at {count.english} o'clock")
        if chance > 0.03:
            return Adverbial(f"vor {count.german} Tagen", f"{count.english} days ago")
        year = 1700 + int(320 * self.draw())
        return Adverbial(f"im Jahr {year}", f"in {year}")

    def description(self, when: When, subject: Phrase | None = None) -> Clause:
        """Return a clause with a predicate: the baker is tall."""
        if subject is None:
            subject = self.subject(self.one_of("pppaatfis"))
        kind = subject.kind or ("a" if subject.pronoun.english == "it" else "p")
        clause = Clause(
            subject, COPULA, SIMPLE[when], complement=self.predicate(kind, subject.person < 3)
        )
        if self.chance(0.15):
            time = self.time(clause.tense)
            clause.time = time if time.when != "ongoing" else None
        elif self.chance(0.12):
            clause.negation = "nicht"
        return clause

    def predicate(self, kind: str, singular: bool) -> Both:
        """Return a predicate: sehr klein, kleiner als der Hund, so klein wie der Hund, ein
        kluger Lehrer."""
        chance, adjective = self.draw(), self.lexicon.adjectives[kind].pick(self.draw)
        if chance < 0.20 and kind == "p" and singular:
            phrase = noun_phrase(
                A, [adjective], self.lexicon.nouns("p").pick(self.draw), NOMINATIVE
            )
            return Both(phrase.german, phrase.english)
        if chance < 0.30:
            other = self.phrase(kind, NOMINATIVE)
            return Both(
                f"{adjective.comparative} als {other.german}",
                f"{adjective.english_comparative} than {other.english}",
            )
        if chance < 0.36:
            other = self.phrase(kind, NOMINATIVE)
            return Both(
                f"so {adjective.german} wie {other.german}",
                f"as {adjective.english} as {other.english}",
            )
        if chance < 0.56:
            return Both(f"sehr {adjective.german}", f"very {adjective.english}")
        if chance < 0.62:
            return Both(f"zu {adjective.german}", f"too {adjective.english}")
        return Both(adjective.german, adjective.english)

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
        frame = self.one_of(("accusative", "accusative", "intransitive", "rest"))
        verb, tense = self.lexicon.verbs[frame].pick(self.draw), self.one_of(tuple(SIMPLE.values()))
        if phrase.kind in verb.subjects and (frame != "accusative" or self.chance(0.6)):
            clause = Clause(relative_pronoun(phrase, NOMINATIVE), verb, tense)
            if frame == "accusative":
                clause.accusative = self.phrase(
                    verb.objects, ACCUSATIVE, determiners=PLAIN_DETERMINERS
                )
            elif frame == "rest":
                clause.place = self.location()
            relative = Both(german(clause, "last"), english(clause))
        elif phrase.kind in verb.objects:
            pronoun = relative_pronoun(phrase, ACCUSATIVE)
            clause = Clause(
                self.subject(verb.subjects), verb, tense, accusative=pronoun, front="accusative"
            )
            relative = Both(
                german(clause, "last"), f"that {english(replace(clause, accusative=None))}"
            )
        else:
            return phrase
        text = f"{phrase.english} {relative.english}"
        return phrase._replace(
            german=f"{phrase.german}, {relative.german},", english=text, english_object=text
        )
