"""Random sentences of the synthetic language pair: statements, questions, subordinate clauses,
direct speech. The table `templates` has their form."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from toy_languages.clause_drawer import SIMPLE, ClauseDrawer, When
from toy_languages.grammar import COPULA, GERN, Clause, capitalised, english, fill
from toy_languages.inflection import ACCUSATIVE, NOMINATIVE, verb
from toy_languages.phrases import PRONOUNS, Phrase, pronoun_phrase
from toy_languages.tables import Both

WHENS: tuple[When, ...] = get_args(When)
SAY, ASK = verb("p", "sagen", "say said said"), verb("p", "fragen", "ask")
GIVE = verb("p", "geben gibt gab gegeben", "give gave given")
IT, IHR = PRONOUNS["it"], PRONOUNS["ihr"]
CAUSAL = ("weil", "obwohl")


def sentence(drawer: ClauseDrawer) -> Both:
    """Return a random sentence in both languages."""
    german, english = PATTERNS[drawer.choice("sentences")](drawer)
    # A relative clause ends in a comma, which other marks take the place of.
    german = re.sub(r" (?=,)|,(?= ?[,.!?“])", "", german)
    return Both(capitalised(german), capitalised(english.replace(" ,", ",")))


def statement(drawer: ClauseDrawer) -> Both:
    """Return a statement: Heute sieht der Hund die Katze."""
    return fill("statement", clause=drawer.clause(drawer.one_of(WHENS)))


def question(drawer: ClauseDrawer) -> Both:
    """Return a question: Sieht der Hund die Katze? Warum steht der Mann auf?"""
    return fill("question", words=question_clause(drawer))


def question_clause(drawer: ClauseDrawer) -> Both:
    """Return a question without its question mark: a yes-no question, or one with a question
    word."""
    clause = drawer.clause(drawer.one_of(WHENS))
    clause.front = "subject"
    chance = drawer.draw()
    if chance < 0.3:
        word = drawer.pair("question word")
        if word.german in ("wann", "wie oft"):
            clause.time = None
        elif word.german == "wo":
            clause.place = None
        return fill("word", word=word, clause=clause)
    if chance < 0.4 and "p" in clause.verb.subjects and not (clause.passive or clause.swapped):
        clause.subject = Phrase("wer", "who", "who", IT)
        return fill("clause", clause=clause)
    if chance < 0.55 and clause.accusative and clause.negation != "kein":
        word = Both("wen", "who") if clause.accusative.kind == "p" else Both("was", "what")
        clause.accusative = None
        return fill("word", word=word, clause=clause)
    return fill("yes or no", clause=clause)


def complex_sentence(drawer: ClauseDrawer) -> Both:
    """Return a complex sentence: Der Hund schläft, weil er müde ist. Weil der Hund müde ist,
    schläft er."""
    when = drawer.one_of(WHENS)
    word = drawer.pair(f"subordinator {when}")
    first = drawer.clause(when)
    second = drawer.clause(when, referring(drawer, first))
    begins = drawer.chance(0.4)
    subordinate = first if begins else second
    time = subordinate.time
    # Neither language has a future after wenn, bevor or bis.
    future = "future" in (subordinate.tense, time.when if time else "")
    if word.german not in CAUSAL and future:
        subordinate.tense, subordinate.time = "present", None
    second.front = "subject"
    if begins:
        first.front = "subject"
        return fill("subordinate first", word=word, first=first, second=second)
    if drawer.chance(0.1):
        weather = drawer.pair(f"weather {when}")
        return fill("weather", first=first, word=word, weather=weather)
    return fill("subordinate last", first=first, word=word, second=second)


def compound_sentence(drawer: ClauseDrawer) -> Both:
    """Return a compound sentence: Der Hund schläft, aber die Katze spielt."""
    when = drawer.one_of(WHENS)
    first = drawer.clause(when)
    second = drawer.clause(when, referring(drawer, first))
    return fill("compound", first=first, word=drawer.pair("coordinator"), second=second)


def referring(drawer: ClauseDrawer, clause: Clause) -> Phrase | None:
    """Return a pronoun for the subject of a clause (der Hund: er, it), or None for a new
    subject."""
    if acts(clause) and drawer.chance(0.55):
        return pronoun_phrase(clause.subject.pronoun, NOMINATIVE)
    return None


def acts(clause: Clause) -> bool:
    """Return whether the subject is a person or an animal that does something."""
    return clause.subject.kind in ("", "p", "a") and not (clause.passive or clause.swapped)


def report(drawer: ClauseDrawer) -> Both:
    """Return reported speech: Das Kind glaubt, dass der Hund schläft. Das Kind glaubt, der Hund
    schläft."""
    when = drawer.one_of(WHENS)
    verb = drawer.lexicon.verbs["clause"].pick(drawer.draw)
    main = Clause(drawer.subject(verb.subjects), verb, drawer.tense(when))
    inner = drawer.clause(when)
    if drawer.chance(0.25):
        return fill("report", main=main, inner=inner)
    inner.front = "subject"
    return fill("report that", main=main, inner=inner)


def intention(drawer: ClauseDrawer) -> Both:
    """Return an infinitive clause: Das Kind versucht, den Hund zu sehen; .. läuft in den Garten,
    um ihn zu sehen."""
    when = drawer.one_of(WHENS)
    if drawer.chance(0.6):
        verb = drawer.lexicon.verbs["infinitive"].pick(drawer.draw)
        main, template = Clause(drawer.subject(verb.subjects), verb, SIMPLE[when]), "intention"
    else:
        main, template = drawer.clause(when), "purpose"
        if not acts(main):
            return fill("statement", clause=main)
    return fill(template, main=main, inner=bare(drawer.clause(when, main.subject)))


def request(drawer: ClauseDrawer) -> Both:
    """Return a request: Gebt dem Kind das Buch!"""
    clause = bare(drawer.clause("present", pronoun_phrase(IHR, NOMINATIVE)))
    clause.subject = Phrase("", "", "", IHR)
    return fill("request", clause=clause)


def bare(clause: Clause) -> Clause:
    """Return the clause without tense, modal verb and time, for infinitives and imperatives."""
    manner = None if clause.manner is GERN else clause.manner
    return replace(clause, tense="present", modal=None, time=None, manner=manner, front="subject")


def existence(drawer: ClauseDrawer) -> Both:
    """Return a statement of existence: Im Wald gibt es keine Katze, in the forest there is not a
    cat."""
    tense = SIMPLE[drawer.one_of(WHENS)]
    negated = drawer.chance(0.2)
    determiners = "indefinite determiners"
    phrase = drawer.phrase("patf", ACCUSATIVE, negated=negated, determiners=determiners)
    clause = Clause(pronoun_phrase(IT, NOMINATIVE), GIVE, tense, accusative=phrase)
    clause.place, clause.negation = drawer.location(), "kein" if negated else ""
    clause.front = drawer.one_of(("subject", "place"))
    there, what = Phrase("", "there", "there", phrase.pronoun), Both("", phrase.english)
    other = replace(clause, subject=there, verb=COPULA, accusative=None, complement=what)
    return fill("existence", clause=clause, english=("", english(other)))


def speech(drawer: ClauseDrawer) -> Both:
    """Return direct speech: „Wo ist der Hund?“, fragte der König."""
    tense = SIMPLE[drawer.one_of(WHENS)]
    speaker = drawer.phrase("p", NOMINATIVE)
    if drawer.chance(0.5):
        words, verb, template = question_clause(drawer), ASK, "ask"
    else:
        words, verb, template = fill("clause", clause=drawer.clause("present")), SAY, "say"
    return fill(template, words=words, framing=Clause(speaker, verb, tense))


PATTERNS = {
    pattern.__name__: pattern
    for pattern in (
        statement,
        question,
        complex_sentence,
        compound_sentence,
        report,
        intention,
        existence,
        request,
        speech,
    )
}
