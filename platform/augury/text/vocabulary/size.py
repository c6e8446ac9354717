"""Automatic vocabulary sizes.

Views compete for the merges of a joint BPE model. With too few entries for them, plain text is
split into more pieces than with the vocabulary of the baseline, and systems differ in more than the
method.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from augury.core.words import is_unspaced, spelt_words
from augury.text.vocabulary import sentencepieces

SAMPLE = 20_000  # number of texts on each side for counting pieces
STEP = 10  # granularity of sizes


def fitting_size(texts: Iterable[str], largest: int) -> int:
    """Return the number of distinct characters and of words that occur at least twice, at most
    `largest`.

    The text always allows a model of this size; pieces for words that occur once would hardly be
    trained.
    """
    characters, once, repeated = {" "}, set[str](), set[str]()
    for text in texts:
        characters.update(text)
        for word in _pieces_of(text):
            (repeated if word in once else once).add(word)
        if len(repeated) >= largest:
            return largest
    return min(largest, len(characters) + len(repeated))


def has_words(texts: Iterable[str], count: int) -> bool:
    """Return whether texts have at least `count` distinct words.

    Stops reading as soon as they do.
    """
    words: set[str] = set()
    for text in texts:
        words.update(_pieces_of(text))
        if len(words) >= count:
            return True
    return False


def _pieces_of(text: str) -> list[str]:
    """Return the words of a text, and of scripts that do not separate them pairs of characters;
    single ones are covered by characters."""
    words = [word for word in spelt_words(text) if len(word) > 1]
    if not is_unspaced([text]):
        return words
    return [first + second for word in words for first, second in pairwise(word)]


class Matched(NamedTuple):
    """A size, and the mean number of pieces of plain texts with it and with the baseline's size."""

    size: int
    pieces: float
    baseline: float


def matching_size(
    plain: Sequence[str],
    views: Iterable[str],
    baseline: int,
    largest: int,
    character_coverage: float = 1.0,
    symbols: Sequence[str] = (),
) -> Matched:
    """Return the smallest joint size with which plain text has at most as many pieces as with the
    baseline's size.

    `plain` are the texts of both sides, `views` all further ones, `baseline` is the size of a
    model of plain text only, and `largest` the maximum size; sizes are numbers of pieces. The
    largest model contains all smaller ones, so that only one is trained. Raises
    sentencepieces.SizeError if the text does not allow the baseline's size.
    """
    sample = [*islice(plain, SAMPLE), *islice(reversed(plain), SAMPLE)]
    target = _pieces(sentencepieces.learn(plain, baseline, character_coverage, symbols), sample)
    texts = [*plain, *views]
    try:
        model = sentencepieces.learn(texts, largest, character_coverage, symbols)
    except sentencepieces.SizeError as error:
        if not error.too_large:
            raise
        largest = error.limit
        model = sentencepieces.learn(texts, largest, character_coverage, symbols)
    smallest = min(max(baseline, sentencepieces.characters(model)), largest)
    sizes = [*range(smallest, largest, STEP), largest]
    counts: dict[int, float] = {}

    def reaches_target(size: int) -> bool:
        counts[size] = _pieces(sentencepieces.truncated(model, size), sample)
        return counts[size] <= target

    size = sizes[min(bisect_left(sizes, True, key=reaches_target), len(sizes) - 1)]
    if size not in counts:
        reaches_target(size)
    return Matched(size, counts[size], target)


def _pieces(model: bytes, texts: Sequence[str]) -> float:
    """Return the mean number of pieces of a text."""
    from sentencepiece import SentencePieceProcessor

    _, offsets = sentencepieces.encode(
        SentencePieceProcessor(model_proto=model), texts, num_threads=1
    )
    return float(offsets[-1]) / max(1, len(texts))
