"""The meaning of sentences of the NLI languages and the entailment between them.

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

from typing import Literal, NamedTuple, get_args

from toy_languages.nli_lexicon import is_a

Quantifier = Literal["all", "most", "some", "no"]

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)


class Concept(NamedTuple):
    """A set of entities: a noun with an optional adjective."""

    noun: int
    adjective: int | None = None

    def is_a(self, other: Concept) -> bool:
        """Return whether all instances of this concept are instances of the other."""
        return is_a(self.noun, other.noun) and other.adjective in (None, self.adjective)


class Predicate(NamedTuple):
    """An intransitive verb, or a transitive verb with an object, which is existentially
    quantified."""

    verb: int
    object: Concept | None = None

    def is_a(self, other: Predicate) -> bool:
        """Return whether this predicate implies the other."""
        if self.object is None or other.object is None:
            return self.object == other.object and is_a(self.verb, other.verb)
        return is_a(self.verb, other.verb) and self.object.is_a(other.object)


Predicates = tuple[Predicate, ...]  # a conjunction


class Statement(NamedTuple):
    """The meaning of a sentence; `no` is never negated."""

    quantifier: Quantifier
    subject: Concept
    predicates: Predicates
    negated: bool = False


def label(premise: Statement, hypothesis: Statement) -> Label:
    """Return the relation of a premise to a hypothesis."""
    claim, hypothesis_claim = _claim(premise), _claim(hypothesis)
    if _follows(claim, hypothesis_claim):
        return "entailment"
    return "contradiction" if _follows(claim, _negation(hypothesis_claim)) else "neutral"


class _Claim(NamedTuple):
    """A statement with `all`, `most` or `some`: how many instances satisfy, or do not satisfy,
    the predicates."""

    least: int  # 2 (all), 1 (most) or 0 (some)
    subject: Concept
    predicates: Predicates
    denied: bool


def _claim(statement: Statement) -> _Claim:
    if statement.quantifier == "no":
        return _Claim(2, statement.subject, statement.predicates, True)
    least = {"all": 2, "most": 1, "some": 0}[statement.quantifier]
    return _Claim(least, statement.subject, statement.predicates, statement.negated)


def _negation(claim: _Claim) -> _Claim:
    """Return the negation of a claim.

    For `most` a slightly stronger claim, since its negation is not expressible.
    """
    return claim._replace(least=2 - claim.least, denied=not claim.denied)


def _follows(premise: _Claim, conclusion: _Claim) -> bool:
    if premise.denied != conclusion.denied:
        return False
    stronger, weaker = (conclusion, premise) if premise.denied else (premise, conclusion)
    if not _implies(stronger.predicates, weaker.predicates):
        return False
    by_universal = premise.least == 2 and conclusion.subject.is_a(premise.subject)
    if conclusion.least == 2:
        return by_universal
    if conclusion.least == 1:
        return by_universal or (premise.least == 1 and premise.subject == conclusion.subject)
    return by_universal or premise.subject.is_a(conclusion.subject)


def _implies(predicates: Predicates, others: Predicates) -> bool:
    """Return whether satisfying all `predicates` implies satisfying all `others`."""
    return all(any(predicate.is_a(other) for predicate in predicates) for other in others)
