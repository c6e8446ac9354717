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
from toy_languages.nli import (
    AND,
    LARGEST,
    NOT,
    QUANTIFIERS,
    SMALLEST,
    SUBJECT,
    Concept,
    NliLexicon,
    Predicate,
    Statement,
    label,
    line,
    nli_lexicon_of,
    realise,
)
from toy_languages.nli_statements import StatementDrawer, well_formed


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
    assert [line(word)[1:] for word in (3, 4, 7, 16)] == [(), (0,), (1,), (4, 0)]
    for kind in ("noun", "transitive", "intransitive"):
        words = range(len(lexicon.words[kind]))
        for word in words:
            below = [other for other in words if line(other)[1:2] == (word,)]
            assert lexicon.hyponyms(kind, word) == below


LEXICON = nli_lexicon_of(96)


def test_golden_orders() -> None:
    noun, do, to, some = (
        LEXICON.words[kind] for kind in ("noun", "intransitive", "transitive", "adjective")
    )
    red_dog_sees_no_cat = Statement("no", Concept(2, 3), (Predicate(4, Concept(5, 6)),))
    most_do_both = Statement("most", Concept(0), (Predicate(1), Predicate(2)), negated=True)
    for statement, qaa, qab in (
        (
            red_dog_sees_no_cat,
            f"ne {some[3]} {noun[2]} {to[4]} {some[6]} {noun[5]}",
            f"{noun[2]} {some[3]} ne ga {noun[5]} {some[6]} {to[4]}",
        ),
        (
            most_do_both,
            f"mi {noun[0]} pa {do[1]} ke {do[2]}",
            f"{noun[0]} mi ga {do[1]} ke {do[2]} pa",
        ),
    ):
        assert [realise(statement, language, LEXICON) for language in NLI_LANGUAGES] == [qaa, qab]


@settings(max_examples=50)
@given(st.integers(0, 2**40))
def test_both_languages_use_the_same_words(seed: int) -> None:
    statement = StatementDrawer(LEXICON, generator(seed).random).statement()
    qaa, qab = (realise(statement, language, LEXICON).split() for language in NLI_LANGUAGES)
    assert well_formed(statement)
    assert sorted([*qaa, SUBJECT]) == sorted(qab) and qaa != qab


# Words: 4 and 5 are below 0, and 16 is below 4.
ALL_DOGS_RUN = Statement("all", Concept(4), (Predicate(4),))


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        (Statement("all", Concept(16), (Predicate(0),)), "entailment"),
        (Statement("all", Concept(0), (Predicate(4),)), "neutral"),
        (Statement("most", Concept(0), (Predicate(4),)), "neutral"),
        (Statement("some", Concept(16), (Predicate(0),)), "entailment"),
        (Statement("no", Concept(0), (Predicate(4),)), "contradiction"),
        (Statement("some", Concept(16), (Predicate(0),), negated=True), "contradiction"),
        (Statement("some", Concept(0), (Predicate(4),), negated=True), "neutral"),
        (Statement("all", Concept(4, 2), (Predicate(4),)), "entailment"),
        (Statement("some", Concept(4), (Predicate(4), Predicate(1))), "neutral"),
    ],
)
def test_what_follows_from_all_dogs_run(hypothesis: Statement, expected: str) -> None:
    assert label(ALL_DOGS_RUN, hypothesis) == expected


def test_every_label_holds_in_all_small_models() -> None:
    """An independent check: concepts and predicates as sets of entity kinds and facts,
    quantifiers by counting."""
    lexicon = NliLexicon(96)
    examples = list(islice(inferences("train", lexicon, 1), 1500))
    assert Counter(example.label for example in examples) == {
        "entailment": 500,
        "neutral": 500,
        "contradiction": 500,
    }
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
