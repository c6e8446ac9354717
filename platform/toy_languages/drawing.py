"""Random statements, and premises that are likely to have a given relation
to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import TypeVar

from toy_languages.lexicon import Draw, Lexicon, line
from toy_languages.statements import Concept, Predicate, Predicates, Statement, label

T = TypeVar("T")

# Quantifiers, with or without a negation.
FORMS = [(quantifier, False) for quantifier in ("all", "most", "some", "no")]
FORMS += [("some", True), ("most", True)]
# Probabilities of adjectives, transitive verbs and second predicates.
ADJECTIVE, TRANSITIVE, SECOND = 0.35, 0.6, 0.2
COUNTS = (0, 1, 1, 2)  # of changes between hypothesis and premise, apart from the quantifier
CHANGES = ("subject", "subject", "predicate", "predicate", "conjunction", "roles")
AIMS = ("entailment", "entailment", "contradiction", "contradiction", "neutral")


class StatementDrawer:
    """Draws statements with words of a lexicon by frequency from a random stream."""

    def __init__(self, lexicon: Lexicon, draw: Draw):
        self.lexicon, self.draw = lexicon, draw

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.draw() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """Return a uniformly random item."""
        return items[int(self.draw() * len(items))]

    def statement(self) -> Statement:
        """Return a random statement."""
        quantifier, negated = self.one_of(FORMS)
        while True:
            predicates: Predicates = (self.predicate(),)
            if not negated and self.chance(SECOND):
                predicates += (self.predicate(),)
            statement = Statement(quantifier, self.concept(), predicates, negated)
            if well_formed(statement):
                return statement

    def premise(self, hypothesis: Statement, relation: str) -> Statement:
        """Return a statement that is likely to have a relation to a hypothesis."""
        # Quantifiers alone must not reveal neutral pairs: most are made neutral by other changes.
        aim = self.one_of(AIMS) if relation == "neutral" else relation
        forms = RELATED[hypothesis.quantifier, hypothesis.negated, aim]
        while True:
            quantifier, negated = self.one_of(forms)
            premise = hypothesis._replace(quantifier=quantifier, negated=negated)
            for _ in range(self.one_of(COUNTS)):
                premise = self.changed(premise)
            if premise != hypothesis and well_formed(premise):
                return premise

    def changed(self, statement: Statement) -> Statement:
        """Return a statement with another subject or predicate, with one predicate more or less, or
        with the subject and the object exchanged."""
        change, predicates = self.one_of(CHANGES), list(statement.predicates)
        if change == "subject":
            return statement._replace(subject=self.related_concept(statement.subject))
        if change == "predicate":
            index = self.one_of(range(len(predicates)))
            predicates[index] = self.related_predicate(predicates[index])
        elif change == "conjunction" and len(predicates) == 2:
            predicates = [self.one_of(predicates)]
        elif change == "conjunction":
            predicates.append(self.predicate())
        elif item := predicates[0].object:
            predicates[0] = predicates[0]._replace(object=statement.subject)
            statement = statement._replace(subject=item)
        return statement._replace(predicates=tuple(predicates))

    def concept(self) -> Concept:
        """Return a random concept."""
        noun = self.word("noun")
        return Concept(noun, self.word("adjective") if self.chance(ADJECTIVE) else None)

    def predicate(self) -> Predicate:
        """Return a random predicate."""
        if self.chance(TRANSITIVE):
            return Predicate(self.word("transitive"), self.concept())
        return Predicate(self.word("intransitive"))

    def related_word(self, kind: str, word: int) -> int:
        """Return a hyponym or the hypernym of a word, or a random word."""
        above, below = line(word)[1:], self.lexicon.hyponyms(kind, word)
        chance = self.draw()
        if chance < 0.4 and above:
            return above[0]
        if chance < 0.8 and below:
            return self.one_of(below)
        return self.word(kind)

    def related_concept(self, concept: Concept) -> Concept:
        """Return a concept with another noun or adjective."""
        if self.chance(0.6):
            return concept._replace(noun=self.related_word("noun", concept.noun))
        other = concept.adjective is None or self.chance(0.3)
        return concept._replace(adjective=self.word("adjective") if other else None)

    def related_predicate(self, predicate: Predicate) -> Predicate:
        """Return a predicate with another verb or object."""
        if predicate.object is None:
            return Predicate(self.related_word("intransitive", predicate.verb))
        if self.chance(0.5):
            return predicate._replace(verb=self.related_word("transitive", predicate.verb))
        return predicate._replace(object=self.related_concept(predicate.object))

    def word(self, kind: str) -> int:
        """Return a random word of a kind by frequency."""
        return self.lexicon.ranks[kind].pick(self.draw)


def well_formed(statement: Statement) -> bool:
    """Return whether objects are of other taxonomies than the subject and no predicate implies
    another."""
    root = line(statement.subject.noun)[-1]
    for predicate in statement.predicates:
        if predicate.object and line(predicate.object.noun)[-1] == root:
            return False
    if len(statement.predicates) == 2:
        first, second = statement.predicates
        return not (statement.negated or first.is_a(second) or second.is_a(first))
    return True


RELATED: dict[tuple[str, bool, str], list[tuple[str, bool]]] = defaultdict(list)
"""Quantifier and negation of a hypothesis, and a label -> those of the premises with the same words
that have this label."""
for claimed, form in product(FORMS, FORMS):
    of_form, of_claim = (
        Statement(quantifier, Concept(0), (Predicate(0),), negated)
        for quantifier, negated in (form, claimed)
    )
    RELATED[(*claimed, label(of_form, of_claim))].append(form)
