"""Text files become a corpus in the store: checked, cleaned, filtered, numbered."""

from __future__ import annotations

import sys
from typing import TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.config import address
from augury.corpora.corpus import KIND, LINEAGE, PARALLEL, SCHEMA_VERSION, VIEW, Corpus, CorpusWriter
from augury.corpora.filters import (
    BY_FILTER,
    DUPLICATE,
    HELD_OUT,
    NOT_SELECTED,
    REASONS,
    Duplicates,
    clean,
    joined,
    rejections,
)
from augury.corpora.known import differing
from augury.corpora.readers import Text, open_text
from augury.corpora.spec import CorpusSpec, Part
from augury.errors import UserError
from augury.progress import Stage
from augury.store import Store

CODE = 1  # raise it when the same text would become other records
ORIGIN = "original"
MOST_REJECTED = 0.5  # of the rows of a text


def ingest(spec: CorpusSpec, split: str, store: Store, *, directory: str | None = None,
           progress: TextIO | None = None) -> Corpus:
    """The corpus of a split, made unless the store has it; its address depends on content, not on file names.

    Text is cleaned (`filters.clean`) and filtered (`Filter`); the manifest counts what is left out, by reason. An id
    is `<split>-<row of the input, 8 digits>`, so that filters do not renumber, or comes from the id column.
    `directory` is where known sets lie, by default AUGURY_DATA; `progress` is by default standard error.
    UserError where the text cannot be used; nothing is left behind then.
    """
    stream = progress or sys.stderr
    part = spec.part(split, directory)
    text = open_text(part.text, part.role)
    for path in differing(part.known, text.inputs) if part.known else ():
        print(f"{split}: {path} is not the known copy of {spec.known}: scores may not compare", file=stream)
    folder = store.folder(KIND, _address(spec, part, text))
    if folder.complete:
        corpus = Corpus(folder)
        print(f"{split}: {corpus.rows:,} pairs, reused {corpus.address}", file=stream)
        return corpus
    rows = _Rows(part, spec.languages)
    writer = CorpusWriter(folder)
    try:
        with Stage(f"read {split}", text.total, "pairs", stream) as stage:
            for block in text.blocks():
                writer.add(rows.records(block))
                stage.advance(len(block))
        rows.check(writer.rows)
    except UserError:
        folder.remove()
        raise
    corpus = writer.finish({
        "kind": "parallel", "split": split,
        "source_language": spec.source_language, "target_language": spec.target_language,
        "rows_in": rows.read, "rejected": rows.rejected, "cleaned": rows.cleaned,
        "known": spec.known if part.known else None, "files": text.inputs, "inputs": [], "note": text.note,
        "spec": {"text": part.text.plain(), "filter": part.filter.plain(), "every": part.every},
    })  # fmt: skip
    print(f"{split}: {rows.summary(corpus.rows)}" + (f"; {text.note}" if text.note else ""), file=stream)
    return corpus


def overlap(train: Corpus, other: Corpus) -> int:
    """How many pairs of `other`, which must fit in memory, also occur in `train`; any is a leak of test text."""
    pairs = pa.chunked_array([_pairs(block) for block in other.blocks(["source", "target"])])
    leaked = np.zeros(len(pairs), bool)
    for block in train.blocks(["source", "target"]):
        leaked |= pc.is_in(pairs, value_set=_pairs(block)).to_numpy()
    return int(leaked.sum())


class _Rows:
    """Turns blocks of a text into records and counts what becomes of its rows."""

    def __init__(self, part: Part, languages: tuple[str, str]):
        self.part, self.languages = part, languages
        self.read = self.passed = self.cleaned = 0
        self.rejected: dict[str, int] = {}
        self._duplicates = Duplicates()
        self._ids: set[str] = set()

    def records(self, block: pa.Table) -> pa.Table:
        """The records of the rows that are kept."""
        part = self.part
        source, source_changed = clean(block.column("source").combine_chunks(), part.text.replace, part.filter)
        target, target_changed = clean(block.column("target").combine_chunks(), part.text.replace, part.filter)
        codes = rejections(source, target, part.filter if part.role == "train" else None)
        codes[~block.column("selected").to_numpy()] = NOT_SELECTED
        if part.role != "train" and (codes > NOT_SELECTED).any():
            raise self._empty(block, codes)
        if part.role == "train" and part.filter.deduplicate:
            passed = np.flatnonzero(codes == 0)
            repeated = self._duplicates.repeated(source.take(pa.array(passed)), target.take(pa.array(passed)))
            codes[passed[repeated]] = DUPLICATE
        self._hold_out(codes)
        kept = codes == 0
        self.read += len(block)
        self.cleaned += int(((source_changed | target_changed) & kept).sum())
        for code, count in zip(*np.unique(codes[~kept], return_counts=True), strict=True):
            self.rejected[REASONS[code]] = self.rejected.get(REASONS[code], 0) + int(count)
        mask = pa.array(kept)
        return self._table(self._named(block.filter(mask)), source.filter(mask), target.filter(mask))

    def check(self, written: int) -> None:
        """UserError where most rows were rejected or none is left."""
        by_filter = {reason: count for reason, count in self.rejected.items() if reason in BY_FILTER}
        rejected, name = sum(by_filter.values()), self.part.name
        if rejected > MOST_REJECTED * (rejected + self.passed):
            share = f"{rejected:,} of {rejected + self.passed:,} rows are rejected ({_counts(by_filter)})"
            raise UserError(f"{name}: {share}: see whether the two sides belong together, or change filter "
                            "(min_length, max_length, max_ratio, deduplicate)")
        if not self.passed:
            wanted = ", ".join(f"{column} = {value}" for column, value in self.part.text.where.items())
            raise UserError(f"{name}: none of {self.read:,} rows belongs to the text"
                            + (f": where asks for {wanted}" if wanted else ""))
        if not written:
            raise UserError(f"{name}: {self.passed:,} pairs are too few for every: {self.part.every}")

    def summary(self, written: int) -> str:
        """One line of counts."""
        line = f"{written:,} pairs of {self.read:,} rows"
        if self.rejected:
            line += f"; left out: {_counts(self.rejected)}"
        return line + (f"; tabs or line ends became spaces in {self.cleaned:,}" if self.cleaned else "")

    def _hold_out(self, codes: np.ndarray) -> None:
        """Of the rows that passed, give each `every`-th to validation and the others to training."""
        passed = np.flatnonzero(codes == 0)
        if self.part.every:
            held_out = np.arange(self.passed + 1, self.passed + 1 + len(passed)) % self.part.every == 0
            if self.part.name == "train":
                codes[passed[held_out]] = HELD_OUT
            else:
                codes[passed[~held_out]] = NOT_SELECTED
        self.passed += len(passed)

    def _named(self, block: pa.Table) -> pa.Array:
        """The ids of the rows."""
        if "id" not in block.column_names:
            numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
            return pc.binary_join_element_wise(self.part.name, numbers, "-")
        for row, name in zip(block.column("row").to_pylist(), block.column("id").to_pylist(), strict=True):
            if not name or name in self._ids:
                fault = f"the id '{name}' occurs twice" if name else "the id is empty"
                raise UserError(f"{self.part.name}: {fault} in column {self.part.text.id_column}, row {row:,}; ids "
                                "must be unique: leave out id_column to have the rows numbered")
            self._ids.add(name)
        return block.column("id").combine_chunks()

    def _table(self, ids: pa.Array, source: pa.Array, target: pa.Array) -> pa.Table:
        count = len(ids)
        views = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], VIEW))
        constants = [pa.repeat(value, count) for value in (*self.languages, ORIGIN)]
        return pa.table([ids, source, target, *constants, views, pa.nulls(count, LINEAGE)], schema=PARALLEL)

    def _empty(self, block: pa.Table, codes: np.ndarray) -> UserError:
        at = int(np.flatnonzero(codes > NOT_SELECTED)[0])
        text = self.part.text
        places = ", ".join(str(place) for place in (text.source, text.target, text.file, text.hub) if place)
        row = block.column("row")[at].as_py()
        return UserError(f"{self.part.name}: {REASONS[codes[at]]} in row {row:,} of {places}; validation and test "
                         "sets are not filtered: complete the pair, or remove it from both sides")


def _address(spec: CorpusSpec, part: Part, text: Text) -> str:
    # Lengths, ratio and duplicates only decide over training rows: they leave the address of a test set alone.
    used = None if part.role == "train" else {"lowercase", "unescape"}
    return address({
        "kind": "ingest", "schema": SCHEMA_VERSION, "code": CODE, "split": part.name,
        "languages": spec.languages, "text": part.text.settings(), "content": text.content, "every": part.every,
        "filter": part.filter.model_dump(mode="json", include=used),
    })  # fmt: skip


def _counts(reasons: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items(), key=lambda item: -item[1]))


def _pairs(block: pa.Table) -> pa.Array:
    return joined(block.column("source"), block.column("target")).combine_chunks()
