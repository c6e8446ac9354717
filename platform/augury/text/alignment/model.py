"""Interface of word alignment models: their parameters and training steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from augury.text.alignment.symmetrise import Direction, Link

if TYPE_CHECKING:
    from augury.text.alignment.bitext import Bitext, Bucket, Lexicon

AlignerName = Literal["hmm", "fast_align", "eflomal"]
"""hmm: hidden Markov model with agreement between directions; fast_align: IBM model 2 with a
diagonal prior, as in the program of that name; eflomal: the program of that name, an optional
package."""

UNSEEN = 1e-9  # translation probability of word pairs that were not seen in training

Links = dict[Direction, list[list[Link]]]
"""Sorted links of each sentence pair, by direction."""
Lengths = Mapping[tuple[int, int], int]
"""Number of sentence pairs by their numbers of source and target words."""


class Table(NamedTuple):
    """The parameters of one direction for a lexicon, or their expected counts, which are
    additive."""

    pairs: np.ndarray
    """Probability of the generated word given the generating one, for each word pair.

    Or expected number of links.
    """
    null: np.ndarray
    """Probability of each generated word given null; or expected number of times."""
    order: np.ndarray
    """Parameters of the distribution over positions, specific to the model."""


Tables = Mapping[Direction, Table]


class Model(Protocol):
    """A word alignment model trained by expectation maximisation; its fields are its settings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def iterations(self) -> int:
        """The number of iterations."""

    def start(self, lexicon: Lexicon) -> Tables:
        """Return the initial parameters."""

    def expect(self, bitext: Bitext, tables: Tables) -> Tables:
        """Return the expected counts of a bitext (E step)."""

    def maximise(
        self, counts: Tables, tables: Tables, lexicon: Lexicon, lengths: Lengths, iteration: int
    ) -> Tables:
        """Return new parameters from the expected counts under the old ones (M step)."""

    def links(self, bitext: Bitext, tables: Tables, rows: int) -> Links:
        """Return the links of each of the `rows` encoded sentence pairs."""


def best_links(
    buckets: Iterable[Bucket],
    links: np.ndarray,
    least: np.ndarray,
    rows: np.ndarray,
    direction: Direction,
) -> np.ndarray:
    """Return the most probable link of each generated word if its probability exceeds `least`, (3,
    links).

    The result has the rows, source positions and target positions of the links. `links` is an array
    over cells, `least` one over words. Ties are resolved in favour of the first position.
    """
    best = [np.zeros((3, 0), np.int64)]
    for bucket in buckets:
        blocks = zip(
            bucket.cells_by_position(links[bucket.cells]),
            bucket.words_by_position(least[bucket.words]),
            strict=True,
        )
        for generated, (link, bound) in enumerate(blocks):
            linked = np.flatnonzero(link.max(axis=0) > bound)
            generating = link[:, linked].argmax(axis=0)
            positions = (generating, np.full_like(generating, generated))
            best.append(
                np.stack(
                    [
                        rows[bucket.pairs[linked]],
                        *(positions if direction == "forward" else positions[::-1]),
                    ]
                )
            )
    return np.concatenate(best, axis=1)


def by_row(links: np.ndarray, rows: int) -> list[list[Link]]:
    """Convert links (3, links), with rows, source positions and target positions, to sorted
    lists by row."""
    row, source, target = links[:, np.lexsort(links[::-1])]
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    ends = np.searchsorted(row, np.arange(rows + 1)).tolist()
    return [pairs[start:end] for start, end in zip(ends, ends[1:], strict=False)]
