"""The grammar of the German-like language and its translation: random noun phrases, clauses and
sentences, realised in both languages.

German has the finite verb second (first in questions, last in subordinate clauses) and the rest of
the verb at the end, time before place, any part in first position, and marks subject and objects by
case. English has the order subject, verb, objects, place, time and uses auxiliaries. The tables
have the closed classes of words, the endings, and the templates of sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from toy_languages.randomness import Draw, Drawer
from toy_languages.words import (
    ACCUSATIVE,
    DATIVE,
    NOMINATIVE,
    PLURAL,
    PLURALS,
    THIRD,
    Both,
    Lexicon,
    Verb,
    compound,
    grouped,
    table,
    verb,
)

CASES = {"3": DATIVE, "4": ACCUSATIVE}  # behind prepositions in tables
PAIRS = {name: [Both(*row) for row in rows] for name, rows in grouped("pairs").items()}
CONTRACTIONS = dict(PAIRS["contraction"])
MODALS = [(tuple(forms.split()), english) for forms, english in table("modals")]
HABEN, SEIN, WAR = ("habe", "hat", "haben"), ("bin", "ist", "sind"), ("war", "war", "waren")
COPULA = verb("copula", "patfis", "ist sein ist war gewesen", "be was")._replace(
    present=SEIN, preterite=WAR
)
PARTICLES = {*dict(grouped("rare")["separable"]).values(), "along"}
NOTHING = Both("", "")


class Pronoun(NamedTuple):
    """A personal pronoun: German by case, English as subject and object."""

    german: list[str]
    english: list[str]
    person: int
    gender: int


PRONOUNS = {
    name: Pronoun(german.split(), english.split(), int(person), int(gender))
    for name, german, english, person, gender in table("pronouns")
}
SINGULAR = {(one.gender, one.english[0]): one for one in PRONOUNS.values() if one.person == THIRD}


class Phrase(NamedTuple):
    """A noun phrase or pronoun in its case."""

    german: str
    english: str
    english_object: str
    pronoun: Pronoun  # refers to the phrase
    light: bool = False  # a pronoun itself, which precedes other objects
    kind: str = ""  # kind of the noun


@dataclass(slots=True)
class Clause:
    """The structure of a clause; `front` is the part that comes first in German."""

    subject: Phrase
    verb: Verb
    tense: str  # present, preterite or perfect
    modal: tuple[tuple[str, ...], str] | None = None
    dative: Phrase | None = None
    accusative: Phrase | None = None
    place: Both = NOTHING
    complement: Both = NOTHING
    time: Both = NOTHING
    negated: bool = False
    front: str = "subject"

    def __format__(self, form: str) -> str:
        """Return the clause in German by the position of its finite verb (`second`, `first` or
        `last`), or in English as a `statement` or a `question`, without punctuation."""
        is_english = form in ("statement", "question")
        return english(self, form == "question") if is_english else german(self, form)


def german(clause: Clause, order: str) -> str:
    """Return the clause in German: pronouns, time, objects, place."""
    verb, person = clause.verb, clause.subject.pronoun.person
    finite, closing = verb.present[person], verb.prefix
    if clause.modal:
        finite, closing = clause.modal[0][person], verb.prefix + verb.infinitive
    elif clause.tense == "perfect":
        finite, closing = (SEIN if verb.with_sein else HABEN)[person], verb.participle
    elif clause.tense == "preterite":
        finite = verb.preterite[person]
    parts = {"subject": clause.subject.german}
    objects = [("accusative", clause.accusative), ("dative", clause.dative)]
    parts |= {name: phrase.german for name, phrase in objects if phrase and phrase.light}
    parts["time"] = clause.time.german
    objects.reverse()
    parts |= {name: phrase.german for name, phrase in objects if phrase and not phrase.light}
    parts["negation"] = "nicht" if clause.negated else ""
    parts |= {"place": clause.place.german, "complement": clause.complement.german}
    if order == "first":
        words = [finite, *parts.values(), closing]
    elif order == "second":
        words = [parts.pop(clause.front), finite, *parts.values(), closing]
    elif verb.prefix and closing == verb.prefix:  # a separable prefix and its verb are one word
        words = [*parts.values(), closing + finite]
    else:
        words = [*parts.values(), closing, finite]
    return " ".join(filter(None, words))


def english(clause: Clause, is_question: bool) -> str:
    """Return the clause in English."""
    person, (base, third, past) = clause.subject.pronoun.person, clause.verb.english
    is_past = clause.tense != "present"
    auxiliary, main = "", base
    if clause.modal:
        auxiliary = clause.modal[1]
    elif base == "be":
        auxiliary, main = ("am", "is", "are")[person], ""
        if is_past:
            auxiliary = "were" if person == PLURALS else "was"
    elif clause.negated or is_question:
        auxiliary = "did" if is_past else "does" if person == THIRD else "do"
    else:
        main = past if is_past else third if person == THIRD else base
    opening = [clause.subject.english, auxiliary]
    if is_question:
        opening.reverse()
    particle, objects = clause.verb.particle, [clause.dative, clause.accusative]
    object_words = [phrase.english_object for phrase in objects if phrase]
    if clause.accusative and clause.accusative.light and particle in PARTICLES:
        object_words.append(particle)  # pick it up, but pick up the stone
        particle = ""
    at_front = clause.time.english if clause.front == "time" else ""
    words = [
        at_front,
        *opening,
        "not" if clause.negated else "",
        main,
        particle,
        *object_words,
        clause.complement.english,
        clause.place.english,
        "" if at_front else clause.time.english,
    ]
    return " ".join(filter(None, words)).replace(" can not ", " cannot ")


class SentenceDrawer(Drawer):
    """Draws sentences with the words of a lexicon by frequency."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        super().__init__(draw)
        self.lexicon = lexicon

    def sentence(self) -> Both:
        """Return a random sentence in both languages."""
        template, when = self.choice("sentences"), self.one_of(("present", "past"))
        first, word = self.clause(when), NOTHING
        if template == "question" and self.chance(0.2):
            template = "why"
        if template == "report":
            said = self.lexicon.verbs["clause"].pick(self.draw)
            first = Clause(self.subject(said.subjects), said, self.choice(f"tenses {when}"))
        if template == "compound":
            word = self.pair("coordinator")
        elif template.startswith("subordinate"):
            word = self.pair(f"subordinator {when}")
        refers = first.subject.kind in ("", "p", "a") and self.chance(0.55)
        second = self.clause(when, first.subject if refers else None)
        if template in ("statement", "subordinate_last", "compound"):
            first.front = self.front(first)
        if template == "compound":
            second.front = self.front(second)
        ((german, english),) = grouped("templates")[template]
        texts = [side.format(word=word, first=first, second=second) for side in (german, english)]
        return Both(*(text[0].upper() + text[1:].replace(" ,", ",") for text in texts))

    def clause(self, when: str, referent: Phrase | None = None) -> Clause:
        """Return a random clause, whose subject is a pronoun for a person or an animal if given."""
        frame, tense = self.choice("frames"), self.choice(f"tenses {when}")
        verb, kinds, kind = COPULA, self.choice("described"), ""
        if frame != "copula":
            verb = self.lexicon.verbs[frame].pick(self.draw)
            kinds = verb.subjects
        subject = pronoun(referent.pronoun, NOMINATIVE) if referent else self.subject(kinds)
        clause = Clause(subject, verb, tense)
        if frame == "copula":
            kind = subject.kind or ("a" if subject.pronoun.english[0] == "it" else "p")
            word, very = self.lexicon.adjectives[kind].pick(self.draw), self.chance(0.3)
            clause.complement = Both("sehr " * very + word.german, "very " * very + word.english)
        elif frame in ("motion", "rest"):
            clause.place = self.place("direction" if frame == "motion" else "location")
        elif self.chance(0.15):
            clause.place = self.place("location")
        if frame in ("dative", "ditransitive"):
            clause.dative = self.object(verb.objects if frame == "dative" else "p", DATIVE)
        if frame in ("accusative", "ditransitive"):
            clause.accusative = self.object(verb.objects, ACCUSATIVE)
        if when == "present" and self.chance(0.2):
            clause.modal = self.one_of(MODALS)
        clause.negated = self.chance(0.12)
        clause.time = self.pair(f"time {when}") if self.chance(0.35) else NOTHING
        return clause

    def front(self, clause: Clause) -> str:
        """Return the part that comes first in German.

        An object only if its case form is unambiguous.
        """
        chance = self.draw()
        if chance < 0.45:
            return "time" if clause.time.german else "subject"
        if chance < 0.60:
            return "place" if clause.place.german else "subject"
        for name, phrase in (("accusative", clause.accusative), ("dative", clause.dative)):
            if phrase and phrase.kind and phrase.german.split()[0].endswith(("en", "em")):
                return name if chance > 0.9 else "subject"
        return "subject"

    def subject(self, kinds: str) -> Phrase:
        """Return a pronoun or noun phrase in the nominative."""
        if "p" in kinds and self.chance(0.3):
            return pronoun(PRONOUNS[self.choice("pronouns")], NOMINATIVE)
        return self.phrase(kinds, NOMINATIVE)

    def object(self, kinds: str, case: int) -> Phrase:
        """Return a pronoun or noun phrase in an oblique case."""
        if self.chance(0.15):
            return pronoun(PRONOUNS[self.choice("pronouns" if "p" in kinds else "things")], case)
        return self.phrase(kinds, case)

    def phrase(self, kinds: str, case: int) -> Phrase:
        """Return a name, or a noun of one of `kinds` with a determiner and an adjective at times:
        das kleine Haus, the small house."""
        if "p" in kinds and self.chance(0.12):
            name, of = self.pair("name")
            return Phrase(name, name, name, PRONOUNS[of])
        noun = self.lexicon.nouns(kinds).pick(self.draw)
        if self.chance(0.06):
            noun = compound(self.lexicon.nouns("tafs").pick(self.draw), noun)
        row = self.one_of(grouped("determiners")[self.choice("determiners")])
        stem, endings, of_adjective, one, several, share = row
        is_plural = self.chance(float(share))
        gender = PLURAL if is_plural else noun.gender
        german, english = [stem + ending(endings, case, gender)], several if is_plural else one
        words = [noun.english[is_plural]]
        if self.chance(0.33):
            adjective = self.lexicon.adjectives[noun.kind].pick(self.draw)
            german.append(adjective.stem + ending(of_adjective, case, gender))
            words.insert(0, adjective.english)
        if english == "a" and words[0][0] in "aeiou":
            english = "an"
        text = " ".join(filter(None, [english, *words]))
        german.append(noun.german[is_plural][case])
        refers = PRONOUNS["they"] if is_plural else SINGULAR[noun.gender, noun.pronoun]
        return Phrase(" ".join(filter(None, german)), text, text, refers, kind=noun.kind)

    def place(self, name: str) -> Both:
        """Return a `location` or a `direction`: im Wald, in den Wald, in Wien, nach Wien."""
        if self.chance(0.08):
            city = self.pair("city")
            of_german, of_english = ("in", "in") if name == "location" else ("nach", "to")
            return Both(f"{of_german} {city.german}", f"{of_english} {city.english}")
        kind = "i" if self.chance(0.6) else "s"
        preposition, of_english = self.pair(f"{name} {kind}")
        phrase = self.phrase(kind, CASES[preposition[-1]])
        article, space, rest = phrase.german.partition(" ")
        start = f"{preposition[:-1]} {article}"
        german = (CONTRACTIONS.get(start, start) if space else start) + space + rest
        return Both(german, f"{of_english} {phrase.english}")

    def choice(self, name: str) -> str:
        """Return a random alternative of the table `choices`, in which `a*2 b` is a, a, b."""
        ((alternatives,),) = grouped("choices")[name]
        names = []
        for item in alternatives.split():
            alternative, _, weight = item.partition("*")
            names += [alternative] * int(weight or 1)
        return self.one_of(names)

    def pair(self, name: str) -> Both:
        """Return a random row of a group of the table `pairs`."""
        return self.one_of(PAIRS[name])


def ending(name: str, case: int, gender: int) -> str:
    """Return an ending or an article of the table `endings`."""
    (cases,) = grouped("endings")[name]
    return cases[case].split()[gender].strip("-")


def pronoun(one: Pronoun, case: int) -> Phrase:
    """Return a pronoun as a phrase: er, ihn, ihm; he, him."""
    subject, other = one.english
    return Phrase(one.german[case], subject, other, one, light=True)
