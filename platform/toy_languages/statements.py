"""What the sentences of the toy languages mean, and what follows from what.

A statement says that all, most, some or none of the entities of a concept satisfy predicates: `most
red dogs do not chase cats`. Every concept mentioned has instances. Concepts and predicates are
ordered: a red dog is a dog, a dog is an animal; chasing red dogs is chasing dogs, running and
eating is eating. A statement entails what follows by replacing a concept or predicate with a more
general or more specific one as its quantifier permits (natural logic: MacCartney and Manning,
2007), and contradicts a statement if it entails its negation. Subject and object of a predicate
come from different taxonomies, so that predicates do not affect membership in the concepts
mentioned.
"""

from __future__ import annotations

from typing import NamedTuple

from toy_languages.lexicon import line

LABELS = ("entailment", "neutral", "contradiction")


class Concept(NamedTuple):
    """A set of entities: a noun with an optional adjective."""

    noun: int
    adjective: int | None = None

    def is_a(self, other: Concept) -> bool:
        """Return whether all instances of this concept are instances of the other."""
        return other.noun in line(self.noun) and other.adjective in (None, self.adjective)


class Predicate(NamedTuple):
    """An intransitive verb, or a transitive verb with an object, which is existentially
    quantified."""

    verb: int
    object: Concept | None = None

    def is_a(self, other: Predicate) -> bool:
        """Return whether this predicate implies the other."""
        if self.object is None or other.object is None:
            return self.object == other.object and other.verb in line(self.verb)
        return other.verb in line(self.verb) and self.object.is_a(other.object)


Predicates = tuple[Predicate, ...]  # a conjunction


class Statement(NamedTuple):
    """The meaning of a sentence; `no` is never negated."""

    quantifier: str
    subject: Concept
    predicates: Predicates
    negated: bool = False


def label(premise: Statement, hypothesis: Statement) -> str:
    """Return the relation of a premise to a hypothesis."""
    premise, hypothesis = _without_no(premise), _without_no(hypothesis)
    if _follows(premise, hypothesis):
        return "entailment"
    # For `most` a slightly stronger statement, since its negation is not expressible.
    opposite = {"all": "some", "most": "most", "some": "all"}[hypothesis.quantifier]
    negation = hypothesis._replace(quantifier=opposite, negated=not hypothesis.negated)
    return "contradiction" if _follows(premise, negation) else "neutral"


def _without_no(statement: Statement) -> Statement:
    if statement.quantifier == "no":
        return statement._replace(quantifier="all", negated=True)
    return statement


def _follows(premise: Statement, conclusion: Statement) -> bool:
    if premise.negated != conclusion.negated:
        return False
    stronger, weaker = (conclusion, premise) if premise.negated else (premise, conclusion)
    for other in weaker.predicates:
        if not any(predicate.is_a(other) for predicate in stronger.predicates):
            return False
    if premise.quantifier == "all" and conclusion.subject.is_a(premise.subject):
        return True
    if conclusion.quantifier == "most":
        return premise.quantifier == "most" and premise.subject == conclusion.subject
    return conclusion.quantifier == "some" and premise.subject.is_a(conclusion.subject)
