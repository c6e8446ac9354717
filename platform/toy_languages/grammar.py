"""The grammar of the synthetic language pair: realises a clause in German and in English.

German has the finite verb second (first in questions, last in subordinate clauses) and the rest of
the verb at the end, time before place, any part in first position, and marks subject and objects by
case. English has the order subject, verb, object, place, time and uses auxiliaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toy_languages.inflection import English, Verb, english_verb
from toy_languages.phrases import Both, Phrase
from toy_languages.words import SEPARABLE

Tense = Literal["present", "preterite", "perfect", "future"]
Order = Literal[
    "second", "first", "last", "infinitive"
]  # the position of the German finite verb, if there is one
Form = Literal["statement", "question", "imperative", "infinitive"]  # of the English clause

HABEN = ("habe", "hast", "hat", "haben", "habt", "haben")
SEIN, WAR = (
    ("bin", "bist", "ist", "sind", "seid", "sind"),
    ("war", "warst", "war", "waren", "wart", "waren"),
)
WERDEN = ("werde", "wirst", "wird", "werden", "werdet", "werden")
WURDEN = ("wurde", "wurdest", "wurde", "wurden", "wurdet", "wurden")
REFLEXIVE = ("mich", "dich", "sich", "uns", "euch", "sich")
PARTICLES = {*SEPARABLE.values(), "along"}

BE, LIKE, WANT, HAVE = (
    english_verb(words) for words in (["be"], ["like"], ["want"], ["have", "had", "had"])
)
COPULA = Verb("sein", SEIN, WAR, "gewesen", "", True, False, BE, "patfis", "", False)


@dataclass(frozen=True, slots=True)
class Adverbial:
    """An adverb or adverbial; `when` is the tense it requires, `middle` puts it before the
    English main verb."""

    german: str
    english: str
    when: str = "any"
    middle: bool = False


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal verb; English has an auxiliary (present, negated, past) or, if that is empty, a
    verb."""

    present: tuple[str, ...]
    preterite: tuple[str, ...]  # empty if it is not used
    auxiliary: str
    negated: str
    past: str
    lexical: English = HAVE


GERN = Adverbial("gern", "")  # er tanzt gern: he likes to dance
KOENNEN = Modal(
    ("kann", "kannst", "kann", "können", "könnt", "können"),
    ("konnte", "konntest", "konnte", "konnten", "konntet", "konnten"),
    "can",
    "can",
    "could",
)
MUESSEN = Modal(
    ("muss", "musst", "muss", "müssen", "müsst", "müssen"),
    ("musste", "musstest", "musste", "mussten", "musstet", "mussten"),
    "must",
    "",
    "",
)
WOLLEN = Modal(
    ("will", "willst", "will", "wollen", "wollt", "wollen"),
    ("wollte", "wolltest", "wollte", "wollten", "wolltet", "wollten"),
    "",
    "",
    "",
    WANT,
)
SOLLEN = Modal(("soll", "sollst", "soll", "sollen", "sollt", "sollen"), (), "should", "should", "")
DUERFEN = Modal(("darf", "darfst", "darf", "dürfen", "dürft", "dürfen"), (), "may", "must", "")
MODALS = (KOENNEN, MUESSEN, WOLLEN, KOENNEN, MUESSEN, WOLLEN, SOLLEN, DUERFEN)


@dataclass(slots=True)
class Clause:
    """The structure of a clause; `front` is the part that comes first in German."""

    subject: Phrase
    verb: Verb
    tense: Tense = "present"
    modal: Modal | None = None
    passive: bool = False
    dative: Phrase | None = None
    accusative: Phrase | None = None
    complement: Both | None = None  # prepositional object, agent or predicate
    place: Both | None = None
    time: Adverbial | None = None
    manner: Adverbial | None = None
    negation: Literal["", "nicht", "kein"] = ""  # `kein` is a determiner already
    swapped: bool = False  # the German dative is the English subject: dem Kind gefällt das Buch
    front: str = "subject"


def german(clause: Clause, order: Order = "second") -> str:
    """Return the clause in German, without punctuation."""
    finite, closing = german_verb(clause)
    parts = german_parts(clause)
    if order == "first":
        words = [finite, *parts.values(), closing]
    elif order == "infinitive":
        del parts["subject"]
        words = [*parts.values(), clause.verb.zu_infinitive]
    else:
        first = parts.pop(clause.front)
        if order == "second":
            words = [first, finite, *parts.values(), closing]
        elif clause.verb.separable and closing == clause.verb.prefix:
            words = [first, *parts.values(), closing + finite]
        else:
            words = [first, *parts.values(), closing, finite]
    return " ".join(filter(None, words))


def german_parts(clause: Clause) -> dict[str, str]:
    """Return the parts other than the German verb in order: pronouns, time, objects, manner,
    place."""
    dative, accusative = clause.dative, clause.accusative
    parts = {"subject": clause.subject.german}
    if clause.verb.reflexive:
        parts["reflexive"] = REFLEXIVE[clause.subject.person]
    if accusative and accusative.light:
        parts["accusative"] = accusative.german
    if dative and dative.light:
        parts["dative"] = dative.german
    if clause.time:
        parts["time"] = clause.time.german
    if dative and not dative.light:
        parts["dative"] = dative.german
    if accusative and not accusative.light:
        parts["accusative"] = accusative.german
    if clause.negation == "nicht":
        parts["negation"] = "nicht"
    if clause.manner:
        parts["manner"] = clause.manner.german
    if clause.place:
        parts["place"] = clause.place.german
    if clause.complement:
        parts["complement"] = clause.complement.german
    return parts


def german_verb(clause: Clause) -> tuple[str, str]:
    """Return the finite verb and the end of the clause: wird .. sehen, hat .. gesehen, steht ..
    auf."""
    verb, person, past = clause.verb, clause.subject.person, clause.tense == "preterite"
    if clause.modal:
        return (clause.modal.preterite if past else clause.modal.present)[
            person
        ], verb.full_infinitive
    if clause.passive:
        return (WURDEN if past else WERDEN)[person], verb.participle
    if clause.tense == "future":
        return WERDEN[person], verb.full_infinitive
    if clause.tense == "perfect":
        return (SEIN if verb.with_sein else HABEN)[person], verb.participle
    return (verb.preterite if past else verb.present)[person], verb.prefix.rstrip()


def english(clause: Clause, form: Form = "statement") -> str:
    """Return the clause in English, without punctuation."""
    subject, objects = clause.subject, [clause.dative, clause.accusative]
    if clause.swapped and clause.dative:
        subject, objects = clause.dative, [clause.subject]
    auxiliary, main = english_verbs(clause, subject.person, form)
    opening = [subject.english, auxiliary]
    if form == "question":
        opening.reverse()
    elif form != "statement":
        opening = [auxiliary]
    middle, ending = "", {}
    if clause.place:
        ending["place"] = clause.place.english
    if clause.time and clause.time.middle:
        middle = clause.time.english
    elif clause.time:
        ending["time"] = clause.time.english
    particle, object_words = (
        clause.verb.english.rest,
        [phrase.english_object for phrase in objects if phrase],
    )
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
        clause.complement.english if clause.complement else "",
        clause.manner.english if clause.manner else "",
        *ending.values(),
    ]
    return " ".join(filter(None, words)).replace(" can not ", " cannot ")


def english_verbs(clause: Clause, person: int, form: Form) -> tuple[str, str]:
    """Return the auxiliary, if any, and the main verb: does .. see, is .. seen, wants to see."""
    verb, modal, tense = clause.verb.english, clause.modal, english_tense(clause)
    if form in ("imperative", "infinitive"):
        return "to" if form == "infinitive" else "do" if clause.negation else "", verb.base
    head, tail = verb, ""
    if modal:
        auxiliary = (
            modal.past if tense == "past" else modal.negated if clause.negation else modal.auxiliary
        )
        if auxiliary:
            return auxiliary, verb.base
        head, tail = modal.lexical, f"to {verb.base}"
    elif clause.manner is GERN:
        head, tail = LIKE, f"to {verb.base}"
    elif clause.passive:
        head, tail = BE, verb.participle
    elif tense == "ongoing":
        head, tail = BE, verb.progressive
    if tense == "future":
        return "will", f"{head.base} {tail}".rstrip()
    if head.base == "be":
        present = "am" if person == 0 else "is" if person == 2 else "are"
        return ("was" if person in (0, 2) else "were") if tense == "past" else present, tail
    if clause.negation or form == "question":
        return (
            "did" if tense == "past" else "does" if person == 2 else "do",
            f"{head.base} {tail}".rstrip(),
        )
    finite = head.past if tense == "past" else head.third if person == 2 else head.base
    return "", f"{finite} {tail}".rstrip()


def english_tense(clause: Clause) -> str:
    """Return past, present, ongoing or future.

    For the German present, the adverb of time decides.
    """
    if clause.tense in ("preterite", "perfect"):
        return "past"
    if (
        clause.tense == "present"
        and clause.time
        and not clause.modal
        and clause.time.when in ("future", "ongoing")
    ):
        return clause.time.when
    return clause.tense
