"""Random sentences of the German-like language and their translations: noun phrases, clauses, and
sentences of clauses, drawn from a lexicon and a random stream."""

from __future__ import annotations

import re
from dataclasses import replace

from toy_languages.grammar import (
    CASES,
    COPULA,
    DETERMINERS,
    GERN,
    MODALS,
    NO_TIME,
    NOTHING,
    PAIRS,
    PRONOUNS,
    Adverbial,
    Clause,
    Determiner,
    Phrase,
    Pronoun,
    fill,
    noun_phrase,
    number,
    possessive,
    prepositional,
    pronoun_phrase,
    relative_pronoun,
    uninflected,
)
from toy_languages.randomness import Draw, Drawer, Zipf
from toy_languages.words import (
    ACCUSATIVE,
    DATIVE,
    GENITIVE,
    NOMINATIVE,
    Both,
    Lexicon,
    compound,
    grouped,
    table,
    verb,
)

WHENS = ("present", "past")
SIMPLE = {"present": "present", "past": "preterite"}
COMPATIBLE = {
    "present": ("any", "present", "ongoing", "future"),
    "future": ("any", "future"),
    "preterite": ("any", "past"),
    "perfect": ("any", "past"),
}
"""What adverbials of time require, by tense."""
TIMES = {
    tense: Zipf([Adverbial(*row) for row in table("times") if row[2] in allowed])
    for tense, allowed in COMPATIBLE.items()
}
CHOICES = dict(table("choices"))
SAY, ASK = verb("", "p", "sagen", "say said said"), verb("", "p", "fragen", "ask")
GIVE = verb("", "p", "geben gibt gab gegeben", "give gave given")
IT, IHR = PRONOUNS["it"], PRONOUNS["ihr"]


class SentenceDrawer(Drawer):
    """Draws sentences with the words of a lexicon by frequency."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        super().__init__(draw)
        self.lexicon = lexicon

    def choice(self, name: str) -> str:
        """Return a random alternative of the table `choices`, in which `a*2 b` is a, a, b."""
        names = []
        for item in CHOICES[name].split():
            alternative, _, weight = item.partition("*")
            names += [alternative] * int(weight or 1)
        return self.one_of(names)

    def pair(self, name: str) -> Both:
        """Return a random row of a group of the table `pairs`."""
        return self.one_of(PAIRS[name])

    # ----- noun phrases and places

    def subject(self, kinds: str) -> Phrase:
        """Return a pronoun or noun phrase in the nominative."""
        if "p" in kinds and self.chance(0.33):
            return pronoun_phrase(PRONOUNS[self.choice("speakers")], NOMINATIVE)
        return self.phrase(kinds, NOMINATIVE)

    def object(self, kinds: str, case: int, subject: Phrase) -> Phrase:
        """Return a pronoun or noun phrase in an oblique case, of one of `kinds`."""
        if self.chance(0.15):
            people = "listeners" if subject.pronoun.person == 2 else "others"
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
        determiner = DETERMINERS["no"] if negated else self.determiner(determiners, owner)
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
        syllables = grouped("rare")["syllable"]
        surname = "".join(self.one_of(syllables)[0] for _ in range(2)).capitalize()
        german, english = "Herr" if case == NOMINATIVE else "Herrn", "Mr"
        if pronoun == "she":
            german, english = "Frau", "Mrs"
        text = f"{english} {surname}"
        return Phrase(f"{german} {surname}", text, text, PRONOUNS[pronoun])

    def determiner(self, options: str, owner: Pronoun | None) -> Determiner:
        """Return a determiner; numbers are from 2 to 99, preferably small."""
        name = self.choice(options)
        if name == "mine":
            return possessive(*(owner or PRONOUNS[self.choice("owners")]).possessive)
        if name == "number":
            value = 2 + int(98 * self.draw() ** 4)
            digits = value > 12 and self.chance(0.3)
            german, english = (str(value), str(value)) if digits else number(value)
            return uninflected(german, english, plural=1)
        if name == "name":
            person = self.pair("name").german
            return uninflected(f"{person}s", f"{person}'s")
        return DETERMINERS[name]

    def place(self, kind: str) -> Both:
        """Return a `location` or a `direction`: im Wald, in den Wald, nach Wien."""
        is_location = kind == "location"
        if self.chance(0.08 if is_location else 0.1):
            preposition = Both("in", "in") if is_location else self.pair("to city")
            city = self.pair("city")
            german, english = preposition
            return Both(f"{german} {city.german}", f"{english} {city.english}")
        of = "i" if self.chance(0.6) else "s"
        return self.prepositional_phrase(self.pair(f"{kind} {of}"), of, "plain determiners")

    def prepositional_phrase(
        self, pair: Both, kinds: str, determiners: str = "determiners"
    ) -> Both:
        """Return a preposition of the table `pairs` and a noun phrase."""
        case = CASES[pair.german[-1]]
        return prepositional(pair, self.phrase(kinds, case, determiners=determiners))

    # ----- clauses

    def tense(self, when: str) -> str:
        """Return a random tense."""
        return self.choice(f"tenses {when}")

    def clause(self, when: str, subject: Phrase | None = None) -> Clause:
        """Return a random clause, with `subject` (a person or an animal) if given."""
        frame = self.choice("frames")
        if frame == "copula":
            return self.description(when, subject)
        if frame == "experiencer":
            return self.experience(when) if subject is None else self.clause(when, subject)
        verb = self.lexicon.verbs[frame].pick(self.draw)
        if frame == "accusative" and verb.ongoing and subject is None and self.chance(0.06):
            agent = NOTHING
            if self.chance(0.6):
                agent = self.prepositional_phrase(Both("von3", "by"), verb.subjects)
            subject, tense = self.phrase(verb.objects, NOMINATIVE), SIMPLE[when]
            time = self.time(tense)
            return Clause(subject, verb, tense, passive=True, complement=agent, time=time)
        subject = subject or self.related(self.subject(verb.subjects))
        clause = Clause(subject, verb, self.tense(when))
        self.add_circumstances(clause, when)
        self.add_objects(clause, frame)
        clause.front = self.front(clause)
        return clause

    def add_circumstances(self, clause: Clause, when: str) -> None:
        """Add a compatible combination of modal verb, time, negation and manner."""
        verb = clause.verb
        if self.chance(0.12):
            modal = MODALS[self.choice("modals")]
            if when == "present" or modal.preterite:
                clause.modal, clause.tense = modal, SIMPLE[when]
        if self.chance(0.35):
            time = self.time(clause.tense)
            clause.time = time if verb.ongoing or time.when != "ongoing" else NO_TIME
        if verb.prefix.endswith(" "):  # Hunger haben: incompatible with nicht and adverbs
            return
        if self.chance(0.12) and not clause.time.middle:
            clause.negation = "nicht"
        elif self.chance(0.08):
            manner = self.lexicon.adverbs.pick(self.draw)
            clause.manner = Both(manner.german, manner.adverb)
        elif verb.subjects == "p" and not clause.modal and clause.time is NO_TIME:
            clause.manner = GERN if self.chance(0.05) else NOTHING

    def add_objects(self, clause: Clause, frame: str) -> None:
        """Add the objects of the verb's frame, and sometimes a place or company."""
        kinds, subject = clause.verb.objects, clause.subject
        if frame == "accusative" and clause.negation and self.chance(0.5):
            clause.negation = "kein"
            clause.accusative = self.phrase(kinds, ACCUSATIVE, negated=True)
        elif frame == "accusative":
            clause.accusative = self.related(self.object(kinds, ACCUSATIVE, subject))
        elif frame == "dative":
            clause.dative = self.related(self.object(kinds, DATIVE, subject))
        elif frame == "ditransitive":
            clause.dative = self.object("p", DATIVE, subject)
            clause.accusative = self.phrase(kinds, ACCUSATIVE, owner=subject.pronoun)
        elif frame in ("motion", "rest"):
            clause.place = self.place("direction" if frame == "motion" else "location")
        elif frame != "intransitive":  # a preposition, which English verbs include
            phrase = self.object(kinds, CASES[frame[-1]], subject)
            clause.complement = prepositional(Both(frame, ""), phrase)
        if clause.place is NOTHING and self.chance(0.18):
            clause.place = self.place("location")
        if clause.complement is NOTHING and frame != "ditransitive" and self.chance(0.06):
            clause.complement = self.prepositional_phrase(self.pair("company"), "pa")

    def front(self, clause: Clause) -> str:
        """Return the part that comes first in German.

        An object only if its case form is unambiguous.
        """
        chance = self.draw()
        if chance < 0.45:
            return "time" if clause.time.german else "subject"
        if chance < 0.60:
            return "place" if clause.place.german else "subject"
        if chance > 0.90:
            for name, phrase in (("accusative", clause.accusative), ("dative", clause.dative)):
                if phrase and phrase.kind and phrase.german.split()[0].endswith(("en", "em")):
                    return name
        return "subject"

    def time(self, tense: str) -> Adverbial:
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

    def description(self, when: str, subject: Phrase | None = None) -> Clause:
        """Return a clause with a predicate: the baker is tall."""
        if subject is None:
            subject = self.subject(self.choice("described"))
        kind = subject.kind or ("a" if subject.pronoun.english[0] == "it" else "p")
        complement = self.predicate(kind, subject.pronoun.person < 3)
        clause = Clause(subject, COPULA, SIMPLE[when], complement=complement)
        if self.chance(0.15):
            time = self.time(clause.tense)
            clause.time = time if time.when != "ongoing" else NO_TIME
        elif self.chance(0.12):
            clause.negation = "nicht"
        return clause

    def predicate(self, kind: str, singular: bool) -> Both:
        """Return a predicate: sehr klein, kleiner als der Hund, so klein wie der Hund, ein
        kluger Lehrer."""
        chance, word = self.draw(), self.lexicon.adjectives[kind].pick(self.draw)
        if chance < 0.20 and kind == "p" and singular:
            noun = self.lexicon.nouns("p").pick(self.draw)
            phrase = noun_phrase(DETERMINERS["a"], [word], noun, NOMINATIVE)
            return Both(phrase.german, phrase.english)
        adjective = Both(word.german, word.english)
        if chance < 0.30:
            comparative = Both(word.comparative, word.english_comparative)
            return fill("than", comparative=comparative, other=self.phrase(kind, NOMINATIVE))
        if chance < 0.36:
            return fill("as", adjective=adjective, other=self.phrase(kind, NOMINATIVE))
        if chance < 0.62:
            return fill("very" if chance < 0.56 else "too", adjective=adjective)
        return adjective

    def experience(self, when: str) -> Clause:
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
        verb = self.lexicon.verbs[frame].pick(self.draw)
        tense = SIMPLE[self.one_of(WHENS)]
        if phrase.kind in verb.subjects and (frame != "accusative" or self.chance(0.6)):
            clause = Clause(relative_pronoun(phrase, NOMINATIVE), verb, tense)
            if frame == "accusative":
                determiners = "plain determiners"
                clause.accusative = self.phrase(verb.objects, ACCUSATIVE, determiners=determiners)
            elif frame == "rest":
                clause.place = self.place("location")
            german, english = fill("relative subject", phrase=phrase, clause=clause)
        elif phrase.kind in verb.objects:
            subject, pronoun = self.subject(verb.subjects), relative_pronoun(phrase, ACCUSATIVE)
            clause = Clause(subject, verb, tense, accusative=pronoun, front="accusative")
            other = replace(clause, accusative=None)
            german, english = fill("relative object", phrase=phrase, clause=clause, other=other)
        else:
            return phrase
        return phrase._replace(german=german, english=english, english_object=english)

    # ----- sentences

    def sentence(self) -> Both:
        """Return a random sentence in both languages."""
        german, english = getattr(self, self.choice("sentences"))()
        # A relative clause ends in a comma, which other marks take the place of.
        german = re.sub(r" (?=,)|,(?= ?[,.!?“])", "", german)
        return capitalised(Both(german, english.replace(" ,", ",")))

    def statement(self) -> Both:
        """Return a statement: Heute sieht der Hund die Katze."""
        return fill("statement", clause=self.clause(self.one_of(WHENS)))

    def question(self) -> Both:
        """Return a question: Sieht der Hund die Katze? Warum steht der Mann auf?"""
        return fill("question", words=self.question_clause())

    def question_clause(self) -> Both:
        """Return a question without its question mark: a yes-no question, or one with a question
        word."""
        clause = self.clause(self.one_of(WHENS))
        clause.front = "subject"
        chance = self.draw()
        if chance < 0.3:
            word = self.pair("question word")
            if word.german in ("wann", "wie oft"):
                clause.time = NO_TIME
            elif word.german == "wo":
                clause.place = NOTHING
            return fill("word", word=word, clause=clause)
        if chance < 0.4 and "p" in clause.verb.subjects and not (clause.passive or clause.swapped):
            clause.subject = Phrase("wer", "who", "who", IT)
            return fill("clause", clause=clause)
        if chance < 0.55 and clause.accusative and clause.negation != "kein":
            word = Both("wen", "who") if clause.accusative.kind == "p" else Both("was", "what")
            clause.accusative = None
            return fill("word", word=word, clause=clause)
        return fill("yes or no", clause=clause)

    def complex_sentence(self) -> Both:
        """Return a complex sentence: Der Hund schläft, weil er müde ist. Weil der Hund müde ist,
        schläft er."""
        when = self.one_of(WHENS)
        word = self.pair(f"subordinator {when}")
        first = self.clause(when)
        second = self.clause(when, self.referring(first))
        begins = self.chance(0.4)
        subordinate = first if begins else second
        # Neither language has a future after wenn, bevor or bis.
        is_future = "future" in (subordinate.tense, subordinate.time.when)
        if word.german not in ("weil", "obwohl") and is_future:
            subordinate.tense, subordinate.time = "present", NO_TIME
        second.front = "subject"
        if begins:
            first.front = "subject"
            return fill("subordinate first", word=word, first=first, second=second)
        if self.chance(0.1):
            weather = self.pair(f"weather {when}")
            return fill("weather", first=first, word=word, weather=weather)
        return fill("subordinate last", first=first, word=word, second=second)

    def compound_sentence(self) -> Both:
        """Return a compound sentence: Der Hund schläft, aber die Katze spielt."""
        when = self.one_of(WHENS)
        first = self.clause(when)
        second = self.clause(when, self.referring(first))
        return fill("compound", first=first, word=self.pair("coordinator"), second=second)

    def referring(self, clause: Clause) -> Phrase | None:
        """Return a pronoun for the subject of a clause (der Hund: er, it), or None for a new
        subject."""
        if acts(clause) and self.chance(0.55):
            return pronoun_phrase(clause.subject.pronoun, NOMINATIVE)
        return None

    def report(self) -> Both:
        """Return reported speech: Das Kind glaubt, dass der Hund schläft. Das Kind glaubt, der
        Hund schläft."""
        when = self.one_of(WHENS)
        verb = self.lexicon.verbs["clause"].pick(self.draw)
        main = Clause(self.subject(verb.subjects), verb, self.tense(when))
        inner = self.clause(when)
        if self.chance(0.25):
            return fill("report", main=main, inner=inner)
        inner.front = "subject"
        return fill("report that", main=main, inner=inner)

    def intention(self) -> Both:
        """Return an infinitive clause: Das Kind versucht, den Hund zu sehen; .. läuft in den
        Garten, um ihn zu sehen."""
        when = self.one_of(WHENS)
        if self.chance(0.6):
            verb = self.lexicon.verbs["infinitive"].pick(self.draw)
            main, template = Clause(self.subject(verb.subjects), verb, SIMPLE[when]), "intention"
        else:
            main, template = self.clause(when), "purpose"
            if not acts(main):
                return fill("statement", clause=main)
        return fill(template, main=main, inner=bare(self.clause(when, main.subject)))

    def request(self) -> Both:
        """Return a request: Gebt dem Kind das Buch!"""
        clause = bare(self.clause("present", pronoun_phrase(IHR, NOMINATIVE)))
        clause.subject = Phrase("", "", "", IHR)
        return fill("request", clause=clause)

    def existence(self) -> Both:
        """Return a statement of existence: Im Wald gibt es keine Katze, in the forest there is not
        a cat."""
        tense = SIMPLE[self.one_of(WHENS)]
        negated = self.chance(0.2)
        determiners = "indefinite determiners"
        phrase = self.phrase("patf", ACCUSATIVE, negated=negated, determiners=determiners)
        clause = Clause(pronoun_phrase(IT, NOMINATIVE), GIVE, tense, accusative=phrase)
        clause.place, clause.negation = self.place("location"), "kein" if negated else ""
        clause.front = self.one_of(("subject", "place"))
        there, what = Phrase("", "there", "there", phrase.pronoun), Both("", phrase.english)
        other = replace(clause, subject=there, verb=COPULA, accusative=None, complement=what)
        return fill("existence", clause=clause, other=other)

    def speech(self) -> Both:
        """Return direct speech: „Wo ist der Hund?“, fragte der König."""
        tense = SIMPLE[self.one_of(WHENS)]
        speaker = self.phrase("p", NOMINATIVE)
        if self.chance(0.5):
            words, verb, template = self.question_clause(), ASK, "ask"
        else:
            words, verb, template = fill("clause", clause=self.clause("present")), SAY, "say"
        return fill(template, words=capitalised(words), framing=Clause(speaker, verb, tense))


def acts(clause: Clause) -> bool:
    """Return whether the subject is a person or an animal that does something."""
    return clause.subject.kind in ("", "p", "a") and not (clause.passive or clause.swapped)


def bare(clause: Clause) -> Clause:
    """Return the clause without tense, modal verb and time, for infinitives and imperatives."""
    manner = NOTHING if clause.manner is GERN else clause.manner
    return replace(
        clause, tense="present", modal=None, time=NO_TIME, manner=manner, front="subject"
    )


def capitalised(both: Both) -> Both:
    """Return texts with their first letter capitalised."""
    return Both(*(text[0].upper() + text[1:] for text in both))
