"""The grammar of the German-like language and its translation: noun phrases and clauses, realised
in both languages.

German has the finite verb second (first in questions, last in subordinate clauses) and the rest of
the verb at the end, time before place, any part in first position, and marks subject and objects by
case. English has the order subject, verb, object, place, time and uses auxiliaries. The tables have
the closed classes of words, the endings, and the templates of sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toy_languages.words import (
    ACCUSATIVE,
    DATIVE,
    PLURAL,
    Adjective,
    Both,
    Noun,
    Verb,
    english_verb,
    grouped,
    table,
    verb,
)

CASES = {"3": DATIVE, "4": ACCUSATIVE}  # behind prepositions in tables
PAIRS = {name: [Both(*row) for row in rows] for name, rows in grouped("pairs").items()}
CONTRACTIONS = dict(PAIRS["contraction"])
AUXILIARIES = {name: tuple(forms.split()) for name, forms in table("auxiliaries")}
PARTICLES = {*dict(grouped("rare")["separable"]).values(), "along"}
LIKE = english_verb("like")
COPULA = verb("copula", "patfis", "ist sein ist war gewesen", "be")._replace(
    present=AUXILIARIES["sein"], preterite=AUXILIARIES["war"]
)
BE = COPULA.english


class Pronoun(NamedTuple):
    """A personal pronoun: German by case, English as subject and object, the stems of its
    possessive."""

    german: list[str]
    english: list[str]
    person: int  # 0 to 5: ich, du, er, wir, ihr, sie
    possessive: list[str]
    gender: int


PRONOUNS = {
    name: Pronoun(german.split(), english.split(), int(person), stems.split(), int(gender))
    for name, german, english, person, stems, gender in table("pronouns")
}
SINGULAR = {(one.gender, one.english[0]): one for one in PRONOUNS.values() if one.person == 2}


class Phrase(NamedTuple):
    """A noun phrase or pronoun in its case."""

    german: str
    english: str
    english_object: str
    pronoun: Pronoun  # refers to the phrase
    light: bool = False  # a pronoun itself, which precedes other objects
    kind: str = ""  # kind of the noun


class Determiner(NamedTuple):
    """The first word of a noun phrase: its German stem, the rows of the table `endings` for itself
    and for adjectives behind it, English by number."""

    stem: str
    endings: str
    adjectives: str
    english: tuple[str, str]
    plural: float = 0.2  # how often its noun is in the plural


DETERMINERS = {
    name: Determiner(stem, endings, adjectives, (english, english_plural), float(plural))
    for name, stem, endings, adjectives, english, english_plural, plural in table("determiners")
}


def ending(name: str, case: int, gender: int) -> str:
    """Return an ending or an article of the table `endings`."""
    (cases,) = grouped("endings")[name]
    return cases[case].split()[gender].strip("-")


def possessive(stem: str, english: str) -> Determiner:
    """Return a possessive, which has the endings of the indefinite article: mein, euer."""
    return Determiner(stem, "ein", "mixed", (english, english))


def uninflected(german: str, english: str, plural: float = 0.2) -> Determiner:
    """Return a determiner without endings, such as a number or a name's genitive."""
    return Determiner(german, "none", "strong", (english, english), plural)


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
    own = ending(determiner.endings, case, gender)
    stem = "eur" if own and determiner.stem == "euer" else determiner.stem
    german = [stem + own]
    for word in adjectives:
        german.append(word.stem + ending(determiner.adjectives, case, gender))
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
    subject, other = pronoun.english
    return Phrase(pronoun.german[case], subject, other, pronoun, light=True)


def relative_pronoun(antecedent: Phrase, case: int) -> Phrase:
    """Return a relative pronoun: der, den, dem; who for people, that for the rest."""
    pronoun = antecedent.pronoun
    english = "who" if pronoun.english[0] in ("he", "she") else "that"
    return Phrase(ending("relative", case, pronoun.gender), english, english, pronoun)


def prepositional(preposition: Both, phrase: Phrase) -> Both:
    """Return a preposition, whose German is followed by the number of its case, and a phrase,
    contracted: in dem Haus becomes im Haus."""
    article, space, rest = phrase.german.partition(" ")
    start = f"{preposition.german[:-1]} {article}"
    if space:
        start = CONTRACTIONS.get(start, start)
    english = f"{preposition.english} {phrase.english_object}".lstrip()
    return Both(f"{start}{space}{rest}", english)


def number(value: int) -> Both:
    """Return a number from 2 to 99 in words; German has units before tens: dreiundzwanzig,
    twenty-three."""
    if value < len(PAIRS["number"]):
        return PAIRS["number"][value]
    tens, units = PAIRS["tens"][value // 10 - 2], PAIRS["number"][value % 10]
    if not value % 10:
        return tens
    return Both(f"{units.german}und{tens.german}", f"{tens.english}-{units.english}")


class Adverbial(NamedTuple):
    """An adverb or adverbial of time; `when` is the tense it requires, `middle` puts it before the
    English main verb."""

    german: str
    english: str
    when: str = "any"
    middle: str = ""


class Modal(NamedTuple):
    """A modal verb, its German forms by person; English has an auxiliary (present, negated, past)
    or, if that is empty, a verb."""

    present: str
    preterite: str  # empty if it is not used
    auxiliary: str
    negated: str
    past: str
    verb: str


MODALS = {name: Modal(*row) for name, *row in table("modals")}
NOTHING, NO_TIME = Both("", ""), Adverbial("", "")
GERN = Both("gern", "")  # er tanzt gern: he likes to dance


@dataclass(slots=True)
class Clause:
    """The structure of a clause; `front` is the part that comes first in German."""

    subject: Phrase
    verb: Verb
    tense: str = "present"  # or preterite, perfect, future
    modal: Modal | None = None
    passive: bool = False
    dative: Phrase | None = None
    accusative: Phrase | None = None
    complement: Both = NOTHING
    place: Both = NOTHING
    time: Adverbial = NO_TIME
    manner: Both = NOTHING
    negation: str = ""  # or nicht; or kein, which is a determiner already
    swapped: bool = False  # the German dative is the English subject: dem Kind gefällt das Buch
    front: str = "subject"

    def __format__(self, form: str) -> str:
        """Return the clause in German by the position of its finite verb (`second`, `first`,
        `last`, or `zu` for an infinitive), or in English as a `statement`, `question`, `imperative`
        or infinitive (`to`)."""
        return german(self, form) if form in ORDERS else english(self, form)


ORDERS = ("second", "first", "last", "zu")


def fill(template: str, **parts: Clause | Both | Phrase) -> Both:
    """Return a template of the table `templates` with its parts, in both languages."""
    ((german, english),) = grouped("templates")[template]
    return Both(german.format(**parts), english.format(**parts))


def german(clause: Clause, order: str = "second") -> str:
    """Return the clause in German, without punctuation: pronouns, time, objects, manner, place."""
    verb, person = clause.verb, clause.subject.pronoun.person
    finite, closing = german_verb(clause)
    parts = {"subject": clause.subject.german}
    if verb.reflexive:
        parts["reflexive"] = AUXILIARIES["reflexive"][person]
    objects = [("accusative", clause.accusative), ("dative", clause.dative)]
    parts |= {name: phrase.german for name, phrase in objects if phrase and phrase.light}
    parts["time"] = clause.time.german
    objects.reverse()
    parts |= {name: phrase.german for name, phrase in objects if phrase and not phrase.light}
    parts["negation"] = "nicht" if clause.negation == "nicht" else ""
    parts["manner"], parts["place"] = clause.manner.german, clause.place.german
    parts["complement"] = clause.complement.german
    separable = verb.prefix and not verb.prefix.endswith(" ")
    if order == "zu":
        del parts["subject"]
        words = [*parts.values(), f"{verb.prefix}zu{'' if separable else ' '}{verb.infinitive}"]
    elif order == "first":
        words = [finite, *parts.values(), closing]
    else:
        first = parts.pop(clause.front)
        if order == "second":
            words = [first, finite, *parts.values(), closing]
        elif separable and closing == verb.prefix:
            words = [first, *parts.values(), closing + finite]
        else:
            words = [first, *parts.values(), closing, finite]
    return " ".join(filter(None, words))


def german_verb(clause: Clause) -> tuple[str, str]:
    """Return the finite verb and the end of the clause: wird .. sehen, hat .. gesehen, steht ..
    auf."""
    verb, past = clause.verb, clause.tense == "preterite"
    forms, closing = verb.preterite if past else verb.present, verb.prefix.rstrip()
    if clause.modal:
        modal = clause.modal.preterite if past else clause.modal.present
        forms, closing = tuple(modal.split()), verb.prefix + verb.infinitive
    elif clause.passive:
        forms, closing = AUXILIARIES["wurden" if past else "werden"], verb.participle
    elif clause.tense == "future":
        forms, closing = AUXILIARIES["werden"], verb.prefix + verb.infinitive
    elif clause.tense == "perfect":
        forms, closing = AUXILIARIES["sein" if verb.with_sein else "haben"], verb.participle
    return forms[clause.subject.pronoun.person], closing


def english(clause: Clause, form: str = "statement") -> str:
    """Return the clause in English, without punctuation."""
    subject, objects = clause.subject, [clause.dative, clause.accusative]
    if clause.swapped and clause.dative:
        subject, objects = clause.dative, [clause.subject]
    auxiliary, main = english_verb_of(clause, subject.pronoun.person, form)
    opening = [auxiliary]
    if form == "question":
        opening = [auxiliary, subject.english]
    elif form == "statement":
        opening = [subject.english, auxiliary]
    middle, ending = "", {"place": clause.place.english, "time": clause.time.english}
    if clause.time.middle:
        middle = ending.pop("time")
    particle = clause.verb.english.rest
    object_words = [phrase.english_object for phrase in objects if phrase]
    if clause.accusative and clause.accusative.light and particle in PARTICLES:
        object_words.append(particle)  # pick it up, but pick up the stone
        particle = ""
    words = [
        ending.pop(clause.front, ""),
        *opening,
        "not" if clause.negation else "",
        middle,
        main,
        particle,
        *object_words,
        clause.complement.english,
        clause.manner.english,
        *ending.values(),
    ]
    return " ".join(filter(None, words)).replace(" can not ", " cannot ")


def english_verb_of(clause: Clause, person: int, form: str) -> tuple[str, str]:
    """Return the auxiliary, if any, and the main verb: does .. see, is .. seen, wants to see."""
    verb, modal, tense = clause.verb.english, clause.modal, clause.tense
    if form in ("imperative", "to"):
        return "to" if form == "to" else "do" if clause.negation else "", verb.base
    if tense == "present" and not modal and clause.time.when != "any":
        tense = clause.time.when  # the adverb decides what the German present is
    past = tense in ("preterite", "perfect", "past")
    head, tail = verb, ""
    if modal:
        present = modal.negated if clause.negation else modal.auxiliary
        if auxiliary := modal.past if past else present:
            return auxiliary, verb.base
        head, tail = english_verb(modal.verb), f" to {verb.base}"
    elif clause.manner is GERN:
        head, tail = LIKE, f" to {verb.base}"
    elif clause.passive:
        head, tail = BE, f" {verb.participle}"
    elif tense == "ongoing":
        head, tail = BE, f" {verb.progressive}"
    if tense == "future":
        return "will", head.base + tail
    if head.base == "be":
        present = "am" if person == 0 else "is" if person == 2 else "are"
        return ("was" if person in (0, 2) else "were") if past else present, tail.lstrip()
    if clause.negation or form == "question":
        return "did" if past else "does" if person == 2 else "do", head.base + tail
    finite = head.past if past else head.third if person == 2 else head.base
    return "", finite + tail
