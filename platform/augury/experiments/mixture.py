"""The mixture of a training set: how often each row is read, and the symbol before its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.corpora.mixture import row_ranges
from augury.corpora.splits import Share
from augury.experiments.experiment import Experiment


class Mixture(NamedTuple):
    """Shares, and the index of every row's share, (rows,): first the corpus, then all records."""

    shares: Sequence[Share]
    of_row: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """The weight of every row, (rows,)."""
        return np.array([share.weight for share in self.shares])[self.of_row]

    def tag(self, row: int) -> str | None:
        """Return the symbol before the source of a row."""
        return self.shares[self.of_row[row]].tag


def mixture(experiment: Experiment, texts: Sequence[Folder]) -> Mixture | None:
    """Return the mixture of a training set, the corpus first and then records; None where all rows
    have equal shares.

    Records have the share that the section `mixture` names for their origin, otherwise that of
    their first parent.
    """
    if not experiment.is_weighted:
        return None
    corpus, *records = map(Corpus, texts)
    shares = [*experiment.corpus.shares.values(), *experiment.mixture.values(), Share()]
    texts_with_shares, origins_with_shares = (
        list(experiment.corpus.shares),
        list(experiment.mixture),
    )
    parts = [np.zeros(corpus.rows, np.int64)]
    for name, start, end in row_ranges(corpus):
        parts[0][start:end] = texts_with_shares.index(name)
    places: dict[str, int] | None = None
    for name, text in zip(experiment.record_origins, records, strict=True):
        if name in origins_with_shares:
            index = len(texts_with_shares) + origins_with_shares.index(name)
            parts.append(np.full(text.rows, index))
            continue
        places = places or dict(zip(corpus.column("id"), parts[0].tolist(), strict=True))
        lineages: Sequence[Any] = text.column("lineage")
        parents = [lineage["parents"] if lineage else [] for lineage in lineages]
        parts.append(
            np.array(
                [places.get(parent[0] if parent else "", len(shares) - 1) for parent in parents]
            )
        )
    return Mixture(shares, np.concatenate(parts))
