"""Random statements of the NLI languages, and premises that are likely to have a given relation
to them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from toy_languages.nli_lexicon import NliLexicon, hypernym, root
from toy_languages.nli_statements import (
    LABELS,
    Concept,
    Label,
    Predicate,
    Predicates,
    Quantifier,
    Statement,
    label,
)
from toy_languages.randomness import Draw, Drawer

Form = tuple[Quantifier, bool]  # with or without a negation

FORMS: tuple[Form, ...] = (
    ("all", False),
    ("most", False),
    ("some", False),
    ("no", False),
    ("some", True),
    ("most", True),
)
# Probabilities of adjectives, transitive verbs and second predicates.
ADJECTIVE, TRANSITIVE, SECOND = 0.35, 0.6, 0.2
CHANGES = (0, 1, 1, 2)  # between hypothesis and premise, apart from the quantifier
AIMS: tuple[Label, ...] = ("entailment", "entailment", "contradiction", "contradiction", "neutral")


class StatementDrawer(Drawer):
    """Draws statements with words of a lexicon by frequency."""

    def __init__(self, lexicon: NliLexicon, draw: Draw):
        super().__init__(draw)
        self.lexicon = lexicon

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

    def premise(self, hypothesis: Statement, relation: Label) -> Statement:
        """Return a statement that is likely to have a relation to a hypothesis."""
        # Quantifiers alone must not reveal neutral pairs: most are made neutral by other changes.
        aim = self.one_of(AIMS) if relation == "neutral" else relation
        forms = RELATED[(hypothesis.quantifier, hypothesis.negated), aim]
        while True:
            changed = _formed(hypothesis, self.one_of(forms))
            for _ in range(self.one_of(CHANGES)):
                changed = self.one_of(CHANGERS)(self, changed)
            if changed != hypothesis and well_formed(changed):
                return changed

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
        above, below = hypernym(word), self.lexicon.hyponyms(kind, word)
        chance = self.draw()
        if chance < 0.4 and above is not None:
            return above
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
    objects = [predicate.object.noun for predicate in statement.predicates if predicate.object]
    if any(root(noun) == root(statement.subject.noun) for noun in objects):
        return False
    if len(statement.predicates) == 2:
        first, second = statement.predicates
        return not (statement.negated or first.is_a(second) or second.is_a(first))
    return True


def _formed(statement: Statement, form: Form) -> Statement:
    return statement._replace(quantifier=form[0], negated=form[1])


def _subject(drawer: StatementDrawer, statement: Statement) -> Statement:
    return statement._replace(subject=drawer.related_concept(statement.subject))


def _predicate(drawer: StatementDrawer, statement: Statement) -> Statement:
    index = drawer.one_of(range(len(statement.predicates)))
    predicates = list(statement.predicates)
    predicates[index] = drawer.related_predicate(predicates[index])
    return statement._replace(predicates=tuple(predicates))


def _conjunction(drawer: StatementDrawer, statement: Statement) -> Statement:
    if len(statement.predicates) == 2:
        return statement._replace(predicates=(drawer.one_of(statement.predicates),))
    return statement._replace(predicates=(*statement.predicates, drawer.predicate()))


def _roles(drawer: StatementDrawer, statement: Statement) -> Statement:
    first = statement.predicates[0]
    if first.object is None:
        return statement
    predicates = (first._replace(object=statement.subject), *statement.predicates[1:])
    return statement._replace(subject=first.object, predicates=predicates)


CHANGERS: tuple[Callable[[StatementDrawer, Statement], Statement], ...] = (
    _subject,
    _subject,
    _predicate,
    _predicate,
    _conjunction,
    _roles,
)
"""Functions that change a part of a statement, repeated by weight."""

_SAME = Statement("all", Concept(0), (Predicate(0),))


def _related() -> dict[tuple[Form, Label], list[Form]]:
    related: dict[tuple[Form, Label], list[Form]] = {pair: [] for pair in product(FORMS, LABELS)}
    for claimed, form in product(FORMS, FORMS):
        related[claimed, label(_formed(_SAME, form), _formed(_SAME, claimed))].append(form)
    return related


RELATED = _related()
"""(Form of the hypothesis, label) -> the forms of a premise with the same words that has this
label."""
