"""Two invented languages with the same words in different orders, and what follows from what in
them.

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

from functools import cache
from itertools import product
from typing import NamedTuple

from toy_languages.randomness import Zipf, generator

ROOTS, BRANCHES = 4, 3  # of each taxonomy, of nouns and of verbs
SMALLEST, LARGEST = 24, 2000  # words of a lexicon
# Kinds of words in cyclic order.
KINDS = ("noun", "noun", "noun", "transitive", "intransitive", "adjective")
SYLLABLES = [consonant + vowel for consonant, vowel in product("bdfghjklmnprstvz", "aeiou")]
QUANTIFIERS = {"all": "lo", "most": "mi", "some": "su", "no": "ne"}
NOT, AND, SUBJECT = "pa", "ke", "ga"
LABELS = ("entailment", "neutral", "contradiction")


class NliLexicon:
    """A lexicon of `size` invented content words, the beginning of any larger one.

    The words of a kind are numbered from 0 by decreasing frequency. The hypernym of noun or verb i
    is word (i - ROOTS) // BRANCHES; the first ROOTS words have none. Hyponyms never cover all of
    their hypernym's extension.
    """

    def __init__(self, size: int):
        self.size = size
        self.words: dict[str, list[str]] = {kind: [] for kind in KINDS}
        pairs = product(SYLLABLES, repeat=2)
        invented = [first + second for first, second in pairs if first != second]
        order = generator("builtin", "nli", "lexicon").permutation(len(invented))
        for word, kind in zip(order[:size], KINDS * size, strict=False):
            self.words[kind].append(invented[word])
        self.ranks = {kind: Zipf(range(len(words))) for kind, words in self.words.items()}

    def hyponyms(self, kind: str, word: int) -> list[int]:
        """Return the direct hyponyms of a word."""
        first = ROOTS + BRANCHES * word
        return list(range(first, min(first + BRANCHES, len(self.words[kind]))))


@cache
def nli_lexicon_of(size: int) -> NliLexicon:
    """Return the lexicon of a size, created once per process."""
    return NliLexicon(size)


@cache
def line(word: int) -> tuple[int, ...]:
    """Return a word, its hypernym, the hypernym of that, up to the root of its taxonomy."""
    return (word,) if word < ROOTS else (word, *line((word - ROOTS) // BRANCHES))


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


def realise(statement: Statement, language: str, lexicon: NliLexicon) -> str:
    """Return the sentence of a statement in a language.

    The order of `qaa` is quantifier, adjective, noun, negation, verb, object; that of `qab` noun,
    adjective, quantifier, subject particle, object, verb, negation. The particle is the only word
    they do not share.
    """
    head_last = language == "qab"

    def words_of(concept: Concept) -> list[str]:
        words = [lexicon.words["noun"][concept.noun]]
        if concept.adjective is not None:
            words.append(lexicon.words["adjective"][concept.adjective])
        return words if head_last else words[::-1]

    verbs: list[str] = []
    for predicate in statement.predicates:
        kind = "transitive" if predicate.object else "intransitive"
        verb = [lexicon.words[kind][predicate.verb]]
        objects = words_of(predicate.object) if predicate.object else []
        verbs += [AND] * bool(verbs) + (objects + verb if head_last else verb + objects)
    subject, quantifier = words_of(statement.subject), QUANTIFIERS[statement.quantifier]
    negation = [NOT] * statement.negated
    if head_last:
        return " ".join([*subject, quantifier, SUBJECT, *verbs, *negation])
    return " ".join([quantifier, *subject, *negation, *verbs])
