"""Text files become a corpus in the store: checked, cleaned, filtered, numbered."""

from __future__ import annotations

import sys
from functools import cache
from typing import TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.config import address
from augury.corpora.corpus import KIND, LINEAGE, PARALLEL, SCHEMA_VERSION, VIEW, Corpus, CorpusWriter
from augury.corpora.filters import (
    DUPLICATE,
    FAULTS,
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
from augury.locks import make_once
from augury.progress import Stage, say_once
from augury.store import Folder, Store

CODE = 1  # raise it when the same text would become other records
ORIGIN = "original"
MOST_REJECTED = 0.5  # of the rows of a text


def ingest(
    spec: CorpusSpec, split: str, store: Store, *, directory: str | None = None, progress: TextIO | None = None
) -> Corpus:
    """The corpus of a split, made unless the store has it; its address depends on content, not on file names.

    Text is cleaned (`filters.clean`) and filtered (`Filter`); the manifest counts by reason what is left out.
    An id is `<split>-<row of the input, 8 digits>`, so that filters do not renumber, unless there is a column
    of ids.
    `directory` is where known sets lie, by default AUGURY_DATA; `progress` is by default standard error.
    UserError where the text cannot be used; nothing is left behind then.
    """
    stream = progress or sys.stderr
    part = spec.part(split, directory)
    text = open_text(part.text, part.role)
    for path in differing(part.known, text.inputs) if part.known else ():
        say_once(f"{split}: {path} is not the known copy of {spec.known}: scores may not compare", stream)
    folder = store.folder(KIND, _address(spec, part, text))
    if not make_once(folder, lambda: _make(folder, spec, part, text, stream)):
        corpus = Corpus(folder)
        print(f"{split}: {corpus.rows:,} pairs, reused {corpus.address}", file=stream)
        return corpus
    if text.note:
        say_once(text.note)
    return Corpus(folder)


@cache
def ingested(spec: str, split: str, root: str) -> Corpus:
    """The corpus of a split of a specification (JSON), read once in this process by all who share it."""
    return ingest(CorpusSpec.model_validate_json(spec), split, Store(root))


def _make(folder: Folder, spec: CorpusSpec, part: Part, text: Text, stream: TextIO) -> None:
    rows = _Rows(part, spec.languages)
    writer = CorpusWriter(folder)
    try:
        with Stage(f"read {part.name}", min(text.total, text.first or text.total), "pairs", stream) as stage:
            for block in text.blocks():
                writer.add(rows.records(block))
                stage.advance(len(block))
        rows.check()
    except UserError:
        folder.remove()
        raise
    writer.finish({
        "kind": "parallel", "split": part.name,
        "source_language": spec.source_language, "target_language": spec.target_language,
        "rows_in": rows.read, "rejected": rows.rejected, "cleaned": rows.cleaned,
        "known": spec.known if part.known else None, "files": text.inputs, "inputs": [], "note": text.note,
        "spec": {"text": part.text.plain(), "filter": part.filter.plain(), "every": part.every},
    })  # fmt: skip
    print(f"{part.name}: {rows.summary()}", file=stream)


@cache
def addressed(spec: str, split: str) -> str:
    """The address of a split of a specification (JSON), found once in this process."""
    return corpus_address(CorpusSpec.model_validate_json(spec), split)


def corpus_address(spec: CorpusSpec, split: str, *, directory: str | None = None) -> str:
    """The address that `ingest` gives a split; the files are read, nothing is made."""
    part = spec.part(split, directory)
    return _address(spec, part, open_text(part.text, part.role))


def overlap(train: Corpus, other: Corpus) -> int:
    """How many pairs of `other`, which must fit in memory, occur in `train` too: any is a leak."""
    pairs = pa.chunked_array([_pairs(block) for block in other.blocks(["source", "target"])])
    leaked = np.zeros(len(pairs), bool)
    for block in train.blocks(["source", "target"]):
        leaked |= pc.is_in(pairs, value_set=_pairs(block)).to_numpy()
    return int(leaked.sum())


class _Rows:
    """Turns blocks of a text into records and counts what becomes of its rows."""

    def __init__(self, part: Part, languages: tuple[str, str]):
        self.part, self.languages = part, languages
        self.read = self.selected = self.kept = self.cleaned = 0
        self.rejected: dict[str, int] = {}
        self._passed = 0  # the filter
        self._duplicates = Duplicates()
        self._ids: set[str] = set()

    def records(self, block: pa.Table) -> pa.Table:
        """The records of the rows that are kept."""
        sides = [block.column(side).combine_chunks() for side in ("source", "target")]
        cleaned = [clean(side, self.part.text.replace, self.part.filter) for side in sides]
        source, target = (text for text, _ in cleaned)
        codes = self._reasons(block, source, target)
        kept = codes == 0
        self.read += len(block)
        self.selected += int(block.column("selected").to_numpy().sum())
        self.kept += int(kept.sum())
        self.cleaned += int(((cleaned[0][1] | cleaned[1][1]) & kept).sum())
        for code, count in zip(*np.unique(codes[~kept], return_counts=True), strict=True):
            self.rejected[REASONS[code]] = self.rejected.get(REASONS[code], 0) + int(count)
        mask = pa.array(kept)
        return self._table(self._names(block.filter(mask)), source.filter(mask), target.filter(mask))

    def check(self) -> None:
        """UserError where most rows were rejected or none is left."""
        name, text = self.part.name, self.part.text
        if not self.selected:
            wanted = ", ".join(f"{column} = {value}" for column, value in text.where.items())
            raise UserError(
                f"{name}: none of {self.read:,} rows belongs to the text"
                + (f": where asks for {wanted}" if wanted else "")
            )
        faults = {reason: count for reason, count in self.rejected.items() if reason in FAULTS}
        if (count := sum(faults.values())) > MOST_REJECTED * self.selected:
            share = f"{count:,} of {self.selected:,} rows are rejected ({_counts(faults)})"
            raise UserError(
                f"{name}: {share}: see whether the two sides belong together, or change filter "
                "(min_length, max_length, max_ratio)"
            )
        if not self.kept:
            raise UserError(f"{name}: {self._passed:,} pairs are too few for every: {self.part.every}")

    def summary(self) -> str:
        """One line of counts."""
        line = f"{self.kept:,} pairs of {self.read:,} rows"
        if self.rejected:
            line += f"; left out: {_counts(self.rejected)}"
        return line + (f"; tabs or line ends became spaces in {self.cleaned:,}" if self.cleaned else "")

    def _reasons(self, block: pa.Table, source: pa.Array, target: pa.Array) -> np.ndarray:
        """Positions in REASONS, 0 for the rows that are kept."""
        training = self.part.role == "train"
        codes = rejections(source, target, self.part.filter if training else None)
        codes[~block.column("selected").to_numpy()] = NOT_SELECTED
        if not training and (codes > NOT_SELECTED).any():
            raise self._empty(block, codes)
        if training and self.part.filter.deduplicate:
            passed = np.flatnonzero(codes == 0)
            repeated = self._duplicates.repeated(source.take(pa.array(passed)), target.take(pa.array(passed)))
            codes[passed[repeated]] = DUPLICATE
        passed = np.flatnonzero(codes == 0)
        if self.part.every:
            held_out = np.arange(self._passed + 1, self._passed + 1 + len(passed)) % self.part.every == 0
            if self.part.name == "train":
                codes[passed[held_out]] = HELD_OUT
            else:
                codes[passed[~held_out]] = NOT_SELECTED
        self._passed += len(passed)
        return codes

    def _names(self, block: pa.Table) -> pa.Array:
        """The ids of the rows."""
        name, column = self.part.name, self.part.text.id_column
        if column is None:
            numbers = pc.utf8_lpad(block.column("row").combine_chunks().cast(pa.string()), 8, "0")
            return pc.binary_join_element_wise(name, numbers, "-")
        for row, given in zip(block.column("row").to_pylist(), block.column("id").to_pylist(), strict=True):
            if not given or given in self._ids:
                fault = f"the id '{given}' occurs twice" if given else "the id is empty"
                raise UserError(
                    f"{name}: {fault} (column {column}, row {row:,}): ids must be unique; "
                    "without id_column rows are numbered"
                )
            self._ids.add(given)
        return block.column("id").combine_chunks()

    def _table(self, ids: pa.Array, source: pa.Array, target: pa.Array) -> pa.Table:
        count = len(ids)
        views = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], VIEW))
        constants = [pa.repeat(value, count) for value in (*self.languages, ORIGIN)]
        return pa.table([ids, source, target, *constants, views, pa.nulls(count, LINEAGE)], schema=PARALLEL)

    def _empty(self, block: pa.Table, codes: np.ndarray) -> UserError:
        at = int((codes > NOT_SELECTED).argmax())
        row, text = block.column("row")[at].as_py(), self.part.text
        place = ", ".join(text.sources + text.targets) or text.file or text.hub
        return UserError(
            f"{self.part.name}: {REASONS[codes[at]]} in row {row:,} of {place}; validation and "
            "test sets are not filtered: complete the pair, or remove it from both sides"
        )


def _address(spec: CorpusSpec, part: Part, text: Text) -> str:
    # Lengths, ratio and duplicates decide over training rows only and leave the address of a test set alone.
    used = None if part.role == "train" else {"lowercase", "unescape"}
    return address({
        "kind": "ingest", "schema": SCHEMA_VERSION, "code": CODE,
        "split": part.name, "languages": spec.languages, "every": part.every,
        "text": part.text.settings(), "content": text.content,
        "filter": part.filter.model_dump(mode="json", include=used),
    })  # fmt: skip


def _counts(reasons: dict[str, int]) -> str:
    by_count = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in by_count)


def _pairs(block: pa.Table) -> pa.Array:
    return joined(block.column("source"), block.column("target")).combine_chunks()
