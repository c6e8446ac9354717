"""The two NLI languages: the same words in different orders.

The order of `qaa` is quantifier, adjective, noun, negation, verb, object; that of `qab` noun,
adjective, quantifier, subject particle, object, verb, negation. The particle is the only word they
do not share.
"""

from __future__ import annotations

from collections.abc import Iterator

from toy_languages.nli_lexicon import NliLexicon
from toy_languages.nli_statements import Concept, Predicate, Statement

QUANTIFIERS = {"all": "lo", "most": "mi", "some": "su", "no": "ne"}
NOT, AND, SUBJECT = "pa", "ke", "ga"


def realise(statement: Statement, language: str, lexicon: NliLexicon) -> str:
    """Return the sentence of a statement in a language."""
    return " ".join({"qaa": _qaa, "qab": _qab}[language](statement, lexicon))


def _qaa(statement: Statement, lexicon: NliLexicon) -> Iterator[str]:
    yield QUANTIFIERS[statement.quantifier]
    yield from reversed(_concept(statement.subject, lexicon))
    if statement.negated:
        yield NOT
    for index, predicate in enumerate(statement.predicates):
        if index:
            yield AND
        yield _verb(predicate, lexicon)
        if predicate.object:
            yield from reversed(_concept(predicate.object, lexicon))


def _qab(statement: Statement, lexicon: NliLexicon) -> Iterator[str]:
    yield from _concept(statement.subject, lexicon)
    yield QUANTIFIERS[statement.quantifier]
    yield SUBJECT
    for index, predicate in enumerate(statement.predicates):
        if index:
            yield AND
        if predicate.object:
            yield from _concept(predicate.object, lexicon)
        yield _verb(predicate, lexicon)
    if statement.negated:
        yield NOT


def _concept(concept: Concept, lexicon: NliLexicon) -> list[str]:
    """Return the noun and the adjective, if any."""
    noun = lexicon.words["noun"][concept.noun]
    if concept.adjective is None:
        return [noun]
    return [noun, lexicon.words["adjective"][concept.adjective]]


def _verb(predicate: Predicate, lexicon: NliLexicon) -> str:
    return lexicon.words["transitive" if predicate.object else "intransitive"][predicate.verb]
