"""The two NLI languages: the same words in different orders.

The order of `qaa` is quantifier, adjective, noun, negation, verb, object; that of `qab` noun,
adjective, quantifier, subject particle, object, verb, negation. The particle is the only word they
do not share.
"""

from __future__ import annotations

from toy_languages.nli_lexicon import NliLexicon
from toy_languages.nli_statements import Concept, Statement

QUANTIFIERS = {"all": "lo", "most": "mi", "some": "su", "no": "ne"}
NOT, AND, SUBJECT = "pa", "ke", "ga"


def realise(statement: Statement, language: str, lexicon: NliLexicon) -> str:
    """Return the sentence of a statement in a language."""
    head_last = language == "qab"

    def concept(concept: Concept) -> list[str]:
        words = [lexicon.words["noun"][concept.noun]]
        if concept.adjective is not None:
            words.append(lexicon.words["adjective"][concept.adjective])
        return words if head_last else words[::-1]

    verbs: list[str] = []
    for predicate in statement.predicates:
        kind = "transitive" if predicate.object else "intransitive"
        verb = [lexicon.words[kind][predicate.verb]]
        objects = concept(predicate.object) if predicate.object else []
        verbs += [AND] * bool(verbs) + (objects + verb if head_last else verb + objects)
    subject, quantifier = concept(statement.subject), QUANTIFIERS[statement.quantifier]
    negation = [NOT] * statement.negated
    if head_last:
        return " ".join([*subject, quantifier, SUBJECT, *verbs, *negation])
    return " ".join([quantifier, *subject, *negation, *verbs])
