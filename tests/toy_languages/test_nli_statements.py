"""Entailment and contradiction, checked by hand and against all small models of the statements."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice, product
from typing import Any

import numpy as np
import pytest

from augury.corpora.builtin_nli import inferences
from toy_languages.nli_lexicon import NliLexicon
from toy_languages.nli_statements import Concept, Predicate, Statement, label

ANIMAL, DOG, POODLE, CAT = 0, 4, 16, 5  # in the taxonomy: 4 and 5 are below 0, 16 is below 4
CAR, RED, MOVE, RUN, SLEEP, SEE, WATCH = 1, 2, 0, 4, 1, 0, 4
L = {"E": "entailment", "N": "neutral", "C": "contradiction"}


def claim(
    quantifier: Any, subject: int | Concept, *predicates: int | Predicate, negated: bool = False
) -> Statement:
    subject = Concept(subject) if isinstance(subject, int) else subject
    conjunction = tuple(Predicate(item) if isinstance(item, int) else item for item in predicates)
    return Statement(quantifier, subject, conjunction, negated)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        (claim("all", DOG, RUN), claim("all", POODLE, RUN), "E"),
        (claim("all", DOG, RUN), claim("all", ANIMAL, RUN), "N"),
        (claim("all", DOG, RUN), claim("all", DOG, MOVE), "E"),
        (claim("all", DOG, MOVE), claim("all", DOG, RUN), "N"),
        (claim("all", DOG, RUN), claim("most", POODLE, MOVE), "E"),
        (claim("all", DOG, RUN), claim("some", POODLE, RUN), "E"),
        (claim("all", DOG, RUN), claim("some", ANIMAL, RUN), "E"),
        (claim("all", DOG, RUN), claim("most", ANIMAL, RUN), "N"),
        (claim("all", DOG, RUN), claim("no", POODLE, RUN), "C"),
        (claim("all", DOG, RUN), claim("no", ANIMAL, RUN), "C"),
        (claim("all", DOG, RUN), claim("some", POODLE, MOVE, negated=True), "C"),
        (claim("all", DOG, RUN), claim("some", ANIMAL, RUN, negated=True), "N"),
        (claim("all", DOG, RUN), claim("all", CAT, RUN), "N"),
        (claim("no", DOG, MOVE), claim("no", POODLE, RUN), "E"),
        (claim("no", DOG, RUN), claim("no", DOG, MOVE), "N"),
        (claim("no", DOG, RUN), claim("some", DOG, RUN, negated=True), "E"),
        (claim("no", DOG, MOVE), claim("most", POODLE, RUN, negated=True), "E"),
        (claim("no", DOG, MOVE), claim("most", DOG, RUN), "C"),
        (claim("most", DOG, RUN), claim("some", ANIMAL, MOVE), "E"),
        (claim("most", DOG, RUN), claim("most", POODLE, RUN), "N"),
        (claim("most", DOG, RUN), claim("most", ANIMAL, RUN), "N"),
        (claim("most", DOG, RUN), claim("all", DOG, RUN), "N"),
        (claim("most", DOG, RUN), claim("most", DOG, MOVE, negated=True), "C"),
        (claim("most", DOG, RUN), claim("most", ANIMAL, RUN, negated=True), "N"),
        (claim("most", DOG, RUN), claim("no", ANIMAL, MOVE), "C"),
        (claim("most", DOG, RUN), claim("no", POODLE, RUN), "N"),
        (claim("some", POODLE, RUN), claim("some", DOG, MOVE), "E"),
        (claim("some", DOG, RUN), claim("some", POODLE, RUN), "N"),
        (claim("some", DOG, RUN), claim("some", DOG, RUN, negated=True), "N"),
        (claim("some", POODLE, RUN, negated=True), claim("all", DOG, RUN), "C"),
        (claim("some", DOG, MOVE, negated=True), claim("some", ANIMAL, RUN, negated=True), "E"),
        (claim("some", Concept(DOG, RED), RUN), claim("some", DOG, RUN), "E"),
        (claim("all", DOG, RUN), claim("all", Concept(POODLE, RED), RUN), "E"),
        (claim("all", Concept(DOG, RED), RUN), claim("no", Concept(DOG, RED + 1), RUN), "N"),
        (claim("all", Concept(ANIMAL, RED), RUN), claim("no", DOG, RUN), "N"),
        (
            claim("all", DOG, Predicate(WATCH, Concept(CAR, RED))),
            claim("all", DOG, Predicate(SEE, Concept(CAR))),
            "E",
        ),
        (
            claim("no", DOG, Predicate(SEE, Concept(CAR))),
            claim("no", DOG, Predicate(WATCH, Concept(CAR, RED))),
            "E",
        ),
        (
            claim("all", DOG, Predicate(SEE, Concept(CAR))),
            claim("all", CAR, Predicate(SEE, Concept(DOG))),
            "N",
        ),
        (claim("some", DOG, RUN, SLEEP), claim("some", DOG, SLEEP), "E"),
        (claim("some", DOG, RUN), claim("some", DOG, RUN, SLEEP), "N"),
        (claim("no", DOG, MOVE), claim("no", DOG, RUN, SLEEP), "E"),
        (claim("no", DOG, RUN, SLEEP), claim("no", DOG, RUN), "N"),
        (claim("all", DOG, RUN, SLEEP), claim("some", DOG, MOVE, negated=True), "C"),
    ],
)
def test_by_hand(premise: Statement, hypothesis: Statement, expected: str) -> None:
    assert label(premise, hypothesis) == L[expected]


def test_every_label_holds_in_all_small_models() -> None:
    """An independent check: concepts and predicates as sets of entity kinds and facts,
    quantifiers by counting."""
    lexicon = NliLexicon(96)
    examples = list(islice(inferences("train", lexicon, 1), 1500))
    assert Counter(example.label for example in examples) == dict.fromkeys(L.values(), 500)
    for example in examples:
        assert relation_in_models(example.premise, example.hypothesis, lexicon) == example.label, (
            example
        )


def relation_in_models(premise: Statement, hypothesis: Statement, lexicon: NliLexicon) -> str:
    """Return the relation of two statements by checking all models with up to two entities of
    every kind."""
    subjects = [
        entity_kinds(statement.subject, lexicon, adjectives(premise, hypothesis))
        for statement in (premise, hypothesis)
    ]
    memberships = {
        tuple(kind in subject for subject in subjects) for kind in set().union(*subjects)
    }
    predicates = [*premise.predicates, *hypothesis.predicates]
    facts = [
        known_facts(predicate, lexicon, adjectives(premise, hypothesis)) for predicate in predicates
    ]
    behaviours = {
        (False,) * len(predicates)
    }  # predicates satisfied by an entity: any facts may hold together
    for fact in set().union(*facts):
        signature = tuple(fact in known for known in facts)
        behaviours |= {tuple(map(max, behaviour, signature)) for behaviour in behaviours}
    split = len(premise.predicates)
    satisfies = {(all(satisfied[:split]), all(satisfied[split:])) for satisfied in behaviours}
    forms = tuple((statement.quantifier, statement.negated) for statement in (premise, hypothesis))
    return by_models(tuple(sorted(product(sorted(memberships), sorted(satisfies)))), *forms)


@cache
def by_models(
    cells: tuple[Any, ...], premise: tuple[str, bool], hypothesis: tuple[str, bool]
) -> str:
    """Return the relation from cells: whether entities are in each statement's subject, and
    satisfy its predicates."""
    counts = np.array(list(product(range(3), repeat=len(cells))), np.int8)
    truth, existing = [], np.ones(len(counts), bool)
    for at, (quantifier, negated) in enumerate((premise, hypothesis)):
        doing = counts[
            :, [i for i, (member, does) in enumerate(cells) if member[at] and does[at] != negated]
        ].sum(1)
        others = counts[
            :, [i for i, (member, does) in enumerate(cells) if member[at] and does[at] == negated]
        ].sum(1)
        existing &= doing + others > 0
        truth.append(
            {"all": others == 0, "most": doing > others, "some": doing > 0, "no": doing == 0}[
                quantifier
            ]
        )
    together = truth[1][truth[0] & existing]
    assert len(together), "the premise cannot be true"
    return "entailment" if together.all() else "neutral" if together.any() else "contradiction"


def below(kind: str, word: int, lexicon: NliLexicon) -> set[int]:
    return {word}.union(
        *(below(kind, hyponym, lexicon) for hyponym in lexicon.hyponyms(kind, word))
    )


def adjectives(*statements: Statement) -> list[int]:
    concepts = [statement.subject for statement in statements]
    concepts += [
        predicate.object
        for statement in statements
        for predicate in statement.predicates
        if predicate.object
    ]
    return sorted({concept.adjective for concept in concepts if concept.adjective is not None})


def entity_kinds(concept: Concept, lexicon: NliLexicon, used: list[int]) -> set[Any]:
    """Return the entity kinds in a concept: a most specific noun, and which of the adjectives
    apply."""
    kinds = product(below("noun", concept.noun, lexicon), product((False, True), repeat=len(used)))
    return {
        (noun, fit)
        for noun, fit in kinds
        if concept.adjective is None or fit[used.index(concept.adjective)]
    }


def known_facts(predicate: Predicate, lexicon: NliLexicon, used: list[int]) -> set[Any]:
    """Return the facts each of which satisfies a predicate: a most specific verb, and the kind
    of its object."""
    if predicate.object is None:
        return {(verb, None) for verb in below("intransitive", predicate.verb, lexicon)}
    return set(
        product(
            below("transitive", predicate.verb, lexicon),
            entity_kinds(predicate.object, lexicon, used),
        )
    )
