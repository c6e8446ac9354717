"""The built-in corpus: a synthetic German-like to English-like language pair, any number of sentences, no download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, islice
from typing import Literal

import numpy as np

from augury.corpora.synthetic import LEXICON
from augury.corpora.synthetic.clause_drawer import ClauseDrawer
from augury.corpora.synthetic.lexicon import Draw, Lexicon, lexicon_of
from augury.corpora.synthetic.phrases import Both
from augury.corpora.synthetic.sentences import sentence
from augury.errors import UserError, unknown
from augury.rng import generator

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
    """The first `size` pairs of a split of the synthetic corpus, made as they are asked for.

    No source sentence comes twice in a split or in two splits, whatever the seeds: a hash of the sentence says which
    split it belongs to (6/8 train, 1/8 valid, 1/8 test). A larger size only adds pairs at the end. `lexicon` is the
    number of words; rare ones are most of a large lexicon. Remembering what was said costs about 100 bytes a pair.

    Raises UserError for an unknown split, a size that is not from 1 to LARGEST, and an impossible lexicon.
    """
    check(split, size, LARGEST)
    pairs = distinct(split, candidates(lexicon_of(lexicon), seed))
    return (Pair(f"builtin-{split}-{index:08}", *pair) for index, pair in enumerate(islice(pairs, size)))


def check(split: str, size: int, largest: int) -> None:
    """UserError for an unknown split and a size that is not from 1 to `largest`."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if not 1 <= size <= largest:
        raise UserError(f"the built-in corpus has no split of {size} pairs: give a size from 1 to {largest:,}")


def candidates(lexicon: Lexicon, seed: int) -> Iterator[Both]:
    """Sentences without end, each a function of the seed, the lexicon and its position."""
    for block in count():
        drawer = ClauseDrawer(lexicon, stream(generator(seed, "builtin", lexicon.size, block)))
        for _ in range(BLOCK):
            yield sentence(drawer)


def stream(random: np.random.Generator) -> Draw:
    """The numbers of a generator one by one; drawn in bulk, which is several times faster."""
    return chain.from_iterable(random.random(4096).tolist() for _ in count()).__next__


def distinct(split: Split, pairs: Iterable[Both]) -> Iterator[Both]:
    """Those pairs that belong to a split and are neither too long, too short, nor said before."""
    seen: set[int] = set()
    for pair in pairs:
        name = name_of(pair.german)
        if split_of(name) != split or name in seen:
            continue
        seen.add(name)
        if all(text.count(" ") + 1 in LENGTH for text in pair):
            yield pair


def name_of(sentence: str) -> int:
    """A 64-bit hash of a sentence."""
    return int.from_bytes(blake2b(sentence.encode(), digest_size=8).digest(), "little")


def split_of(name: int) -> Split:
    """The split of the sentence with this hash."""
    bucket = name % 8
    return "valid" if bucket == 0 else "test" if bucket == 1 else "train"
