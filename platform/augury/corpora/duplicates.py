"""Detection of repeated rows and ids in texts of any length, in 8 bytes a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import xxhash

from augury.corpora.filters import join_sides


class Duplicates:
    """Detects repeated rows by their 64-bit hashes (XXH3).

    Of n distinct rows, one is taken for a repetition with a probability of about n^2 / 2^65: 3e-8
    for a million, 3e-4 for 100 million.
    """

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []
        """Hashes seen, in sorted runs of which each is more than twice as long as the next."""

    def repeated(self, *sides: pa.Array) -> np.ndarray:
        """Return a mask of the rows that equal an earlier one, in this call or a previous one."""
        return self.repeated_hashes(row_hashes(*sides))

    def repeated_hashes(self, hashes: np.ndarray) -> np.ndarray:
        """Return the mask of rows, given their `row_hashes`."""
        unique, first = np.unique(hashes, return_index=True)
        new = np.ones(len(unique), bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, unique), len(run) - 1)
            new &= run[places] != unique
        repeated = np.ones(len(hashes), bool)
        repeated[first[new]] = False
        self._add(unique[new])
        return repeated

    def _add(self, hashes: np.ndarray) -> None:
        """Add a sorted run, and join runs until each is more than twice as long as the next: every
        hash is sorted a logarithmic number of times, and looked up in as many runs."""
        if not len(hashes):
            return
        self._runs.append(hashes)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            joined = np.concatenate([self._runs.pop(), self._runs.pop()])
            joined.sort()
            self._runs.append(joined)


def row_hashes(*sides: pa.Array) -> np.ndarray:
    """Return the hash of every row of cleaned sides, (rows,) uint64."""
    rows = join_sides(*sides).cast(pa.binary()).to_pylist()
    return np.fromiter(map(xxhash.xxh3_64_intdigest, rows), np.uint64, len(rows))
