"""Conversion of blocks of text to records, counting rejected rows by reason."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.rng import digest
from augury.corpora.filters import (
    DUPLICATE,
    FAULTS,
    HELD_OUT,
    NO_LABEL,
    NOT_SELECTED,
    REASONS,
    SUBSET,
    Duplicates,
    clean,
    rejections,
    row_hashes,
)
from augury.corpora.labels import LabelNames
from augury.corpora.languages import check_language
from augury.corpora.spec import ResolvedSplit
from augury.corpora.text_settings import NliText

if TYPE_CHECKING:
    from augury.corpora.readers import TextSource

CODE = 1
"""Version in addresses, to be incremented when the same text gives other records."""
ORIGIN = "original"
MAX_REJECTED = 0.5  # fraction of rows
EXAMPLES = 3  # rejected rows to keep for each reason
EXAMPLE_LENGTH = 200  # characters of each side of them

CONTROLS = "\0\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CLASS = "[" + "".join(f"\\x{{{ord(control):x}}}" for control in CONTROLS) + "]"
"""NUL, and the controls of bidirectional text: they are not seen, and change what tools read."""


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


class RecordBuilder:
    """Builds the records of a corpus from the blocks of a text and counts them.

    Blocks are cleaned in any order, on threads, and then added in that of the text. `subset` is a
    mask over the rows that pass the filter.
    """

    def __init__(self, split: ResolvedSplit, text: TextSource, subset: np.ndarray | None = None):
        self.split, self.text, self.kind = split, text, split.kind
        self._names = LabelNames(split.kind, split.text.renamed, text.classes)
        self._subset = subset
        self.labels = Counter[str]()
        self.read = self.selected = self.kept = self.cleaned = 0
        self.controls = Counter[str]()
        """Texts of kept rows with a character that is invisible and changes what tools read, by
        its name."""
        self.rejected: dict[str, int] = {}
        self.examples: dict[str, list[dict[str, str]]] = {}
        """Examples of rejected rows by reason: location and text."""
        self._passed = 0  # number of rows that passed the filter
        self._duplicates = Duplicates()

    def manifest_entries(self) -> dict[str, Any]:
        """Return the manifest entries that are specific to this kind of corpus."""
        entries: dict[str, Any] = dict(zip(self.kind.languages, self.split.languages, strict=True))
        if not self.kind.aliases:
            return entries
        rows = subset_size(self.split)
        subset = {"rows": rows, "of": self._passed} if rows else None
        labels = {label: self.labels[label] for label in self.kind.labels}
        return {**entries, "labels": labels, "subset": subset}

    def build(self, block: pa.Table) -> pa.Table:
        """Return the records of the rows that are kept."""
        return self.add(self.clean(block))

    def clean(self, block: pa.Table) -> Cleaned:
        """Clean and filter a block; changes nothing in the builder."""
        sides = [block.column(side).combine_chunks() for side in self.kind.sentences]
        cleaned = [clean(side, self.split.text.replace, self.split.filter) for side in sides]
        texts = [text for text, _ in cleaned]
        training = self.split.role == "train"
        codes = rejections(texts, self.split.filter if training else None, self.kind.sentences)
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
            sides = f"the {' and the '.join(self.kind.sentences)} in {self._files}"
            expected = "belong together" if len(self.kind.sentences) > 1 else "is correct"
            raise UserError(
                f"{name}: {counts}: check that {sides} {expected}, or change filter "
                "(min_length, max_length, max_ratio)"
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
        line = f"{self.kept:,} {self.kind.noun} of {counted(self.selected, 'row')}"
        others = REASONS[NOT_SELECTED]  # rows of other splits, or not of `where`
        if rejected := {of: count for of, count in self.rejected.items() if of != others}:
            line += f"; rejected: {_counts(rejected)}"
        line += (
            f"; tabs or line ends replaced by spaces in {self.cleaned:,}" if self.cleaned else ""
        )
        return line + (
            f"; kept as they are: {describe_controls(self.controls)}" if self.controls else ""
        )

    def _selection(self, block: pa.Table) -> np.ndarray:
        """Return indices into REASONS for rows that are not part of the text, and 0 for others."""
        codes = np.where(block.column("selected").to_numpy(), 0, NOT_SELECTED)
        if not self.kind.is_labelled:
            return codes
        labels = block.column("label").combine_chunks().dictionary_encode()
        numbers = labels.indices.to_numpy()
        for index, name in enumerate(labels.dictionary.to_pylist()):
            rows = np.flatnonzero((numbers == index) & (codes == 0))
            if len(rows) and name not in self._names:
                raise self._label_error(name, block, int(rows[0]))
            if len(rows) and self._names[name] is None:
                codes[rows] = NO_LABEL
        return codes

    def _label_error(self, name: str, block: pa.Table, row: int) -> UserError:
        location = self.text.location(block.column("row")[row].as_py())
        return UserError(f"{self.split.name}: {self._names.unknown_message(name, location)}")

    def _held_out(self, passed: np.ndarray) -> np.ndarray:
        """Return indices into REASONS, 0 to keep, for rows that passed the filter, given their
        numbers from 0."""
        if self._subset is not None:
            return np.where(self._subset[passed], 0, SUBSET)
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
            sides = zip(self.kind.sentences, texts, strict=True)
            text = {side: column[row].as_py()[:EXAMPLE_LENGTH] for side, column in sides}
            examples.append({"place": self.text.location(block.column("row")[row].as_py()), **text})

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        """Return the columns between the sentences and the origin: label and languages."""
        columns = []
        if self.kind.is_labelled:
            labels = [self._names[name] for name in block.column("label").to_pylist()]
            if "" in labels:
                raise self._label_error("", block, labels.index(""))
            self.labels.update(label for label in labels if label)
            columns.append(pa.array(labels, pa.string()))
        for name, language in zip(self.kind.languages, self.split.languages, strict=True):
            if name in block.column_names:
                columns.append(self._checked_languages(block, name))
            else:
                columns.append(pa.repeat(language, len(block)))
        return columns

    def _checked_languages(self, block: pa.Table, name: str) -> pa.Array:
        """Return the column with the language of every row."""
        codes = block.column(name).combine_chunks()
        for code in codes.unique().to_pylist():
            try:
                check_language(code)
            except UserError as error:
                row = block.column("row")[codes.to_pylist().index(code)].as_py()
                raise UserError(f"{self.split.name}: {self.text.location(row)}: {error}") from error
        return codes

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

    def _table(self, block: pa.Table, sides: list[pa.Array]) -> pa.Table:
        count = len(block)
        numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
        ids = pc.binary_join_element_wise(self.split.name, numbers, "-")
        view = self.kind.schema.field("views").type.value_type
        views = pa.ListArray.from_arrays(
            pa.array(np.zeros(count + 1, np.int32)), pa.array([], view)
        )
        columns = [
            ids,
            *sides,
            *self._columns(block),
            pa.repeat(ORIGIN, count),
            views,
            pa.nulls(count, self.kind.schema.field("lineage").type),
        ]
        return pa.table(columns, schema=self.kind.schema)

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


def count_controls(texts: Sequence[pa.Array]) -> Counter[str]:
    """Return the number of texts that have a character, by its code and name: `U+202E
    RIGHT-TO-LEFT OVERRIDE`."""
    counts = Counter[str]()
    for column in texts:
        for text in column.filter(pc.match_substring_regex(column, _CLASS)).to_pylist():
            counts.update(_name(control) for control in CONTROLS if control in text)
    return counts


def _name(control: str) -> str:
    return f"U+{ord(control):04X} {unicodedata.name(control, 'NUL')}"


def describe_controls(counts: Mapping[str, int]) -> str:
    """Return counts of control characters in words."""
    return ", ".join(f"{name} in {count:,} sentences" for name, count in counts.items())


def _counts(reasons: dict[str, int]) -> str:
    by_count = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in by_count)


def subset_size(split: ResolvedSplit) -> int | None:
    """Return the size of the random subset to draw from a text; None for all of it."""
    return split.text.subset if isinstance(split.text, NliText) else None


def choose(split: ResolvedSplit, text: TextSource, size: int) -> np.ndarray:
    """Return a mask of a random subset over the rows that pass the filter; reads the text once.

    Rows are ranked by a hash of their id.
    """
    builder = RecordBuilder(split, text)
    ranks, labels = [], []
    for block in text.blocks():
        records = builder.build(block)
        ranks += [digest("subset", 1, name, size=8) for name in records.column("id").to_pylist()]
        labels += [split.kind.labels.index(label) for label in records.column("label").to_pylist()]
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
