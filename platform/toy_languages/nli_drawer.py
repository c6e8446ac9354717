"""Statements of the toy languages, drawn at random, and premises in a given relation to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from toy_languages.lexicon import Draw
from toy_languages.nli_lexicon import NliLexicon, hypernym, root
from toy_languages.nli_statements import LABELS, Deed, Deeds, Label, Quantifier, Statement, Thing, label

T = TypeVar("T")
Form = tuple[Quantifier, bool]  # with or without a negation

FORMS: tuple[Form, ...] = (
    ("all", False),
    ("most", False),
    ("some", False),
    ("no", False),
    ("some", True),
    ("most", True),
)
ADJECTIVE, TRANSITIVE, SECOND = 0.35, 0.6, 0.2  # how often there is one
CHANGES = (0, 1, 1, 2)  # between a hypothesis and its premise, apart from the quantifier
AIMS: tuple[Label, ...] = ("entailment", "entailment", "contradiction", "contradiction", "neutral")


class StatementDrawer:
    """Draws statements with the words of a lexicon by their frequency."""

    def __init__(self, lexicon: NliLexicon, draw: Draw):
        self.lexicon, self.draw = lexicon, draw

    def statement(self) -> Statement:
        """Return any statement."""
        quantifier, negated = self.one_of(FORMS)
        while True:
            deeds: Deeds = (self.deed(),)
            if not negated and self.chance(SECOND):
                deeds += (self.deed(),)
            statement = Statement(quantifier, self.thing(), deeds, negated)
            if sensible(statement):
                return statement

    def premise(self, hypothesis: Statement, relation: Label) -> Statement:
        """Return a statement that is likely to have a relation to a hypothesis."""
        # Quantifiers alone must not reveal what is neutral: other changes make neutral what would follow or contradict.
        aim = self.one_of(AIMS) if relation == "neutral" else relation
        forms = RELATED[(hypothesis.quantifier, hypothesis.negated), aim]
        while True:
            changed = _formed(hypothesis, self.one_of(forms))
            for _ in range(self.one_of(CHANGES)):
                changed = self.one_of(CHANGERS)(self, changed)
            if changed != hypothesis and sensible(changed):
                return changed

    def thing(self) -> Thing:
        """Return a sort of things."""
        return Thing(self.word("noun"), self.word("adjective") if self.chance(ADJECTIVE) else None)

    def deed(self) -> Deed:
        """Return something that things do."""
        if self.chance(TRANSITIVE):
            return Deed(self.word("transitive"), self.thing())
        return Deed(self.word("intransitive"))

    def near(self, kind: str, word: int) -> int:
        """Return a hyponym or the hypernym of a word, or any other word."""
        above, below = hypernym(word), self.lexicon.hyponyms(kind, word)
        chance = self.draw()
        if chance < 0.4 and above is not None:
            return above
        if chance < 0.8 and below:
            return self.one_of(below)
        return self.word(kind)

    def near_thing(self, thing: Thing) -> Thing:
        """Return a sort with another noun or adjective."""
        if self.chance(0.6):
            return thing._replace(noun=self.near("noun", thing.noun))
        return thing._replace(adjective=self.word("adjective") if thing.adjective is None or self.chance(0.3) else None)

    def near_deed(self, deed: Deed) -> Deed:
        """Return a deed with another verb or object."""
        if deed.object is None:
            return Deed(self.near("intransitive", deed.verb))
        if self.chance(0.5):
            return deed._replace(verb=self.near("transitive", deed.verb))
        return deed._replace(object=self.near_thing(deed.object))

    def word(self, kind: str) -> int:
        """Return a word by its frequency."""
        return self.lexicon.ranks[kind].pick(self.draw)

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.draw() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """Return one of `items`, all with equal probability."""
        return items[int(self.draw() * len(items))]


def sensible(statement: Statement) -> bool:
    """Return whether deeds are done to things of other taxonomies, and no deed implies another."""
    objects = [deed.object.noun for deed in statement.deeds if deed.object]
    if any(root(noun) == root(statement.subject.noun) for noun in objects):
        return False
    if len(statement.deeds) == 2:
        first, second = statement.deeds
        return not (statement.negated or first.is_a(second) or second.is_a(first))
    return True


def _formed(statement: Statement, form: Form) -> Statement:
    return statement._replace(quantifier=form[0], negated=form[1])


def _subject(drawer: StatementDrawer, statement: Statement) -> Statement:
    return statement._replace(subject=drawer.near_thing(statement.subject))


def _deed(drawer: StatementDrawer, statement: Statement) -> Statement:
    index = drawer.one_of(range(len(statement.deeds)))
    deeds = list(statement.deeds)
    deeds[index] = drawer.near_deed(deeds[index])
    return statement._replace(deeds=tuple(deeds))


def _conjunction(drawer: StatementDrawer, statement: Statement) -> Statement:
    if len(statement.deeds) == 2:
        return statement._replace(deeds=(drawer.one_of(statement.deeds),))
    return statement._replace(deeds=(*statement.deeds, drawer.deed()))


def _roles(drawer: StatementDrawer, statement: Statement) -> Statement:
    first = statement.deeds[0]
    if first.object is None:
        return statement
    deeds = (first._replace(object=statement.subject), *statement.deeds[1:])
    return statement._replace(subject=first.object, deeds=deeds)


CHANGERS: tuple[Callable[[StatementDrawer, Statement], Statement], ...] = (
    _subject,
    _subject,
    _deed,
    _deed,
    _conjunction,
    _roles,
)
"""The functions that change a part of a statement, as often as they are drawn."""

_SAME = Statement("all", Thing(0), (Deed(0),))
RELATED: dict[tuple[Form, Label], list[Form]] = {
    (claimed, aim): [form for form in FORMS if label(_formed(_SAME, form), _formed(_SAME, claimed)) == aim]
    for claimed in FORMS
    for aim in LABELS
}
"""By the form of a hypothesis, the forms of a premise with the same words: it entails, is neutral or contradicts."""
