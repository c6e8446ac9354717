"""The two toy languages: the same words in different orders.

`qaa` has quantifier, adjective, noun, negation, verb, object; `qab` has noun, adjective, quantifier, a particle that
marks the subject, object, verb, negation. The particle is the only word that they do not share.
"""

from __future__ import annotations

from collections.abc import Iterator

from toy_languages.nli_lexicon import NliLexicon
from toy_languages.nli_statements import Deed, Statement, Thing

QUANTIFIERS = {"all": "lo", "most": "mi", "some": "su", "no": "ne"}
NOT, AND, SUBJECT = "pa", "ke", "ga"


def speak(statement: Statement, language: str, lexicon: NliLexicon) -> str:
    """Return the sentence that makes a statement in a language."""
    return " ".join({"qaa": _qaa, "qab": _qab}[language](statement, lexicon))


def _qaa(statement: Statement, lexicon: NliLexicon) -> Iterator[str]:
    yield QUANTIFIERS[statement.quantifier]
    yield from reversed(_thing(statement.subject, lexicon))
    if statement.negated:
        yield NOT
    for index, deed in enumerate(statement.deeds):
        if index:
            yield AND
        yield _verb(deed, lexicon)
        if deed.object:
            yield from reversed(_thing(deed.object, lexicon))


def _qab(statement: Statement, lexicon: NliLexicon) -> Iterator[str]:
    yield from _thing(statement.subject, lexicon)
    yield QUANTIFIERS[statement.quantifier]
    yield SUBJECT
    for index, deed in enumerate(statement.deeds):
        if index:
            yield AND
        if deed.object:
            yield from _thing(deed.object, lexicon)
        yield _verb(deed, lexicon)
    if statement.negated:
        yield NOT


def _thing(thing: Thing, lexicon: NliLexicon) -> list[str]:
    """Return noun and adjective."""
    noun = lexicon.words["noun"][thing.noun]
    return [noun] if thing.adjective is None else [noun, lexicon.words["adjective"][thing.adjective]]


def _verb(deed: Deed, lexicon: NliLexicon) -> str:
    return lexicon.words["transitive" if deed.object else "intransitive"][deed.verb]
