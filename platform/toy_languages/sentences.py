"""Random sentences of the synthetic language pair: statements, questions, subordinate clauses,
direct speech."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from toy_languages.clause_drawer import SIMPLE, TENSES, ClauseDrawer, When
from toy_languages.grammar import COPULA, GERN, Clause, english, german
from toy_languages.inflection import ACCUSATIVE, NOMINATIVE
from toy_languages.lexicon import read_verb
from toy_languages.phrase_drawer import INDEFINITE_DETERMINERS, IT
from toy_languages.phrases import IHR, Both, Phrase, pronoun_phrase

WHENS: tuple[When, ...] = get_args(When)
SUBORDINATORS = (
    ("weil", "because"),
    ("weil", "because"),
    ("weil", "because"),
    ("obwohl", "although"),
)
TEMPORAL = (("während", "while"), ("bevor", "before"), ("bis", "until"))
WHEN_CLAUSE = {"present": ("wenn", "when"), "past": ("als", "when")}
COORDINATORS = ((" und", " and"), (", aber", ", but"), (", denn", " because"), (" oder", " or"))
QUESTION_WORDS = (
    ("warum", "why"),
    ("warum", "why"),
    ("wann", "when"),
    ("wo", "where"),
    ("wie oft", "how often"),
)
WEATHER = {
    "present": (("es regnet", "it is raining"), ("die Sonne scheint", "the sun is shining")),
    "past": (("es regnete", "it was raining"), ("die Sonne schien", "the sun was shining")),
}
SAY, ASK = read_verb("p sagen = say said said"), read_verb("p fragen = ask")
GIVE = read_verb("p geben gibt gab gegeben = give gave given")


def sentence(drawer: ClauseDrawer) -> Both:
    """Return a random sentence in both languages."""
    return drawer.one_of(PATTERNS)(drawer)


def statement(drawer: ClauseDrawer) -> Both:
    """Return a statement: Heute sieht der Hund die Katze."""
    return closed(main_clause(drawer, drawer.one_of(WHENS)))


def question(drawer: ClauseDrawer) -> Both:
    """Return a question: Sieht der Hund die Katze? Warum steht der Mann auf?"""
    return closed(question_clause(drawer), "?")


def main_clause(drawer: ClauseDrawer, when: When) -> Both:
    """Return a main clause without punctuation."""
    clause = drawer.clause(when)
    return Both(german(clause), english(clause))


def question_clause(drawer: ClauseDrawer) -> Both:
    """Return a question without its question mark: a yes-no question, or one with a question
    word."""
    clause = drawer.clause(drawer.one_of(WHENS))
    clause.front = "subject"
    chance = drawer.draw()
    if chance < 0.3:
        word, english_word = drawer.one_of(QUESTION_WORDS)
        if word in ("wann", "wie oft"):
            clause.time = None
        elif word == "wo":
            clause.place = None
        return Both(
            f"{word} {german(clause, 'first')}", f"{english_word} {english(clause, 'question')}"
        )
    if chance < 0.4 and "p" in clause.verb.subjects and not (clause.passive or clause.swapped):
        clause.subject = Phrase("wer", "who", "who", IT)
        return Both(german(clause), english(clause))
    if chance < 0.55 and clause.accusative and clause.negation != "kein":
        word, english_word = ("wen", "who") if clause.accusative.kind == "p" else ("was", "what")
        clause.accusative = None
        return Both(
            f"{word} {german(clause, 'first')}", f"{english_word} {english(clause, 'question')}"
        )
    return Both(german(clause, "first"), english(clause, "question"))


def complex_sentence(drawer: ClauseDrawer) -> Both:
    """Return a complex sentence: Der Hund schläft, weil er müde ist. Weil der Hund müde ist,
    schläft er."""
    when = drawer.one_of(WHENS)
    conjunction = drawer.one_of((*SUBORDINATORS, *TEMPORAL, WHEN_CLAUSE[when]))
    first = drawer.clause(when)
    second = drawer.clause(when, referring(drawer, first))
    if drawer.chance(0.4):
        opening, second.front = subordinate(first, conjunction), "subject"
        return closed(
            Both(
                f"{opening.german}, {german(second, 'first')}",
                f"{opening.english}, {english(second)}",
            )
        )
    closing = subordinate(second, conjunction)
    if drawer.chance(0.1):
        weather = drawer.one_of(WEATHER[when])
        closing = Both(
            *(f"{word} {clause}" for word, clause in zip(conjunction, weather, strict=True))
        )
    return closed(
        Both(
            f"{german(first).rstrip(',')}, {closing.german}", f"{english(first)} {closing.english}"
        )
    )


def subordinate(clause: Clause, conjunction: tuple[str, str]) -> Both:
    """Return a subordinate clause, weil der Hund müde ist.

    Neither language has a future after wenn, bevor or bis.
    """
    clause.front = "subject"
    if conjunction not in SUBORDINATORS and "future" in (
        clause.tense,
        clause.time and clause.time.when,
    ):
        clause.tense, clause.time = "present", None
    return Both(
        f"{conjunction[0]} {german(clause, 'last')}".rstrip(","),
        f"{conjunction[1]} {english(clause)}",
    )


def compound_sentence(drawer: ClauseDrawer) -> Both:
    """Return a compound sentence: Der Hund schläft, aber die Katze spielt."""
    when = drawer.one_of(WHENS)
    first = drawer.clause(when)
    second = drawer.clause(when, referring(drawer, first))
    conjunction, english_conjunction = drawer.one_of(COORDINATORS)
    start = german(first)
    if conjunction.startswith(","):
        start = start.rstrip(",")
    return closed(
        Both(
            f"{start}{conjunction} {german(second)}",
            f"{english(first)}{english_conjunction} {english(second)}",
        )
    )


def referring(drawer: ClauseDrawer, clause: Clause) -> Phrase | None:
    """Return a pronoun for the subject of a clause (der Hund: er, it), or None for a new
    subject."""
    return (
        pronoun_phrase(clause.subject.pronoun, NOMINATIVE)
        if acts(clause) and drawer.chance(0.55)
        else None
    )


def acts(clause: Clause) -> bool:
    """Return whether the subject is a person or an animal that does something."""
    return clause.subject.kind in ("", "p", "a") and not (clause.passive or clause.swapped)


def report(drawer: ClauseDrawer) -> Both:
    """Return reported speech: Das Kind glaubt, dass der Hund schläft. Das Kind glaubt, der Hund
    schläft."""
    when = drawer.one_of(WHENS)
    verb = drawer.lexicon.verbs["clause"].pick(drawer.draw)
    main = Clause(drawer.subject(verb.subjects), verb, drawer.one_of(TENSES[when]))
    inner = drawer.clause(when)
    if drawer.chance(0.25):
        return closed(Both(f"{german(main)}, {german(inner)}", f"{english(main)} {english(inner)}"))
    inner.front = "subject"
    return closed(
        Both(
            f"{german(main)}, dass {german(inner, 'last')}",
            f"{english(main)} that {english(inner)}",
        )
    )


def intention(drawer: ClauseDrawer) -> Both:
    """Return an infinitive clause: Das Kind versucht, den Hund zu sehen; .. läuft in den Garten,
    um ihn zu sehen."""
    when = drawer.one_of(WHENS)
    if drawer.chance(0.6):
        verb = drawer.lexicon.verbs["infinitive"].pick(drawer.draw)
        main, opening, purpose = Clause(drawer.subject(verb.subjects), verb, SIMPLE[when]), "", ""
    else:
        main, opening, purpose = drawer.clause(when), "um ", "in order "
        if not acts(main):
            return closed(Both(german(main), english(main)))
    inner = bare(drawer.clause(when, main.subject))
    return closed(
        Both(
            f"{german(main).rstrip(',')}, {opening}{german(inner, 'infinitive')}",
            f"{english(main)} {purpose}{english(inner, 'infinitive')}",
        )
    )


def request(drawer: ClauseDrawer) -> Both:
    """Return a request: Gebt dem Kind das Buch!"""
    clause = bare(drawer.clause("present", pronoun_phrase(IHR, NOMINATIVE)))
    clause.subject = Phrase("", "", "", IHR)
    return closed(Both(german(clause, "first"), english(clause, "imperative")), "!")


def bare(clause: Clause) -> Clause:
    """Return the clause without tense, modal verb and time, for infinitives and imperatives."""
    manner = None if clause.manner is GERN else clause.manner
    return replace(clause, tense="present", modal=None, time=None, manner=manner, front="subject")


def existence(drawer: ClauseDrawer) -> Both:
    """Return a statement of existence: Im Wald gibt es keine Katze, in the forest there is not a
    cat."""
    tense = SIMPLE[drawer.one_of(WHENS)]
    negated = drawer.chance(0.2)
    phrase = drawer.phrase("patf", ACCUSATIVE, negated=negated, determiners=INDEFINITE_DETERMINERS)
    clause = Clause(
        pronoun_phrase(IT, NOMINATIVE),
        GIVE,
        tense,
        accusative=phrase,
        place=drawer.location(),
        negation="kein" if negated else "",
        front=drawer.one_of(("subject", "place")),
    )
    subject = Phrase("", "there", "there", phrase.pronoun)
    predicate = Both("", phrase.english)
    return closed(
        Both(
            german(clause),
            english(
                replace(clause, subject=subject, verb=COPULA, accusative=None, complement=predicate)
            ),
        )
    )


def speech(drawer: ClauseDrawer) -> Both:
    """Return direct speech: „Wo ist der Hund?“, fragte der König."""
    tense = SIMPLE[drawer.one_of(WHENS)]
    speaker = drawer.phrase("p", NOMINATIVE)
    if drawer.chance(0.5):
        words, verb, mark, english_mark = question_clause(drawer), ASK, "?", "?"
    else:
        words, verb, mark, english_mark = main_clause(drawer, "present"), SAY, "", ","
    framing = Clause(speaker, verb, tense)
    quoted = capitalised(words.german.rstrip(",")) + mark
    return closed(
        Both(
            f"„{quoted}“, {german(framing, 'first')}",
            f"“{capitalised(words.english)}{english_mark}” {english(framing)}",
        )
    )


def closed(words: Both, mark: str = ".") -> Both:
    """Return a sentence with capital letter and final punctuation."""
    return Both(capitalised(words.german.rstrip(",")) + mark, capitalised(words.english) + mark)


def capitalised(text: str) -> str:
    """Return the text with its first letter capitalised."""
    return text[0].upper() + text[1:]


Pattern = Callable[[ClauseDrawer], Both]
PATTERNS: list[Pattern] = [
    pattern
    for pattern, weight in {
        statement: 40,
        question: 12,
        complex_sentence: 18,
        compound_sentence: 8,
        report: 7,
        intention: 5,
        existence: 3,
        request: 3,
        speech: 4,
    }.items()
    for _ in range(weight)
]
