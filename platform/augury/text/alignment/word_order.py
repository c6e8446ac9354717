"""How far the word order of a language is from that of another: Kendall's τ over word
alignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from augury.core.words import words
from augury.corpora.languages import UNSPACED, base_language
from augury.text.alignment.aligner import align
from augury.text.alignment.hmm import Hmm
from augury.text.alignment.symmetrise import BOTH, Link, symmetrise

LEXICAL = Hmm(diagonal=5, jumps=0, tension=0.0)
"""The alignment model without its prior on positions and jumps: IBM model 1, in both directions
by agreement."""
VERSION = 1
"""Raised when the same text comes to have another distance; part of addresses."""


@dataclass(frozen=True)
class WordOrder:
    """Pairs of aligned words of a text whose order a translation keeps, and those that it
    inverts."""

    kept: int
    inverted: int

    @property
    def distance(self) -> float:
        """The share of inverted pairs: 0 for the same word order, 1 for the opposite; 0 without
        pairs."""
        pairs = self.kept + self.inverted
        return self.inverted / pairs if pairs else 0.0

    @property
    def tau(self) -> float:
        """Kendall's τ of the words in the order of their translations: 1 - 2 · distance."""
        return 1 - 2 * self.distance


def order_of_links(links: Iterable[Link]) -> WordOrder:
    """Return the order of the aligned source words of a sentence pair, each at its first target
    word.

    Two words that are aligned with the same one have no order.
    """
    positions: dict[int, int] = {}
    for source, target in links:
        positions[source] = min(target, positions.get(source, target))
    pairs = list(combinations([positions[source] for source in sorted(positions)], 2))
    return WordOrder(
        sum(first < second for first, second in pairs),
        sum(first > second for first, second in pairs),
    )


def word_order(
    sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
) -> WordOrder:
    """Return the order of the words of a text in its translation, by links that both directions
    agree on.

    The aligner knows nothing of positions: one that prefers the diagonal finds words in the order
    in which it expects them. Text in languages without spaces is aligned by characters. Raises
    UserError if no pair has words on both sides.
    """
    distinct = list(dict.fromkeys(zip(sources, targets, strict=True)))
    read = [_tokens(source, languages[0]) for source, _ in distinct]
    written = [_tokens(target, languages[1]) for _, target in distinct]
    links = align(read, written, LEXICAL)
    forward, reverse = (links[direction] for direction in BOTH)
    orders = [
        order_of_links(symmetrise(of_pair, reversed_links, "intersection"))
        for of_pair, reversed_links in zip(forward, reverse, strict=True)
    ]
    return WordOrder(sum(order.kept for order in orders), sum(order.inverted for order in orders))


def _tokens(text: str, language: str) -> list[str]:
    return [*"".join(text.split())] if base_language(language) in UNSPACED else words(text)
