"""Conversion of blocks of text to records, counting rejected rows by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.machine import available_cores
from augury.core.naming import counted
from augury.core.progress import ProgressLine
from augury.core.rng import digest
from augury.core.threads import map_ahead
from augury.corpora import filters
from augury.corpora.labels import LabelNames
from augury.corpora.languages import check_language
from augury.corpora.readers import TextSource
from augury.corpora.spec import ResolvedSplit

CODE = 3
"""Version in addresses, to be incremented when the same text gives other records."""
ORIGIN = "original"
MAX_REJECTED = 0.5  # fraction of rows
MAX_THREADS = 8
"""Blocks that are cleaned at once: with more, what is done in order takes longer."""


class Cleaned(NamedTuple):
    """A block of text with what can be found out about it without the blocks before."""

    block: pa.Table
    texts: list[pa.Array]
    """The cleaned sides."""
    codes: np.ndarray
    """Indices into `filters.REASONS`, 0 for rows that pass the filter, (rows,)."""
    hashes: np.ndarray | None
    """The hashes of rows that pass, if repeated ones are to be removed."""


class RecordBuilder:
    """Builds the records of a corpus from the blocks of a text and counts them.

    `subset` is a mask over the rows that pass the filter and are not held out.
    """

    def __init__(self, split: ResolvedSplit, text: TextSource, subset: np.ndarray | None = None):
        self.split, self.text, self.kind = split, text, split.kind
        self._names = LabelNames(split.kind, split.text.labels, text.classes)
        self._subset = subset
        self._read = self._selected = self._kept = 0
        self._rejected = Counter[str]()
        self._passed = 0  # number of rows that passed the filter
        self._duplicates = filters.Duplicates()

    def records(self, progress: ProgressLine | None = None) -> Iterator[pa.Table]:
        """Yield the records of the text block by block; later blocks are cleaned meanwhile.

        Raises UserError for unusable rows, and at the end if most are rejected or none is kept.
        """
        threads = min(available_cores(), MAX_THREADS)
        for cleaned in map_ahead(self._clean, self.text.blocks(), threads):
            yield self._add(cleaned)
            if progress:
                progress.advance(len(cleaned.block))
        self._check()

    def manifest(self) -> dict[str, Any]:
        """Return the entries of the manifest that records determine."""
        # In the order of reasons, however the text was cut into blocks.
        reasons = [reason for reason in filters.REASONS if reason in self._rejected]
        return {
            **dict(zip(self.kind.languages, self.split.languages, strict=True)),
            "rows_in": self._read,
            "rejected": {reason: self._rejected[reason] for reason in reasons},
        }

    def summary(self) -> str:
        """Return the counts as one line."""
        line = f"{self._kept:,} {self.kind.noun} of {counted(self._selected, 'row')}"
        others = filters.REASONS[filters.NOT_SELECTED]  # rows of other splits, or not of `where`
        rejected = {reason: count for reason, count in self._rejected.items() if reason != others}
        if rejected:
            line += f"; rejected: {_counts(rejected)}"
        return line

    def _clean(self, block: pa.Table) -> Cleaned:
        """Clean and filter a block; changes nothing in the builder."""
        sides = [block.column(side).combine_chunks() for side in self.kind.sentences]
        texts = [filters.clean(side, self.split.text.replace, self.split.filter) for side in sides]
        training = self.split.role == "train"
        limits = self.split.filter if training else None
        codes = filters.rejections(texts, limits, self.kind.sentences)
        selected = block.column("selected").to_numpy()
        codes = np.where(selected, codes, filters.NOT_SELECTED)
        if self.kind.is_labelled:
            labels = block.column("label").combine_chunks().dictionary_encode()
            numbers = labels.indices.to_numpy()
            meant: list[str | None] = []
            for index, name in enumerate(labels.dictionary.to_pylist()):
                rows, label = np.flatnonzero((numbers == index) & selected), None
                if len(rows):
                    place = self.text.location(block, int(rows[0]))
                    label = self._names.label(name, f"{self.split.name}: ", place)
                if label is None:
                    codes[rows] = filters.NO_LABEL
                meant.append(label)
            column = pa.array(meant, pa.string()).take(labels.indices)
            block = block.set_column(block.column_names.index("label"), "label", column)
        if not (training or self.split.text.portion) and (codes > filters.NO_LABEL).any():
            row = int((codes > filters.NO_LABEL).argmax())
            reason, place = filters.REASONS[codes[row]], self.text.location(block, row)
            raise UserError(
                f"{self.split.name}: {reason} in {place}; validation and test sets are not "
                "filtered: complete or remove the row"
            )
        hashes = None
        if training and self.split.filter.deduplicate:
            passed = pa.array(np.flatnonzero(codes == 0))
            hashes = filters.row_hashes(*(text.take(passed) for text in texts))
        return Cleaned(block, texts, codes, hashes)

    def _add(self, cleaned: Cleaned) -> pa.Table:
        """Return the records of a cleaned block, the next of the text."""
        block, codes = cleaned.block, cleaned.codes
        passed = np.flatnonzero(codes == 0)
        if cleaned.hashes is not None:
            repeated = self._duplicates.repeated(cleaned.hashes)
            codes[passed[repeated]] = filters.DUPLICATE
            passed = passed[~repeated]
        numbers = np.arange(self._passed, self._passed + len(passed))
        self._passed += len(passed)
        if self.split.every:
            held_out = (numbers + 1) % self.split.every == 0
            if self.split.name == "train":
                codes[passed] = np.where(held_out, filters.HELD_OUT, 0)
            else:
                codes[passed] = np.where(held_out, 0, filters.NOT_SELECTED)
        if self._subset is not None:
            rows = np.flatnonzero(codes == 0)
            codes[rows] = np.where(self._subset[: len(rows)], 0, filters.SUBSET)
            self._subset = self._subset[len(rows) :]
        kept = codes == 0
        self._read += len(block)
        self._selected += int(block.column("selected").to_numpy().sum())
        self._kept += int(kept.sum())
        for code, count in zip(*np.unique(codes[~kept], return_counts=True), strict=True):
            self._rejected[filters.REASONS[code]] += int(count)
        mask = pa.array(kept)
        return self._table(block.filter(mask), [text.filter(mask) for text in cleaned.texts])

    def _table(self, block: pa.Table, sides: list[pa.Array]) -> pa.Table:
        """Return the records of rows that are kept."""
        count, schema = len(block), self.kind.schema
        numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
        columns = [pc.binary_join_element_wise(self.split.name, numbers, "-"), *sides]
        if self.kind.is_labelled:
            columns.append(block.column("label"))
        for name, language in zip(self.kind.languages, self.split.languages, strict=True):
            column = pa.repeat(language, count)
            if name in block.column_names:  # a text in several languages
                column = block.column(name).combine_chunks()
                for code in column.unique().to_pylist():
                    try:
                        check_language(code)
                    except UserError as error:
                        place = self.text.location(block, column.to_pylist().index(code))
                        raise UserError(f"{self.split.name}: {place}: {error}") from error
            columns.append(column)
        view = schema.field("views").type.value_type
        starts = pa.array(np.zeros(count + 1, np.int32))
        views = pa.ListArray.from_arrays(starts, pa.array([], view))
        lineage = pa.nulls(count, schema.field("lineage").type)
        return pa.table([*columns, pa.repeat(ORIGIN, count), views, lineage], schema=schema)

    def _check(self) -> None:
        """Raise UserError if most rows were rejected or none was kept."""
        name, text = self.split.name, self.split.text
        files = ", ".join(text.files()) or "the built-in text"
        if not self._selected:
            conditions = ", ".join(f"{column} = {value}" for column, value in text.where.items())
            hint = ""
            if conditions:
                hint = f": check the conditions of where: {conditions}"
            elif text.portion:
                hint = ": too few, or too few that share no sentence; give it a text of its own"
            raise UserError(f"{name}: none of {self._read:,} rows is part of the text{hint}")
        faults = {why: self._rejected[why] for why in filters.FAULTS if why in self._rejected}
        if (count := sum(faults.values())) > MAX_REJECTED * self._selected:
            counts = f"{count:,} of {self._selected:,} rows are rejected ({_counts(faults)})"
            sides = f"the {' and the '.join(self.kind.sentences)} in {files}"
            expected = "belong together" if len(self.kind.sentences) > 1 else "is correct"
            raise UserError(
                f"{name}: {counts}: check that {sides} {expected}, or change filter "
                "(max_length, max_ratio)"
            )
        if not self._kept:
            remedy = f"see {files}"
            if self.split.every and self._passed:
                remedy = f"too few for every: {self.split.every}; lower it"
            raise UserError(
                f"{name}: none of {self._read:,} rows is kept ({_counts(self._rejected)}): {remedy}"
            )


def _counts(reasons: Mapping[str, int]) -> str:
    by_count = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in by_count)


def choose(split: ResolvedSplit, text: TextSource, size: int) -> np.ndarray:
    """Return a mask of a random subset over the rows that `RecordBuilder` keeps without it; reads
    the text once.

    Rows are ranked by a hash of their id.
    """
    ranks: list[bytes] = []
    labels: list[str] = []
    for records in RecordBuilder(split, text).records():
        names = records.column("id").to_pylist()
        ranks += [digest("subset", 1, name, size=8) for name in names]
        # Without labels, the origin, which is the same for all.
        labels += records.column("label" if split.kind.is_labelled else "origin").to_pylist()
    if size > len(labels):
        raise UserError(
            f"{split.name}: subset is {size:,}, but there are {len(labels):,} "
            f"{split.kind.noun}: lower or remove it"
        )
    order = split.kind.labels or sorted(set(labels))
    return stratified(np.array([order.index(label) for label in labels]), np.array(ranks), size)


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
