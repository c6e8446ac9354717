"""Blocks of a text become records; every row that is left out is counted with its reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.corpora.corpus import LINEAGE, PARALLEL, ROWS, SIDES
from augury.corpora.filters import (
    DUPLICATE,
    FAULTS,
    HELD_OUT,
    NO_LABEL,
    NOT_SELECTED,
    REASONS,
    Duplicates,
    clean,
    rejections,
)
from augury.corpora.readers import Text
from augury.corpora.spec import TextSpec
from augury.corpora.splits import Part

ORIGIN = "original"
MOST_REJECTED = 0.5  # of the rows of a text
EXAMPLES, EXAMPLE_LENGTH = 3, 200  # rows that are shown of those left out for one reason, and characters of a side


class Rows(ABC):
    """Turns blocks of a text, in their order, into records of one kind, and counts them."""

    KIND: ClassVar[str]
    """The kind of corpus, as manifests have it."""
    STEP: ClassVar[str]
    """The name of this step in the address of such a corpus."""
    CODE: ClassVar[int]
    """Raised when the same text would become other records."""
    SCHEMA: ClassVar[pa.Schema]
    LIMITS: ClassVar[str]
    """The settings of the filter that may reject many rows."""

    def __init__(self, part: Part, text: Text):
        self.part, self.text = part, text
        self.read = self.selected = self.kept = self.cleaned = 0
        self.rejected: dict[str, int] = {}
        self.examples: dict[str, list[dict[str, str]]] = {}
        """Of the rows left out, by reason: their location and their text."""
        self._passed = 0  # the filter
        self._duplicates = Duplicates()
        self._ids: set[str] = set()

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the entries of the manifest that this kind of corpus alone has."""

    def records(self, block: pa.Table) -> pa.Table:
        """Return the records of the rows that are kept."""
        sides = [block.column(side).combine_chunks() for side in SIDES[self.KIND]]
        cleaned = [clean(side, self._replace(), self.part.filter) for side in sides]
        texts = [text for text, _ in cleaned]
        codes = self._reasons(block, *texts)
        kept = codes == 0
        self.read += len(block)
        self.selected += int(block.column("selected").to_numpy().sum())
        self.kept += int(kept.sum())
        self.cleaned += int((np.logical_or.reduce([broken for _, broken in cleaned]) & kept).sum())
        for code, count in zip(*np.unique(codes[~kept], return_counts=True), strict=True):
            self.rejected[REASONS[code]] = self.rejected.get(REASONS[code], 0) + int(count)
            self._note_examples(REASONS[code], block, texts, np.flatnonzero(codes == code))
        mask = pa.array(kept)
        return self._table(block.filter(mask), [text.filter(mask) for text in texts])

    def check(self) -> None:
        """Raise UserError where most rows were rejected or none is left."""
        name, text = self.part.name, self.part.text
        if not self.selected:
            conditions = ", ".join(f"{column} = {value}" for column, value in text.where.items())
            raise UserError(
                f"{name}: none of {self.read:,} rows belongs to the text"
                + (f": where asks for {conditions}" if conditions else "")
            )
        faults = {reason: count for reason, count in self.rejected.items() if reason in FAULTS}
        if (count := sum(faults.values())) > MOST_REJECTED * self.selected:
            share = f"{count:,} of {self.selected:,} rows are rejected ({_counts(faults)})"
            sides = f"the {' and the '.join(SIDES[self.KIND])} in {self._files}"
            are = "belong together" if len(SIDES[self.KIND]) > 1 else "is what it should be"
            raise UserError(f"{name}: {share}: see whether {sides} {are}, or change filter ({self.LIMITS})")
        if not self.kept and self.part.every:
            raise UserError(f"{name}: {self._passed:,} pairs are too few for every: {self.part.every}")
        if not self.kept:
            raise UserError(f"{name}: none of {self.read:,} rows is left ({_counts(self.rejected)}): see {self._files}")

    def summary(self) -> str:
        """Return one line of counts."""
        line = f"{self.kept:,} {ROWS[self.KIND]} of {self.read:,} rows"
        if self.rejected:
            line += f"; left out: {_counts(self.rejected)}"
        return line + (f"; tabs or line ends became spaces in {self.cleaned:,}" if self.cleaned else "")

    def _replace(self) -> dict[str, str]:
        """Return the strings to replace in both sides."""
        return {}

    def _left_out(self, block: pa.Table) -> np.ndarray:
        """Return indices into REASONS of the rows that are not part of the text, 0 for the rest."""
        return np.where(block.column("selected").to_numpy(), 0, NOT_SELECTED)

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        """Return indices into REASONS, 0 for rows that stay, of the rows that passed the filter, numbered from 0."""
        if not self.part.every:
            return np.zeros(len(passed), int)
        held_out = (passed + 1) % self.part.every == 0
        if self.part.name == "train":
            return np.where(held_out, HELD_OUT, 0)
        return np.where(held_out, 0, NOT_SELECTED)

    def _note_examples(self, reason: str, block: pa.Table, texts: list[pa.Array], rows: np.ndarray) -> None:
        """Keep the first rows that a reason leaves out."""
        noted = self.examples.setdefault(reason, [])
        for row in rows[: EXAMPLES - len(noted)].tolist():
            sides = zip(SIDES[self.KIND], texts, strict=True)
            text = {side: column[row].as_py()[:EXAMPLE_LENGTH] for side, column in sides}
            noted.append({"place": self.text.location(block.column("row")[row].as_py()), **text})

    @abstractmethod
    def _columns(self, block: pa.Table) -> list[pa.Array]:
        """Return the columns between the sides and the origin."""

    def _reasons(self, block: pa.Table, *texts: pa.Array) -> np.ndarray:
        """Return indices into REASONS, 0 for the rows that are kept."""
        training = self.part.role == "train"
        codes = rejections(texts, self.part.filter if training else None, SIDES[self.KIND])
        left_out = self._left_out(block)
        codes = np.where(left_out, left_out, codes)
        if not training and (codes > NO_LABEL).any():
            raise self._empty(block, codes)
        if training and self.part.filter.deduplicate:
            passed = np.flatnonzero(codes == 0)
            repeated = self._duplicates.repeated(*(text.take(pa.array(passed)) for text in texts))
            codes[passed[repeated]] = DUPLICATE
        passed = np.flatnonzero(codes == 0)
        codes[passed] = self._held_out(np.arange(self._passed, self._passed + len(passed)))
        self._passed += len(passed)
        return codes

    def _record_ids(self, block: pa.Table) -> pa.Array:
        """Return the ids of the rows."""
        name, column = self.part.name, self.part.text.id_column
        if "id" not in block.column_names:
            numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
            return pc.binary_join_element_wise(name, numbers, "-")
        for row, record_id in zip(block.column("row").to_pylist(), block.column("id").to_pylist(), strict=True):
            if not record_id or record_id in self._ids:
                fault = f"the id '{record_id}' occurs twice" if record_id else "the id is empty"
                raise UserError(
                    f"{name}: {fault} (column {column}, row {row:,}): ids must be unique; "
                    "without id_column rows are numbered"
                )
            self._ids.add(record_id)
        return block.column("id").combine_chunks()

    def _table(self, block: pa.Table, sides: list[pa.Array]) -> pa.Table:
        ids, count = self._record_ids(block), len(block)
        view = self.SCHEMA.field("views").type.value_type
        views = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], view))
        columns = [ids, *sides, *self._columns(block), pa.repeat(ORIGIN, count), views, pa.nulls(count, LINEAGE)]
        return pa.table(columns, schema=self.SCHEMA)

    @property
    def _files(self) -> str:
        """The files of the text, for messages."""
        return ", ".join(self.part.text.files()) or self.part.text.hub or "the built-in text"

    def _empty(self, block: pa.Table, codes: np.ndarray) -> UserError:
        row = int((codes > NO_LABEL).argmax())
        return UserError(
            f"{self.part.name}: {REASONS[codes[row]]} in row {block.column('row')[row].as_py():,} of {self._files}; "
            "validation and test sets are not filtered: complete the row, or remove all of it"
        )


class ParallelRows(Rows):
    """Rows of a parallel text."""

    KIND = "parallel"
    STEP = "ingest"
    CODE = 1
    SCHEMA = PARALLEL
    LIMITS = "min_length, max_length, max_ratio"

    def facts(self) -> dict[str, Any]:
        source, target = self.part.languages
        return {"source_language": source, "target_language": target}

    def _replace(self) -> dict[str, str]:
        assert isinstance(self.part.text, TextSpec)
        return self.part.text.replace

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        return [pa.repeat(language, len(block)) for language in self.part.languages]


def _counts(reasons: dict[str, int]) -> str:
    by_count = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in by_count)
