"""Records of NLI text, and stratified subsets of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from augury.core.errors import UserError
from augury.core.rng import digest
from augury.corpora.corpus import KINDS, LABELS
from augury.corpora.filters import NO_LABEL, SUBSET
from augury.corpora.languages import check_language
from augury.corpora.nli import NliText
from augury.corpora.nli_labels import LabelNames
from augury.corpora.readers import TextSource
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import ResolvedSplit


class NliRecordBuilder(RecordBuilder):
    """Builds records of NLI text; `subset` is a mask over the rows that pass the filter."""

    KIND = KINDS["nli"]
    TEXT = NliText
    STEP = "ingest nli"
    CODE = 1
    LIMITS = "max_length"

    def __init__(self, split: ResolvedSplit, text: TextSource, subset: np.ndarray | None = None):
        super().__init__(split, text)
        assert isinstance(split.text, NliText)
        self._label_names = LabelNames(split.text.labels, text.classes)
        self._subset = subset
        self._counts = dict.fromkeys(LABELS, 0)

    def manifest_entries(self) -> dict[str, Any]:
        spec = self.split.text
        assert isinstance(spec, NliText)
        subset = (
            {"rows": spec.subset, "of": self._passed, "seed": spec.subset_seed}
            if spec.subset
            else None
        )
        return {"language": self.split.languages[0], "labels": self._counts, "subset": subset}

    def _selection(self, block: pa.Table) -> np.ndarray:
        codes = super()._selection(block)
        labels = block.column("label").combine_chunks().dictionary_encode()
        numbers = labels.indices.to_numpy()
        for index, name in enumerate(labels.dictionary.to_pylist()):
            rows = np.flatnonzero((numbers == index) & (codes == 0))
            if len(rows) and name not in self._label_names:
                location = self.text.location(block.column("row")[int(rows[0])].as_py())
                raise UserError(
                    f"{self.split.name}: {self._label_names.unknown_message(name, location)}"
                )
            if len(rows) and self._label_names[name] is None:
                codes[rows] = NO_LABEL
        return codes

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        if self._subset is None:
            return super()._held_out(passed)
        return np.where(self._subset[passed], 0, SUBSET)

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        labels = [self._label_names[name] for name in block.column("label").to_pylist()]
        for label in LABELS:
            self._counts[label] += labels.count(label)
        return [pa.array(labels, pa.string()), self._languages(block)]

    def _languages(self, block: pa.Table) -> pa.Array:
        """Return the language of every row: that of its column, or of the split."""
        if "language" not in block.column_names:
            return pa.repeat(self.split.languages[0], len(block))
        codes = block.column("language").combine_chunks()
        for code in codes.unique().to_pylist():
            try:
                check_language(code)
            except UserError as error:
                row = block.column("row")[codes.to_pylist().index(code)].as_py()
                raise UserError(f"{self.split.name}: {self.text.location(row)}: {error}") from error
        return codes


def choose(split: ResolvedSplit, text: TextSource, size: int, seed: int) -> np.ndarray:
    """Return a mask of a random subset over the rows that pass the filter; reads the text once.

    Rows are ranked by a hash of the seed and their id.
    """
    builder = NliRecordBuilder(split, text)
    ranks, labels = [], []
    for block in text.blocks():
        records = builder.build(block)
        ranks += [digest("subset", seed, name, size=8) for name in records.column("id").to_pylist()]
        labels += [LABELS.index(label) for label in records.column("label").to_pylist()]
    builder.check()
    if size > len(labels):
        raise UserError(
            f"{split.name}: subset is {size:,}, but there are {len(labels):,} examples: lower or "
            "remove it"
        )
    return stratified(np.array(labels), np.array(ranks), size)


def stratified(labels: np.ndarray, ranks: np.ndarray, size: int) -> np.ndarray:
    """Return a mask of `size` rows that preserves the proportions of `labels` (numbers from 0).

    Rows are apportioned to labels by Webster's method, and within a label taken in the order of
    ranks. Smaller subsets are contained in larger ones; with three labels, counts deviate from
    exact proportions by at most one (Balinski and Young 1982).
    """
    quantiles = np.empty(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = members[np.argsort(ranks[members], kind="stable")]
        quantiles[order] = (np.arange(len(order)) + 0.5) / len(order)
    mask = np.zeros(len(labels), bool)
    mask[np.lexsort((labels, quantiles))[:size]] = True
    return mask
