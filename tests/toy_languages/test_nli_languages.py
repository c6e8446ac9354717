import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.rng import generator
from toy_languages import NLI_LANGUAGES
from toy_languages.nli_drawer import StatementDrawer, well_formed
from toy_languages.nli_languages import SUBJECT, realise
from toy_languages.nli_lexicon import nli_lexicon_of
from toy_languages.nli_statements import Concept, Predicate, Statement

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
