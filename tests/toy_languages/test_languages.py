"""Statements in German and English: endings and orders of words."""

from __future__ import annotations

from toy_languages.languages import clause
from toy_languages.lexicon import lexicon_of
from toy_languages.statements import Concept, Predicate, Statement

LEXICON = lexicon_of(96)
PAST, CAN = ["hat", "haben", "did"], ["kann", "können", "can"]


def test_a_plural_with_two_predicates_in_the_past() -> None:
    predicates = (Predicate(1, Concept(4, 1)), Predicate(2))
    forms = clause(Statement("most", Concept(1, 0), predicates), PAST, LEXICON)
    subject = "die meisten zeiswußigen Mäkvoginnen"
    verbs = "eine drußgäuliche Spältwußung aufgehötztreckt und gemurrwimt"
    assert forms["second"] == f"{subject} haben {verbs}"
    assert forms["first"] == f"haben {subject} {verbs}"
    assert forms["last"] == f"{subject} {verbs} haben"
    subject, item = "most mundhafy tarnrintesses", "up a chamfoshsome dorhafing"
    assert forms["statement"] == f"{subject} rudsimed {item} and selgremed"
    assert forms["question"] == f"did {subject} rudsim {item} and selgrem"


def test_a_singular_with_a_modal_verb() -> None:
    forms = clause(Statement("no", Concept(2, 3), (Predicate(1),)), CAN, LEXICON)
    assert forms["second"] == "kein längquirlbarer Nebmäkling kann auflodlüren"
    assert forms["statement"] == "no ustnubable cortarnkin can quogbex up"


def test_a_negation_marks_the_object_and_takes_an_auxiliary() -> None:
    negated = Statement("some", Concept(3), (Predicate(3, Concept(0)),), negated=True)
    forms = clause(negated, PAST, LEXICON)
    assert forms["second"] == "einige Täszwalchen haben keinen Sövoger weggeebblöt"
    assert forms["statement"] == "some wibmerlets did not ulfhin away a raylrinter"
