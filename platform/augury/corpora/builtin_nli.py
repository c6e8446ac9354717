"""The built-in NLI corpus: synthetic inferences in two toy languages that differ in their word order, any number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import NamedTuple

from augury.core.errors import unknown
from augury.core.rng import generator
from augury.corpora.builtin import BLOCK, LARGEST, Pair, Split, check, checked, sentence_hash, split_of, stream
from augury.corpora.corpus import LABELS, Label
from toy_languages import NLI_LANGUAGES, NLI_LEXICON
from toy_languages.nli_drawer import StatementDrawer
from toy_languages.nli_languages import realise
from toy_languages.nli_lexicon import NliLexicon, nli_lexicon_of
from toy_languages.nli_statements import Statement, label

NOTE = (
    "Synthetic inferences made by a grammar, in two invented languages. Figures on them show that things work and how "
    "they compare, not how well a method transfers between languages that people speak."
)
LENGTH = range(4, 13)  # words of a sentence in qaa
TRIES = 100  # to find a premise with a label
PAIRS = 20  # of a split, at most, by the square of the number of words; small lexicons run out of sentences


@dataclass(frozen=True, slots=True)
class Example:
    """A synthetic inference."""

    id: str
    premise: str
    hypothesis: str
    label: Label


class Inference(NamedTuple):
    """The meaning of an example's sentences, whatever the language."""

    premise: Statement
    hypothesis: Statement
    label: Label


def examples(split: Split, size: int, language: str, *, seed: int = 1, lexicon: int = NLI_LEXICON) -> Iterator[Example]:
    """Yield the first `size` inferences of a split, made as they are asked for.

    The n-th example of a split has the same meaning and id in both languages. Every hypothesis has three premises, one
    for each label, so that it reveals nothing of its label. No hypothesis is in two splits, whatever the seeds: its
    hash decides which it belongs to (6/8 train, 1/8 valid, 1/8 test). A larger size only adds examples at the end.

    Raises UserError for an unknown split or language, an impossible lexicon, and a size that is too large for it.
    """
    words = _words(split, size, [language], lexicon)
    drawn = islice(inferences(split, words, seed), size)
    return (
        Example(
            f"nli-{split}-{index:08}",
            realise(inference.premise, language, words),
            realise(inference.hypothesis, language, words),
            inference.label,
        )
        for index, inference in enumerate(drawn)
    )


def translations(
    split: Split, size: int, languages: tuple[str, ...], *, seed: int = 1, lexicon: int = NLI_LEXICON
) -> Iterator[Pair]:
    """Yield the sentences of the examples of a split, premises and hypotheses, in both languages.

    No sentence comes twice in a split or in two splits: the premises whose hash is of another split are left out.
    Raises UserError as `examples` does.
    """
    words = _words(split, size, languages, lexicon)
    statements = chain.from_iterable((pair.hypothesis, pair.premise) for pair in inferences(split, words, seed))
    return (
        Pair(f"nli-{split}-{index:08}", *(realise(statement, language, words) for language in languages))
        for index, statement in enumerate(islice(_distinct(split, statements, words, set()), size))
    )


def inferences(split: Split, lexicon: NliLexicon, seed: int) -> Iterator[Inference]:
    """Yield examples without end, three to every hypothesis; a hypothesis that lacks any premise is left out."""
    seen: set[int] = set()
    for block in count():
        drawer = StatementDrawer(lexicon, stream(generator(seed, "builtin", "nli", lexicon.size, block)))
        drawn = (drawer.statement() for _ in range(BLOCK))
        for hypothesis in _distinct(split, drawn, lexicon, seen):
            premises = {relation: _premise(drawer, hypothesis, relation) for relation in LABELS}
            group = [Inference(premise, hypothesis, relation) for relation, premise in premises.items() if premise]
            if len(group) == len(LABELS):
                yield from sorted(group, key=lambda _: drawer.draw())


def _premise(drawer: StatementDrawer, hypothesis: Statement, relation: Label) -> Statement | None:
    """Return a premise with a label; None where none is drawn soon."""
    tried = (drawer.premise(hypothesis, relation) for _ in range(TRIES))
    return next(
        (
            premise
            for premise in tried
            if label(premise, hypothesis) == relation and _fits(realise(premise, NLI_LANGUAGES[0], drawer.lexicon))
        ),
        None,
    )


def _distinct(
    split: Split, statements: Iterable[Statement], lexicon: NliLexicon, seen: set[int]
) -> Iterator[Statement]:
    """Yield the statements that belong to a split, fit and are not repeated; `seen` remembers them."""
    for statement in statements:
        sentence = realise(statement, NLI_LANGUAGES[0], lexicon)
        key = sentence_hash(sentence)
        if split_of(key) == split and key not in seen and _fits(sentence):
            seen.add(key)
            yield statement


def _fits(sentence: str) -> bool:
    return sentence.count(" ") + 1 in LENGTH


def _words(split: Split, size: int, languages: Iterable[str], lexicon: int) -> NliLexicon:
    words = checked(nli_lexicon_of, lexicon)
    check(split, size, min(LARGEST, PAIRS * lexicon**2))
    for language in languages:
        if language not in NLI_LANGUAGES:
            raise unknown("language of the built-in NLI corpus", language, NLI_LANGUAGES)
    return words
