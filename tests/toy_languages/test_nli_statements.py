"""Entailment and contradiction: by hand, and by all small models of the sentences."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice, product
from typing import Any

import numpy as np
import pytest

from augury.corpora.builtin_nli import inferences
from toy_languages.nli_lexicon import NliLexicon
from toy_languages.nli_statements import Deed, Statement, Thing, label

ANIMAL, DOG, POODLE, CAT = 0, 4, 16, 5  # in the taxonomy: 4 and 5 are below 0, 16 is below 4
CAR, RED, MOVE, RUN, SLEEP, SEE, WATCH = 1, 2, 0, 4, 1, 0, 4
L = {"E": "entailment", "N": "neutral", "C": "contradiction"}


def say(quantifier: Any, subject: int | Thing, *deeds: int | Deed, negated: bool = False) -> Statement:
    subject = Thing(subject) if isinstance(subject, int) else subject
    done = tuple(Deed(deed) if isinstance(deed, int) else deed for deed in deeds)
    return Statement(quantifier, subject, done, negated)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        (say("all", DOG, RUN), say("all", POODLE, RUN), "E"),
        (say("all", DOG, RUN), say("all", ANIMAL, RUN), "N"),
        (say("all", DOG, RUN), say("all", DOG, MOVE), "E"),
        (say("all", DOG, MOVE), say("all", DOG, RUN), "N"),
        (say("all", DOG, RUN), say("most", POODLE, MOVE), "E"),
        (say("all", DOG, RUN), say("some", POODLE, RUN), "E"),
        (say("all", DOG, RUN), say("some", ANIMAL, RUN), "E"),
        (say("all", DOG, RUN), say("most", ANIMAL, RUN), "N"),
        (say("all", DOG, RUN), say("no", POODLE, RUN), "C"),
        (say("all", DOG, RUN), say("no", ANIMAL, RUN), "C"),
        (say("all", DOG, RUN), say("some", POODLE, MOVE, negated=True), "C"),
        (say("all", DOG, RUN), say("some", ANIMAL, RUN, negated=True), "N"),
        (say("all", DOG, RUN), say("all", CAT, RUN), "N"),
        (say("no", DOG, MOVE), say("no", POODLE, RUN), "E"),
        (say("no", DOG, RUN), say("no", DOG, MOVE), "N"),
        (say("no", DOG, RUN), say("some", DOG, RUN, negated=True), "E"),
        (say("no", DOG, MOVE), say("most", POODLE, RUN, negated=True), "E"),
        (say("no", DOG, MOVE), say("most", DOG, RUN), "C"),
        (say("most", DOG, RUN), say("some", ANIMAL, MOVE), "E"),
        (say("most", DOG, RUN), say("most", POODLE, RUN), "N"),
        (say("most", DOG, RUN), say("most", ANIMAL, RUN), "N"),
        (say("most", DOG, RUN), say("all", DOG, RUN), "N"),
        (say("most", DOG, RUN), say("most", DOG, MOVE, negated=True), "C"),
        (say("most", DOG, RUN), say("most", ANIMAL, RUN, negated=True), "N"),
        (say("most", DOG, RUN), say("no", ANIMAL, MOVE), "C"),
        (say("most", DOG, RUN), say("no", POODLE, RUN), "N"),
        (say("some", POODLE, RUN), say("some", DOG, MOVE), "E"),
        (say("some", DOG, RUN), say("some", POODLE, RUN), "N"),
        (say("some", DOG, RUN), say("some", DOG, RUN, negated=True), "N"),
        (say("some", POODLE, RUN, negated=True), say("all", DOG, RUN), "C"),
        (say("some", DOG, MOVE, negated=True), say("some", ANIMAL, RUN, negated=True), "E"),
        (say("some", Thing(DOG, RED), RUN), say("some", DOG, RUN), "E"),
        (say("all", DOG, RUN), say("all", Thing(POODLE, RED), RUN), "E"),
        (say("all", Thing(DOG, RED), RUN), say("no", Thing(DOG, RED + 1), RUN), "N"),
        (say("all", Thing(ANIMAL, RED), RUN), say("no", DOG, RUN), "N"),
        (say("all", DOG, Deed(WATCH, Thing(CAR, RED))), say("all", DOG, Deed(SEE, Thing(CAR))), "E"),
        (say("no", DOG, Deed(SEE, Thing(CAR))), say("no", DOG, Deed(WATCH, Thing(CAR, RED))), "E"),
        (say("all", DOG, Deed(SEE, Thing(CAR))), say("all", CAR, Deed(SEE, Thing(DOG))), "N"),
        (say("some", DOG, RUN, SLEEP), say("some", DOG, SLEEP), "E"),
        (say("some", DOG, RUN), say("some", DOG, RUN, SLEEP), "N"),
        (say("no", DOG, MOVE), say("no", DOG, RUN, SLEEP), "E"),
        (say("no", DOG, RUN, SLEEP), say("no", DOG, RUN), "N"),
        (say("all", DOG, RUN, SLEEP), say("some", DOG, MOVE, negated=True), "C"),
    ],
)
def test_by_hand(premise: Statement, hypothesis: Statement, expected: str) -> None:
    assert label(premise, hypothesis) == L[expected]


def test_every_label_holds_in_all_small_models() -> None:
    """An independent check: sorts and deeds as sets of kinds of things and of facts, quantifiers by counting."""
    lexicon = NliLexicon(96)
    examples = list(islice(inferences("train", lexicon, 1), 1500))
    assert Counter(example.label for example in examples) == dict.fromkeys(L.values(), 500)
    for example in examples:
        assert checked(example.premise, example.hypothesis, lexicon) == example.label, example


def checked(premise: Statement, hypothesis: Statement, lexicon: NliLexicon) -> str:
    """Return the relation of two statements by trying all models with up to two things of every sort."""
    subjects = [
        sorts(statement.subject, lexicon, adjectives(premise, hypothesis)) for statement in (premise, hypothesis)
    ]
    memberships = {tuple(sort in subject for subject in subjects) for sort in set().union(*subjects)}
    deeds = [*premise.deeds, *hypothesis.deeds]
    facts = [known_facts(deed, lexicon, adjectives(premise, hypothesis)) for deed in deeds]
    behaviours = {(False,) * len(deeds)}  # which deeds somebody does: any facts may hold of them together
    for fact in set().union(*facts):
        signature = tuple(fact in known for known in facts)
        behaviours |= {tuple(map(max, behaviour, signature)) for behaviour in behaviours}
    does = {(all(done[: len(premise.deeds)]), all(done[len(premise.deeds) :])) for done in behaviours}
    forms = tuple((statement.quantifier, statement.negated) for statement in (premise, hypothesis))
    return by_models(tuple(sorted(product(sorted(memberships), sorted(does)))), *forms)


@cache
def by_models(cells: tuple[Any, ...], premise: tuple[str, bool], hypothesis: tuple[str, bool]) -> str:
    """Cells say (is of the premise's sort, of the hypothesis's), (does what the premise says, the hypothesis)."""
    counts = np.array(list(product(range(3), repeat=len(cells))), np.int8)
    truth, existing = [], np.ones(len(counts), bool)
    for at, (quantifier, negated) in enumerate((premise, hypothesis)):
        doing = counts[:, [i for i, (member, does) in enumerate(cells) if member[at] and does[at] != negated]].sum(1)
        others = counts[:, [i for i, (member, does) in enumerate(cells) if member[at] and does[at] == negated]].sum(1)
        existing &= doing + others > 0
        truth.append({"all": others == 0, "most": doing > others, "some": doing > 0, "no": doing == 0}[quantifier])
    together = truth[1][truth[0] & existing]
    assert len(together), "the premise cannot be true"
    return "entailment" if together.all() else "neutral" if together.any() else "contradiction"


def below(kind: str, word: int, lexicon: NliLexicon) -> set[int]:
    return {word}.union(*(below(kind, hyponym, lexicon) for hyponym in lexicon.hyponyms(kind, word)))


def adjectives(*statements: Statement) -> list[int]:
    things = [statement.subject for statement in statements]
    things += [deed.object for statement in statements for deed in statement.deeds if deed.object]
    return sorted({thing.adjective for thing in things if thing.adjective is not None})


def sorts(thing: Thing, lexicon: NliLexicon, spoken: list[int]) -> set[Any]:
    """The kinds of things of a sort: a most specific noun, and which of the adjectives fit."""
    kinds = product(below("noun", thing.noun, lexicon), product((False, True), repeat=len(spoken)))
    return {(noun, fit) for noun, fit in kinds if thing.adjective is None or fit[spoken.index(thing.adjective)]}


def known_facts(deed: Deed, lexicon: NliLexicon, spoken: list[int]) -> set[Any]:
    """The facts of which any makes the deed done: a most specific verb, and to which kind of thing."""
    if deed.object is None:
        return {(verb, None) for verb in below("intransitive", deed.verb, lexicon)}
    return set(product(below("transitive", deed.verb, lexicon), sorts(deed.object, lexicon, spoken)))
