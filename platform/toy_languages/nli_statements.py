"""What sentences of the toy languages mean, and which follow from which.

A statement says of the things of some sort, all, most, some or none of them, that they do something: `most red dogs do
not chase cats`. Some things of every sort that is spoken of exist. Sorts and deeds are ordered: a red dog is a dog, a
dog is an animal; who chases red dogs chases dogs, who runs and eats eats. A statement entails what it still says when a
sort or deed grows or shrinks where its quantifier allows that (natural logic: MacCartney and Manning 2007), and
contradicts whose negation it entails. Subject and object of a deed are from different taxonomies, so that no deed makes
a thing of the sort that is spoken of.
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
        """Whether all things of this sort are of the other sort."""
        return is_a(self.noun, other.noun) and other.adjective in (None, self.adjective)


class Deed(NamedTuple):
    """What things do: an intransitive verb, or a transitive one and the sort of which they do it to some."""

    verb: int
    object: Thing | None = None

    def is_a(self, other: Deed) -> bool:
        """Whether who does this does the other."""
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
    """The relation of a premise to a hypothesis."""
    given, claimed = _claim(premise), _claim(hypothesis)
    if _follows(given, claimed):
        return "entailment"
    return "contradiction" if _follows(given, _opposite(claimed)) else "neutral"


class _Claim(NamedTuple):
    """A statement with `all`, `most` or `some`: how many of a sort do, or do not, what is said."""

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
    """The weakest claim that makes a claim false; for `most` a little more than that, which is what can be said."""
    return claim._replace(least=2 - claim.least, denied=not claim.denied)


def _follows(given: _Claim, claimed: _Claim) -> bool:
    if given.denied != claimed.denied:
        return False
    if not (_include(claimed.deeds, given.deeds) if given.denied else _include(given.deeds, claimed.deeds)):
        return False
    narrower = given.least == 2 and claimed.subject.is_a(given.subject)  # what all do, all of a narrower sort do
    if claimed.least == 2:
        return narrower
    if claimed.least == 1:
        return narrower or (given.least == 1 and given.subject == claimed.subject)
    return narrower or given.subject.is_a(claimed.subject)


def _include(deeds: Deeds, others: Deeds) -> bool:
    """Whether who does `deeds` does `others`."""
    return all(any(deed.is_a(other) for deed in deeds) for other in others)
