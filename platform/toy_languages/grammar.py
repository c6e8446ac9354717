"""The grammar of the synthetic language pair: realises a clause in German and in English.

German has the finite verb second (first in questions, last in subordinate clauses) and the rest of
the verb at the end, time before place, any part in first position, and marks subject and objects by
case. English has the order subject, verb, object, place, time and uses auxiliaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from toy_languages.inflection import English, Verb, english_verb
from toy_languages.phrases import Phrase
from toy_languages.tables import Both, grouped, table

Tense = Literal["present", "preterite", "perfect", "future"]
# The position of the German finite verb, if there is one.
Order = Literal["second", "first", "last", "infinitive"]
Form = Literal["statement", "question", "imperative", "infinitive"]  # of the English clause

AUXILIARIES = {name: tuple(forms.split()) for name, forms in table("auxiliaries")}
PARTICLES = {*dict(grouped("rare")["separable"]).values(), "along"}
BE, LIKE = english_verb("be"), english_verb("like")
COPULA = Verb(
    infinitive="sein",
    present=AUXILIARIES["sein"],
    preterite=AUXILIARIES["war"],
    participle="gewesen",
    prefix="",
    with_sein=True,
    reflexive=False,
    english=BE,
    subjects="patfis",
    objects="",
    ongoing=False,
)


class Adverbial(NamedTuple):
    """An adverb or adverbial; `when` is the tense it requires, `middle` puts it before the
    English main verb."""

    german: str
    english: str
    when: str = "any"
    middle: bool = False


GERN = Adverbial("gern", "")  # er tanzt gern: he likes to dance


class Modal(NamedTuple):
    """A modal verb; English has an auxiliary (present, negated, past) or, if that is empty, a
    verb."""

    present: tuple[str, ...]
    preterite: tuple[str, ...]  # empty if it is not used
    auxiliary: str
    negated: str
    past: str
    lexical: English


MODALS = {
    name: Modal(
        tuple(present.split()),
        tuple(preterite.split()),
        auxiliary,
        negated,
        past,
        english_verb(verb),
    )
    for name, present, preterite, auxiliary, negated, past, verb in table("modals")
}


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
    complement: Both | None = None
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
    parts = {"subject": clause.subject.german}
    if clause.verb.reflexive:
        parts["reflexive"] = AUXILIARIES["reflexive"][clause.subject.person]
    objects = [("accusative", clause.accusative), ("dative", clause.dative)]
    parts |= {name: phrase.german for name, phrase in objects if phrase and phrase.light}
    if clause.time:
        parts["time"] = clause.time.german
    objects.reverse()
    parts |= {name: phrase.german for name, phrase in objects if phrase and not phrase.light}
    if clause.negation == "nicht":
        parts["negation"] = "nicht"
    for name in ("manner", "place", "complement"):
        if part := getattr(clause, name):
            parts[name] = part.german
    return parts


def german_verb(clause: Clause) -> tuple[str, str]:
    """Return the finite verb and the end of the clause: wird .. sehen, hat .. gesehen, steht ..
    auf."""
    verb, past = clause.verb, clause.tense == "preterite"
    if clause.modal:
        forms = clause.modal.preterite if past else clause.modal.present
        closing = verb.full_infinitive
    elif clause.passive:
        forms, closing = AUXILIARIES["wurden" if past else "werden"], verb.participle
    elif clause.tense == "future":
        forms, closing = AUXILIARIES["werden"], verb.full_infinitive
    elif clause.tense == "perfect":
        forms, closing = AUXILIARIES["sein" if verb.with_sein else "haben"], verb.participle
    else:
        forms, closing = verb.preterite if past else verb.present, verb.prefix.rstrip()
    return forms[clause.subject.person], closing


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
        present = modal.negated if clause.negation else modal.auxiliary
        if auxiliary := modal.past if tense == "past" else present:
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
        auxiliary = "did" if tense == "past" else "does" if person == 2 else "do"
        return auxiliary, f"{head.base} {tail}".rstrip()
    finite = head.past if tense == "past" else head.third if person == 2 else head.base
    return "", f"{finite} {tail}".rstrip()


def english_tense(clause: Clause) -> str:
    """Return past, present, ongoing or future.

    For the German present, the adverb of time decides.
    """
    if clause.tense in ("preterite", "perfect"):
        return "past"
    time = clause.time
    if clause.tense == "present" and time and not clause.modal and time.when != "any":
        return time.when
    return clause.tense


class _Side(NamedTuple):
    """A part of a template in one language; a clause has its order or form behind a colon."""

    part: Clause | tuple[str, str]
    language: Literal[0, 1]

    def __format__(self, form: str) -> str:
        if isinstance(self.part, Clause):
            if self.language:
                return english(self.part, cast(Form, form or "statement"))
            return german(self.part, cast(Order, form or "second"))
        text = self.part[self.language]
        return capitalised(text) if form else text


def fill(template: str, **parts: Clause | tuple[str, str]) -> Both:
    """Return a template of the table `templates` with its parts, in both languages."""
    ((german, english),) = grouped("templates")[template]
    return Both(
        german.format(**{name: _Side(part, 0) for name, part in parts.items()}),
        english.format(**{name: _Side(part, 1) for name, part in parts.items()}),
    )


def capitalised(text: str) -> str:
    """Return the text with its first letter capitalised."""
    return text[0].upper() + text[1:]
