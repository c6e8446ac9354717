"""Conversion of blocks of text to records, counting rejected rows by reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.corpora.controls import count_controls
from augury.corpora.corpus import CorpusKind
from augury.corpora.duplicates import Duplicates, row_hashes
from augury.corpora.filters import (
    DUPLICATE,
    FAULTS,
    HELD_OUT,
    NO_LABEL,
    NOT_SELECTED,
    REASONS,
    clean,
    rejections,
)
from augury.corpora.splits import ResolvedSplit
from augury.corpora.text_settings import BaseText

if TYPE_CHECKING:
    from augury.corpora.readers import TextSource

ORIGIN = "original"
MAX_REJECTED = 0.5  # fraction of rows
EXAMPLES = 3  # rejected rows to keep for each reason
EXAMPLE_LENGTH = 200  # characters of each side of them


class Cleaned(NamedTuple):
    """A block of text with what can be found out about it without the blocks before."""

    block: pa.Table
    texts: list[pa.Array]
    """The cleaned sides."""
    broken: np.ndarray
    """Whether a row had inner tabs or line ends, (rows,)."""
    codes: np.ndarray
    """Indices into REASONS, 0 for rows that pass the filter, (rows,)."""
    hashes: np.ndarray | None
    """The hashes of rows that pass, if repeated ones are to be removed."""


class RecordBuilder(ABC):
    """Builds the records of a corpus from the blocks of a text and counts them.

    Blocks are cleaned in any order, on threads, and then added in that of the text.
    """

    KIND: ClassVar[CorpusKind]
    TEXT: ClassVar[type[BaseText]]
    """The settings of the texts that it reads; `ingest` finds the builder by them."""
    STEP: ClassVar[str]
    """Name of this step in addresses."""
    CODE: ClassVar[int]
    """Version in addresses, to be incremented when the same text gives other records."""
    LIMITS: ClassVar[str]
    """Filter settings that may reject many rows, for messages."""

    def __init__(self, split: ResolvedSplit, text: TextSource):
        self.split, self.text = split, text
        self.read = self.selected = self.kept = self.cleaned = 0
        self.controls = Counter[str]()
        """Texts of kept rows with a character that is invisible and changes what tools read, by
        its name."""
        self.rejected: dict[str, int] = {}
        self.examples: dict[str, list[dict[str, str]]] = {}
        """Examples of rejected rows by reason: location and text."""
        self._passed = 0  # number of rows that passed the filter
        self._duplicates = Duplicates()
        self._ids = Duplicates()

    @classmethod
    def of(cls, split: ResolvedSplit, text: TextSource) -> RecordBuilder:
        """Return the builder of a split; it may read the text once before."""
        return cls(split, text)

    @abstractmethod
    def manifest_entries(self) -> dict[str, Any]:
        """Return the manifest entries that are specific to this kind of corpus."""

    def build(self, block: pa.Table) -> pa.Table:
        """Return the records of the rows that are kept."""
        return self.add(self.clean(block))

    def clean(self, block: pa.Table) -> Cleaned:
        """Clean and filter a block; changes nothing in the builder."""
        sides = [block.column(side).combine_chunks() for side in self.KIND.sentences]
        cleaned = [clean(side, self._replace(), self.split.filter) for side in sides]
        texts = [text for text, _ in cleaned]
        training = self.split.role == "train"
        codes = rejections(texts, self.split.filter if training else None, self.KIND.sentences)
        selection = self._selection(block)
        codes = np.where(selection, selection, codes)
        if not training and (codes > NO_LABEL).any():
            raise self._empty_error(block, codes)
        hashes = None
        if training and self.split.filter.deduplicate:
            passed = pa.array(np.flatnonzero(codes == 0))
            hashes = row_hashes(*(text.take(passed) for text in texts))
        broken = np.logical_or.reduce([broken for _, broken in cleaned])
        return Cleaned(block, texts, broken, codes, hashes)

    def add(self, cleaned: Cleaned) -> pa.Table:
        """Return the records of a cleaned block, the next of the text."""
        block, texts, codes = cleaned.block, cleaned.texts, self._reasons(cleaned)
        kept = codes == 0
        self.read += len(block)
        self.selected += int(block.column("selected").to_numpy().sum())
        self.kept += int(kept.sum())
        self.cleaned += int((cleaned.broken & kept).sum())
        for code, count in zip(*np.unique(codes[~kept], return_counts=True), strict=True):
            self.rejected[REASONS[code]] = self.rejected.get(REASONS[code], 0) + int(count)
            self._add_examples(REASONS[code], block, texts, np.flatnonzero(codes == code))
        mask = pa.array(kept)
        sides = [text.filter(mask) for text in texts]
        self.controls += count_controls(sides)
        return self._table(block.filter(mask), sides)

    def check(self) -> None:
        """Raise UserError if most rows were rejected or none was kept."""
        name, text = self.split.name, self.split.text
        if not self.selected:
            conditions = ", ".join(f"{column} = {value}" for column, value in text.where.items())
            raise UserError(
                f"{name}: none of {self.read:,} rows is part of the text"
                + (f": check the conditions of where: {conditions}" if conditions else "")
                + (": too few, or too few that share no sentence; give it a text of its own")
                * bool(text.portion and not conditions)
            )
        rejected = {reason: count for reason, count in self.rejected.items() if reason in FAULTS}
        if (count := sum(rejected.values())) > MAX_REJECTED * self.selected:
            counts = f"{count:,} of {self.selected:,} rows are rejected ({_counts(rejected)})"
            sides = f"the {' and the '.join(self.KIND.sentences)} in {self._files}"
            expected = "belong together" if len(self.KIND.sentences) > 1 else "is correct"
            raise UserError(
                f"{name}: {counts}: check that {sides} {expected}, or change filter ({self.LIMITS})"
            )
        if not self.kept and self.split.every:
            raise UserError(
                f"{name}: {self._passed:,} pairs are too few for every: {self.split.every}; lower "
                "it"
            )
        if not self.kept:
            raise UserError(
                f"{name}: none of {self.read:,} rows is kept ({_counts(self.rejected)}): see "
                f"{self._files}"
            )

    def summary(self) -> str:
        """Return the counts as one line."""
        line = f"{self.kept:,} {self.KIND.noun} of {counted(self.read, 'row')}"
        if self.rejected:
            line += f"; rejected: {_counts(self.rejected)}"
        line += (
            f"; tabs or line ends replaced by spaces in {self.cleaned:,}" if self.cleaned else ""
        )
        return line + (
            f"; kept as they are: {describe_controls(self.controls)}" if self.controls else ""
        )

    def _replace(self) -> dict[str, str]:
        """Return the strings to replace in all sides."""
        return {}

    def _selection(self, block: pa.Table) -> np.ndarray:
        """Return indices into REASONS for rows that are not part of the text, and 0 for others."""
        return np.where(block.column("selected").to_numpy(), 0, NOT_SELECTED)

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        """Return indices into REASONS, 0 to keep, for rows that passed the filter, given their
        numbers from 0."""
        if not self.split.every:
            return np.zeros(len(passed), int)
        held_out = (passed + 1) % self.split.every == 0
        if self.split.name == "train":
            return np.where(held_out, HELD_OUT, 0)
        return np.where(held_out, 0, NOT_SELECTED)

    def _add_examples(
        self, reason: str, block: pa.Table, texts: list[pa.Array], rows: np.ndarray
    ) -> None:
        examples = self.examples.setdefault(reason, [])
        for row in rows[: EXAMPLES - len(examples)].tolist():
            sides = zip(self.KIND.sentences, texts, strict=True)
            text = {side: column[row].as_py()[:EXAMPLE_LENGTH] for side, column in sides}
            examples.append({"place": self.text.location(block.column("row")[row].as_py()), **text})

    @abstractmethod
    def _columns(self, block: pa.Table) -> list[pa.Array]:
        """Return the columns between the sides and the origin."""

    def _reasons(self, cleaned: Cleaned) -> np.ndarray:
        """Return indices into REASONS, 0 for rows that are kept."""
        codes = cleaned.codes.copy()
        passed = np.flatnonzero(codes == 0)
        if cleaned.hashes is not None:
            repeated = self._duplicates.repeated_hashes(cleaned.hashes)
            codes[passed[repeated]] = DUPLICATE
            passed = passed[~repeated]
        codes[passed] = self._held_out(np.arange(self._passed, self._passed + len(passed)))
        self._passed += len(passed)
        return codes

    def _record_ids(self, block: pa.Table) -> pa.Array:
        name, column = self.split.name, self.split.text.id_column
        if "id" not in block.column_names:
            numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
            return pc.binary_join_element_wise(name, numbers, "-")
        ids = block.column("id").combine_chunks()
        empty = pc.equal(pc.binary_length(ids), 0).to_numpy(zero_copy_only=False)
        if (faulty := empty | self._ids.repeated(ids)).any():
            place = int(faulty.argmax())
            fault = "the id is empty" if empty[place] else f"the id '{ids[place]}' occurs twice"
            raise UserError(
                f"{name}: {fault} (column {column}, row {block.column('row')[place].as_py():,}): "
                "ids must be unique; remove id_column to number the rows instead"
            )
        return ids

    def _table(self, block: pa.Table, sides: list[pa.Array]) -> pa.Table:
        ids, count = self._record_ids(block), len(block)
        view = self.KIND.schema.field("views").type.value_type
        views = pa.ListArray.from_arrays(
            pa.array(np.zeros(count + 1, np.int32)), pa.array([], view)
        )
        columns = [
            ids,
            *sides,
            *self._columns(block),
            pa.repeat(ORIGIN, count),
            views,
            pa.nulls(count, self.KIND.schema.field("lineage").type),
        ]
        return pa.table(columns, schema=self.KIND.schema)

    @property
    def _files(self) -> str:
        """The files of the text, for messages."""
        return ", ".join(self.split.text.files()) or self.split.text.hub or "the built-in text"

    def _empty_error(self, block: pa.Table, codes: np.ndarray) -> UserError:
        row = int((codes > NO_LABEL).argmax())
        return UserError(
            f"{self.split.name}: {REASONS[codes[row]]} in "
            f"{self.text.location(block.column('row')[row].as_py())}; validation and test sets are "
            "not filtered: complete or remove the row"
        )


def describe_controls(counts: Mapping[str, int]) -> str:
    """Return counts of control characters in words."""
    return ", ".join(f"{name} in {count:,} sentences" for name, count in counts.items())


def _counts(reasons: dict[str, int]) -> str:
    by_count = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in by_count)
