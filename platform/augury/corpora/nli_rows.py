"""Rows of an NLI text: labels by name, and a stratified subset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from augury.core.errors import UserError
from augury.core.rng import digest
from augury.corpora.corpus import LABELS, NLI
from augury.corpora.filters import NO_LABEL, SUBSET
from augury.corpora.labels import LabelNames
from augury.corpora.nli import NliText
from augury.corpora.readers import Text
from augury.corpora.rows import Rows
from augury.corpora.splits import Part


class NliRows(Rows):
    """Rows of an NLI text; with `chosen`, only those of the rows that pass the filter for which it is true."""

    KIND = "nli"
    STEP = "ingest nli"
    CODE = 1
    SCHEMA = NLI
    LIMITS = "max_length"

    def __init__(self, part: Part, text: Text, chosen: np.ndarray | None = None):
        super().__init__(part, text)
        assert isinstance(part.text, NliText)
        self._label_names = LabelNames(part.text.labels, text.classes)
        self._chosen = chosen
        self._counts = dict.fromkeys(LABELS, 0)

    def facts(self) -> dict[str, Any]:
        spec = self.part.text
        assert isinstance(spec, NliText)
        chosen = {"rows": spec.subset, "of": self._passed, "seed": spec.subset_seed} if spec.subset else None
        return {"language": self.part.languages[0], "labels": self._counts, "subset": chosen}

    def _left_out(self, block: pa.Table) -> np.ndarray:
        codes = super()._left_out(block)
        labels = block.column("label").combine_chunks().dictionary_encode()
        numbers = labels.indices.to_numpy()
        for index, name in enumerate(labels.dictionary.to_pylist()):
            rows = np.flatnonzero((numbers == index) & (codes == 0))
            if len(rows) and name not in self._label_names:
                location = self.text.location(block.column("row")[int(rows[0])].as_py())
                raise UserError(f"{self.part.name}: {self._label_names.complaint(name, location)}")
            if len(rows) and self._label_names[name] is None:
                codes[rows] = NO_LABEL
        return codes

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        if self._chosen is None:
            return super()._held_out(passed)
        return np.where(self._chosen[passed], 0, SUBSET)

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        labels = [self._label_names[name] for name in block.column("label").to_pylist()]
        for label in LABELS:
            self._counts[label] += labels.count(label)
        return [pa.array(labels, pa.string()), pa.repeat(self.part.languages[0], len(block))]


def choose(part: Part, text: Text, size: int, seed: int) -> np.ndarray:
    """Return a mask of the subset over the rows that pass the filter; reads the text once.

    The rank of a row among those of its label is that of a hash of the seed and its id.
    """
    rows = NliRows(part, text)
    ranks, labels = [], []
    for block in text.blocks():
        records = rows.records(block)
        ranks += [digest("subset", seed, name, size=8) for name in records.column("id").to_pylist()]
        labels += [LABELS.index(label) for label in records.column("label").to_pylist()]
    rows.check()
    if size > len(labels):
        raise UserError(
            f"{part.name}: subset: {size:,} of {len(labels):,} examples: ask for fewer, or leave subset out"
        )
    return stratified(np.array(labels), np.array(ranks), size)


def stratified(labels: np.ndarray, ranks: np.ndarray, size: int) -> np.ndarray:
    """Return a mask of `size` rows that has the proportions of `labels` (numbers from 0).

    Seats go to labels by Webster's method and within a label to the lowest ranks. A smaller subset is a part of a
    larger one, and with three labels no count is further than one from its share (Balinski and Young 1982).
    """
    quantiles = np.empty(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = members[np.argsort(ranks[members], kind="stable")]
        quantiles[order] = (np.arange(len(order)) + 0.5) / len(order)
    mask = np.zeros(len(labels), bool)
    mask[np.lexsort((labels, quantiles))[:size]] = True
    return mask
