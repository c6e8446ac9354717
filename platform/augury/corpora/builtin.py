"""The built-in corpus: a synthetic German-like to English-like language pair, any number of sentences, no download."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, islice
from typing import Literal, TypeVar

import numpy as np

from augury.core.errors import UserError, unknown
from augury.core.rng import generator
from toy_languages import LEXICON
from toy_languages.clause_drawer import ClauseDrawer
from toy_languages.lexicon import Draw, Lexicon, lexicon_of
from toy_languages.phrases import Both
from toy_languages.sentences import sentence

L = TypeVar("L")

NOTE = (
    "Synthetic text made by a grammar: German-like to English-like sentences, many of their words invented. "
    "Figures on it show that things work and how they compare, not how well a method translates German."
)
SPLITS = ("train", "valid", "test")
LENGTH = range(4, 26)  # words a side
LARGEST = 10_000_000  # pairs of a split
BLOCK = 256  # sentences drawn from one stream

Split = Literal["train", "valid", "test"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A synthetic sentence and its translation."""

    id: str
    source: str
    target: str


def generate(split: Split, size: int, *, seed: int = 1, lexicon: int = LEXICON) -> Iterator[Pair]:
    """Yield the first `size` pairs of a split of the synthetic corpus, made as they are asked for.

    No source sentence comes twice in a split or in two splits, whatever the seeds: a hash of the sentence says which
    split it belongs to (6/8 train, 1/8 valid, 1/8 test). A larger size only adds pairs at the end. `lexicon` is the
    number of words; rare ones are most of a large lexicon. Remembering sentences costs about 100 bytes a pair.

    Raises UserError for an unknown split, a size that is not from 1 to LARGEST, and an impossible lexicon.
    """
    check(split, size, LARGEST)
    pairs = distinct(split, candidates(checked(lexicon_of, lexicon), seed))
    return (Pair(f"builtin-{split}-{index:08}", *pair) for index, pair in enumerate(islice(pairs, size)))


def check(split: str, size: int, largest: int) -> None:
    """Raise UserError for an unknown split and for a size that is not from 1 to `largest`."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if not 1 <= size <= largest:
        raise UserError(f"the built-in corpus has no split of {size} pairs: give a size from 1 to {largest:,}")


def checked(lexicon_of: Callable[[int], L], size: int) -> L:
    """Return the lexicon of a size; UserError where there is none."""
    try:
        return lexicon_of(size)
    except ValueError as error:
        raise UserError(str(error)) from error


def candidates(lexicon: Lexicon, seed: int) -> Iterator[Both]:
    """Yield sentences without end, each a function of the seed, the lexicon and its position."""
    for block in count():
        drawer = ClauseDrawer(lexicon, stream(generator(seed, "builtin", lexicon.size, block)))
        for _ in range(BLOCK):
            yield sentence(drawer)


def stream(random: np.random.Generator) -> Draw:
    """Return a function that gives the numbers of a generator one by one, drawn in bulk, which is faster."""
    return chain.from_iterable(random.random(4096).tolist() for _ in count()).__next__


def distinct(split: Split, pairs: Iterable[Both]) -> Iterator[Both]:
    """Yield the pairs that belong to a split and are neither too long nor too short nor repeated."""
    seen: set[int] = set()
    for pair in pairs:
        key = sentence_hash(pair.german)
        if split_of(key) != split or key in seen:
            continue
        seen.add(key)
        if all(text.count(" ") + 1 in LENGTH for text in pair):
            yield pair


def sentence_hash(sentence: str) -> int:
    """Return a 64-bit hash of a sentence."""
    return int.from_bytes(blake2b(sentence.encode(), digest_size=8).digest(), "little")


def split_of(key: int) -> Split:
    """Return the split of the sentence with this hash."""
    bucket = key % 8
    return "valid" if bucket == 0 else "test" if bucket == 1 else "train"
