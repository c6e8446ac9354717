"""The languages of statements: their words, orders, and what follows from what, checked by hand
and against all small models of the statements."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.rng import generator
from augury.corpora.builtin_nli import inferences
from toy_languages import NLI_LANGUAGES
from toy_languages.nli_drawer import StatementDrawer, well_formed
from toy_languages.nli_languages import AND, NOT, QUANTIFIERS, SUBJECT, realise
from toy_languages.nli_lexicon import (
    LARGEST,
    SMALLEST,
    NliLexicon,
    hypernym,
    is_a,
    nli_lexicon_of,
    root,
)
from toy_languages.nli_statements import Concept, Predicate, Statement, label


def test_golden_words() -> None:
    words = NliLexicon(96).words
    assert {kind: len(known) for kind, known in words.items()} == {
        "noun": 48,
        "transitive": 16,
        "intransitive": 16,
        "adjective": 16,
    }
    assert {kind: known[:4] for kind, known in words.items()} == {
        "noun": ["sozu", "razu", "tara", "duse"],
        "transitive": ["zopa", "dana", "nino", "jehu"],
        "intransitive": ["bufi", "zapi", "koge", "jobi"],
        "adjective": ["galu", "vemi", "jofa", "subu"],
    }


def test_no_word_is_another() -> None:
    words = [word for known in NliLexicon(LARGEST).words.values() for word in known]
    assert len(words) == len(set(words)) == LARGEST
    assert not {*words} & {*QUANTIFIERS.values(), AND, NOT, SUBJECT}
    assert len({*QUANTIFIERS.values(), AND, NOT, SUBJECT}) == 7


def test_a_smaller_lexicon_is_the_beginning_of_a_larger_one() -> None:
    small, large = NliLexicon(SMALLEST), NliLexicon(LARGEST)
    assert all(large.words[kind][: len(known)] == known for kind, known in small.words.items())


def test_hyponyms_are_what_has_the_hypernym() -> None:
    lexicon = NliLexicon(96)
    assert [hypernym(word) for word in range(10)] == [None] * 4 + [0, 0, 0, 1, 1, 1]
    for kind in ("noun", "transitive", "intransitive"):
        words = range(len(lexicon.words[kind]))
        for word in words:
            assert lexicon.hyponyms(kind, word) == [
                other for other in words if hypernym(other) == word
            ]


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_a_word_is_itself_and_what_is_above_it(word: int, other: int) -> None:
    above, at = [word], hypernym(word)
    while at is not None:
        above.append(at)
        at = hypernym(at)
    assert root(word) == above[-1]
    assert all(is_a(word, ancestor) for ancestor in above)
    assert is_a(word, other) == (other in above)


LEXICON = nli_lexicon_of(96)
NOUN, DO, TO, SOME = (
    LEXICON.words[kind] for kind in ("noun", "intransitive", "transitive", "adjective")
)


@pytest.mark.parametrize(
    ("statement", "qaa", "qab"),
    [
        (
            Statement("all", Concept(0), (Predicate(1),)),
            f"lo {NOUN[0]} {DO[1]}",
            f"{NOUN[0]} lo ga {DO[1]}",
        ),
        (
            Statement("no", Concept(2, 3), (Predicate(4, Concept(5, 6)),)),
            f"ne {SOME[3]} {NOUN[2]} {TO[4]} {SOME[6]} {NOUN[5]}",
            f"{NOUN[2]} {SOME[3]} ne ga {NOUN[5]} {SOME[6]} {TO[4]}",
        ),
        (
            Statement("most", Concept(0), (Predicate(1, Concept(2)),), negated=True),
            f"mi {NOUN[0]} pa {TO[1]} {NOUN[2]}",
            f"{NOUN[0]} mi ga {NOUN[2]} {TO[1]} pa",
        ),
        (
            Statement("some", Concept(0), (Predicate(1), Predicate(2, Concept(3)))),
            f"su {NOUN[0]} {DO[1]} ke {TO[2]} {NOUN[3]}",
            f"{NOUN[0]} su ga {DO[1]} ke {NOUN[3]} {TO[2]}",
        ),
    ],
)
def test_word_orders(statement: Statement, qaa: str, qab: str) -> None:
    assert [realise(statement, language, LEXICON) for language in NLI_LANGUAGES] == [qaa, qab]


@settings(max_examples=50)
@given(st.integers(0, 2**40))
def test_both_languages_use_the_same_words(seed: int) -> None:
    statement = StatementDrawer(LEXICON, generator(seed).random).statement()
    qaa, qab = (realise(statement, language, LEXICON).split() for language in NLI_LANGUAGES)
    assert well_formed(statement)
    assert sorted([*qaa, SUBJECT]) == sorted(qab) and qaa != qab


ANIMAL, DOG, POODLE = 0, 4, 16  # in the taxonomy: 4 is below 0, 16 is below 4
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
        (claim("all", DOG, RUN), claim("most", POODLE, MOVE), "E"),
        (claim("all", DOG, RUN), claim("most", ANIMAL, RUN), "N"),
        (claim("all", DOG, RUN), claim("no", POODLE, RUN), "C"),
        (claim("all", DOG, RUN), claim("some", POODLE, MOVE, negated=True), "C"),
        (claim("no", DOG, MOVE), claim("no", POODLE, RUN), "E"),
        (claim("no", DOG, MOVE), claim("most", POODLE, RUN, negated=True), "E"),
        (claim("most", DOG, RUN), claim("some", ANIMAL, MOVE), "E"),
        (claim("most", DOG, RUN), claim("most", POODLE, RUN), "N"),
        (claim("most", DOG, RUN), claim("most", DOG, MOVE, negated=True), "C"),
        (claim("most", DOG, RUN), claim("no", ANIMAL, MOVE), "C"),
        (claim("some", POODLE, RUN), claim("some", DOG, MOVE), "E"),
        (claim("some", DOG, RUN), claim("some", DOG, RUN, negated=True), "N"),
        (claim("some", POODLE, RUN, negated=True), claim("all", DOG, RUN), "C"),
        (claim("some", DOG, MOVE, negated=True), claim("some", ANIMAL, RUN, negated=True), "E"),
        (claim("some", Concept(DOG, RED), RUN), claim("some", DOG, RUN), "E"),
        (claim("all", Concept(DOG, RED), RUN), claim("no", Concept(DOG, RED + 1), RUN), "N"),
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
        (claim("no", DOG, MOVE), claim("no", DOG, RUN, SLEEP), "E"),
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
