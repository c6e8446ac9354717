"""The interface of word alignment models: the tables that they learn, and the steps of their training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from augury.text.symmetrise import Direction, Link

if TYPE_CHECKING:
    from augury.text.bitext import Bitext, Bucket, Lexicon

AlignerName = Literal["hmm", "fast_align", "eflomal"]
"""hmm: jumps, trained so that both directions agree; fast_align: IBM model 2 with a diagonal prior, as that program has
it; eflomal: that program, an optional package."""

UNSEEN = 1e-9  # the probability of a word given one that it has never been seen with

Links = dict[Direction, list[list[Link]]]
"""The links of every sentence pair, sorted, in each direction."""
Lengths = Mapping[tuple[int, int], int]
"""The number of sentence pairs by their numbers of source and target words."""


class Table(NamedTuple):
    """The parameters of a direction for a lexicon, or their expected counts: sums over sentence pairs."""

    pairs: np.ndarray
    """Of the generated word given the other, for each pair of words, (pairs,); or their expected links."""
    null: np.ndarray
    """Of each word that is generated, given null; or its expected links with null."""
    order: np.ndarray
    """Of the prior over positions, as the model has it."""


Tables = Mapping[Direction, Table]


class Model(Protocol):
    """A way to train tables on a bitext and to find links with them; its fields are its settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def iterations(self) -> int:
        """The number of expectation and maximisation steps."""

    def start(self, lexicon: Lexicon) -> Tables:
        """Return the tables that training starts with."""

    def expect(self, bitext: Bitext, tables: Tables) -> Tables:
        """Return the sums of the expectation step, which those of other sentence pairs are added to."""

    def maximise(self, counts: Tables, tables: Tables, lexicon: Lexicon, lengths: Lengths, iteration: int) -> Tables:
        """Return the tables of the maximisation step, from the counts that the expectation step found with `tables`."""

    def links(self, bitext: Bitext, tables: Tables, rows: int) -> Links:
        """Return the links of each of the `rows` that were encoded."""


def best_links(
    buckets: Iterable[Bucket], links: np.ndarray, least: np.ndarray, rows: np.ndarray, direction: Direction
) -> np.ndarray:
    """Return the most probable link of every generated word where it is more than `least`: (3, links).

    The result has rows, source positions and target positions. `links` is an array over cells and `least` one over
    words. Of equally probable positions the first is taken.
    """
    best = [np.zeros((3, 0), np.int64)]
    for bucket in buckets:
        blocks = zip(
            bucket.cells_by_position(links[bucket.cells]), bucket.words_by_position(least[bucket.words]), strict=True
        )
        for generated, (link, bound) in enumerate(blocks):
            linked = np.flatnonzero(link.max(axis=0) > bound)
            generating = link[:, linked].argmax(axis=0)
            positions = (generating, np.full_like(generating, generated))
            best.append(
                np.stack([rows[bucket.pairs[linked]], *(positions if direction == "forward" else positions[::-1])])
            )
    return np.concatenate(best, axis=1)


def by_row(links: np.ndarray, rows: int) -> list[list[Link]]:
    """Return the links of each row, sorted, from (3, links) rows, source positions and target positions."""
    row, source, target = links[:, np.lexsort(links[::-1])]
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    ends = np.searchsorted(row, np.arange(rows + 1)).tolist()
    return [pairs[start:end] for start, end in zip(ends, ends[1:], strict=False)]
