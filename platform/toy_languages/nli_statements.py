"""The meaning of sentences of the toy languages, and which follow from which.

A statement is that of the things of some sort all, most, some or none do something: `most red dogs do not chase
cats`. Some things of every sort that is mentioned exist. Sorts and deeds are ordered: a red dog is a dog, a
dog is an animal; who chases red dogs chases dogs, who runs and eats eats. A statement entails what is still true when a
sort or deed grows or shrinks where its quantifier allows that (natural logic: MacCartney and Manning 2007), and
contradicts whose negation it entails. Subject and object of a deed are from different taxonomies, so that no deed makes
a thing of the sort that is mentioned.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from toy_languages.nli_lexicon import is_a

Quantifier = Literal["all", "most", "some", "no"]

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)


class Thing(NamedTuple):
    """A sort of things: a noun, with or without an adjective."""

    noun: int
    adjective: int | None = None

    def is_a(self, other: Thing) -> bool:
        """Return whether all things of this sort are of the other sort."""
        return is_a(self.noun, other.noun) and other.adjective in (None, self.adjective)


class Deed(NamedTuple):
    """Something that things do: an intransitive verb, or a transitive one and the sort of which they do it to some."""

    verb: int
    object: Thing | None = None

    def is_a(self, other: Deed) -> bool:
        """Return whether whoever does this does the other."""
        if self.object is None or other.object is None:
            return self.object == other.object and is_a(self.verb, other.verb)
        return is_a(self.verb, other.verb) and self.object.is_a(other.object)


Deeds = tuple[Deed, ...]  # that the same things do


class Statement(NamedTuple):
    """The meaning of a sentence; `no` is never negated."""

    quantifier: Quantifier
    subject: Thing
    deeds: Deeds
    negated: bool = False


def label(premise: Statement, hypothesis: Statement) -> Label:
    """Return the relation of a premise to a hypothesis."""
    premise_claim, claimed = _claim(premise), _claim(hypothesis)
    if _follows(premise_claim, claimed):
        return "entailment"
    return "contradiction" if _follows(premise_claim, _opposite(claimed)) else "neutral"


class _Claim(NamedTuple):
    """A statement with `all`, `most` or `some`: how many of a sort do, or do not do, the deeds."""

    least: int  # of 2 (all), 1 (most) and 0 (some)
    subject: Thing
    deeds: Deeds
    denied: bool


def _claim(statement: Statement) -> _Claim:
    if statement.quantifier == "no":
        return _Claim(2, statement.subject, statement.deeds, True)
    least = {"all": 2, "most": 1, "some": 0}[statement.quantifier]
    return _Claim(least, statement.subject, statement.deeds, statement.negated)


def _opposite(claim: _Claim) -> _Claim:
    """Return the weakest claim that makes a claim false; for `most` a slightly stronger one, which can be expressed."""
    return claim._replace(least=2 - claim.least, denied=not claim.denied)


def _follows(premise: _Claim, claimed: _Claim) -> bool:
    if premise.denied != claimed.denied:
        return False
    if not (_include(claimed.deeds, premise.deeds) if premise.denied else _include(premise.deeds, claimed.deeds)):
        return False
    narrower = premise.least == 2 and claimed.subject.is_a(premise.subject)  # what all do, all of a narrower sort do
    if claimed.least == 2:
        return narrower
    if claimed.least == 1:
        return narrower or (premise.least == 1 and premise.subject == claimed.subject)
    return narrower or premise.subject.is_a(claimed.subject)


def _include(deeds: Deeds, others: Deeds) -> bool:
    """Return whether whoever does `deeds` does `others`."""
    return all(any(deed.is_a(other) for deed in deeds) for other in others)
