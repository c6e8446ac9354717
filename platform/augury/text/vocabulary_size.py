"""The size of a joint vocabulary that leaves plain text in as many pieces as a vocabulary without enciphered views.

Views compete for the merges of a joint BPE model: with too few entries for them, plain text is cut into more pieces
than under the baseline's vocabulary, and systems differ in more than the method.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from sentencepiece import SentencePieceProcessor

from augury.text import sentencepieces

SAMPLE = 20_000  # texts of each side on which pieces are counted
STEP = 10  # sizes are multiples of it
WORD = re.compile(r"[^\W\d_]{2,}")  # a single letter is a character, and may be no further piece


def fitting_size(texts: Iterable[str], most: int) -> int:
    """Return the number of pieces that texts are worth: one for every character and every longer word that comes twice.

    At most `most`. A model can always be as large as that, and one with a piece for every word that is seen once has
    nothing to learn it from.
    """
    characters, once, twice = {" "}, set[str](), set[str]()
    for text in texts:
        characters.update(text)
        for word in WORD.findall(text):
            (twice if word in once else once).add(word)
        if len(twice) >= most:
            return most
    return min(most, len(characters) + len(twice))


def many_words(texts: Iterable[str], count: int) -> bool:
    """Return whether there are so many different words, each of which can be a piece; reads no further than needed."""
    words: set[str] = set()
    for text in texts:
        words.update(WORD.findall(text))
        if len(words) >= count:
            return True
    return False


class Matched(NamedTuple):
    """A number of pieces, and the pieces of a plain text on average under that size and under the baseline's."""

    size: int
    pieces: float
    baseline: float


def matching_size(
    plain: Sequence[str],
    views: Iterable[str],
    baseline: int,
    most: int,
    character_coverage: float = 1.0,
    symbols: Sequence[str] = (),
) -> Matched:
    """Return the smallest joint size under which plain text has at most as many pieces as under the baseline's.

    `plain` are the texts of both sides, `views` all enciphered ones, `baseline` the size of the model of the plain
    texts alone, and `most` the largest size to consider; sizes are numbers of pieces. A BPE model is the beginning of
    every larger one, so that one large model answers for all sizes. Raises sentencepieces.SizeError if the text does
    not allow the baseline's size.
    """
    sample = [*islice(plain, SAMPLE), *islice(reversed(plain), SAMPLE)]
    target = _pieces(sentencepieces.learn(plain, baseline, character_coverage, symbols), sample)
    texts = [*plain, *views]
    try:
        largest = sentencepieces.learn(texts, most, character_coverage, symbols)
    except sentencepieces.SizeError as error:
        if not error.too_large:
            raise
        most = error.limit
        largest = sentencepieces.learn(texts, most, character_coverage, symbols)
    least = min(max(baseline, sentencepieces.characters(largest)), most)
    sizes = [*range(least, most, STEP), most]
    counts: dict[int, float] = {}

    def fewer(size: int) -> bool:
        counts[size] = _pieces(sentencepieces.truncated(largest, size), sample)
        return counts[size] <= target

    size = sizes[min(bisect_left(sizes, True, key=fewer), len(sizes) - 1)]
    if size not in counts:
        fewer(size)
    return Matched(size, counts[size], target)


def _pieces(model: bytes, texts: Sequence[str]) -> float:
    """Return the mean number of pieces of a text."""
    _, offsets = sentencepieces.encode(SentencePieceProcessor(model_proto=model), texts, num_threads=1)
    return float(offsets[-1]) / max(1, len(texts))
