"""Text files become a corpus in the store: checked, cleaned, filtered, numbered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.progress import Stage, say, say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND, ROWS, SCHEMA_VERSION, SIDES, Corpus, CorpusWriter
from augury.corpora.files import find, open_bytes
from augury.corpora.filters import joined
from augury.corpora.known import differing
from augury.corpora.labelled import LabelledText
from augury.corpora.labelled_rows import LabelledRows
from augury.corpora.monolingual import MonolingualText
from augury.corpora.monolingual_rows import MonolingualRows
from augury.corpora.nli import NliText
from augury.corpora.nli_rows import NliRows, choose
from augury.corpora.readers import Text, open_text
from augury.corpora.rows import ParallelRows, Rows
from augury.corpora.splits import BaseSpec, BaseText, Part


def ingest(spec: BaseSpec, split: str, store: Store, *, directory: str | None = None) -> Corpus:
    """Return the corpus of a split, made unless the store has it; its address depends on content, not on file names.

    Text is cleaned (`filters.clean`) and filtered (`Cleaning`); the manifest counts by reason what is left out.
    An id is `<split>-<row of the input, 8 digits>`, so that filters do not renumber, unless the text has ids.
    `directory` is the directory of known sets, by default AUGURY_DATA.
    Raises UserError where the text cannot be used; nothing is left behind then.
    """
    part = spec.part(split, directory)
    text = _open(part)
    if part.known:
        for path in differing(part.known, text.inputs):
            say_once(f"{split}: {path} is not the known copy of {part.known.name}: scores may not compare")
    folder = store.folder(KIND, _address(part, text))
    written, corpus = make_once(folder, lambda: _make(folder, part, text)), Corpus(folder)
    if not written:
        say(f"{split}: {corpus.rows:,} {corpus.noun}, reused {corpus.address}")
    if text.note:
        say_once(text.note)
    return corpus


def ingested(spec: BaseSpec, split: str, root: str) -> Corpus:
    """Return the corpus of a split, read once in this process by all who share it.

    Raises UserError, before anything is read, where a file of any split cannot be opened.
    """
    _check(type(spec), spec.model_dump_json())
    return _ingested(type(spec), spec.model_dump_json(), split, root)


def addressed(spec: BaseSpec, split: str) -> str:
    """Return the address of a split, computed once in this process; UserError as `ingested` raises it."""
    _check(type(spec), spec.model_dump_json())
    return _addressed(type(spec), spec.model_dump_json(), split)


def corpus_address(spec: BaseSpec, split: str, *, directory: str | None = None) -> str:
    """Return the address that `ingest` gives a split; the files are read, nothing is made."""
    part = spec.part(split, directory)
    return _address(part, _open(part))


def overlap(train: Corpus, other: Corpus) -> int:
    """Count the pairs of `other`, which must fit in memory, that occur in `train` too: any is a leak."""
    sides = SIDES[train.kind]
    pairs = pa.chunked_array([_pairs(block) for block in other.blocks(sides)])
    leaked = np.zeros(len(pairs), bool)
    for block in train.blocks(sides):
        leaked |= pc.is_in(pairs, value_set=_pairs(block)).to_numpy()
    return int(leaked.sum())


def warn_of_overlap(train: Corpus, held_out: Mapping[str, Corpus]) -> None:
    """Warn of the pairs that the training set shares with each of the other corpora, by their names."""
    for name, corpus in held_out.items():
        shared = overlap(train, corpus)
        if shared:
            say_once(
                f"warning: {shared:,} of the {corpus.rows:,} {corpus.noun} of '{name}' are in the training set too"
            )


@cache
def _check(schema: type[BaseSpec], spec: str) -> None:
    """Raise UserError, which names the split, unless every file of every one can be opened; none is read."""
    texts = schema.model_validate_json(spec)
    for split in texts.splits():
        try:
            for path in map(find, texts.part(split).text.files()):
                if not path.is_dir():
                    with open_bytes(path):
                        pass
        except UserError as error:
            raise UserError(f"text {split}: {error}") from error


@cache
def _ingested(schema: type[BaseSpec], spec: str, split: str, root: str) -> Corpus:
    return ingest(schema.model_validate_json(spec), split, Store(root))


@cache
def _addressed(schema: type[BaseSpec], spec: str, split: str) -> str:
    return corpus_address(schema.model_validate_json(spec), split)


def _open(part: Part) -> Text:
    return open_text(part.text, part.role, part.languages)


def _kind(part: Part) -> type[Rows]:
    kinds: dict[type[BaseText], type[Rows]] = {
        NliText: NliRows,
        LabelledText: LabelledRows,
        MonolingualText: MonolingualRows,
    }
    return kinds.get(type(part.text), ParallelRows)


def _address(part: Part, text: Text) -> str:
    # Lengths, ratio and duplicates decide over training rows only and leave the address of a test set alone.
    used = None if part.role == "train" else {"lowercase", "unescape"}
    return address(
        {
            "kind": _kind(part).STEP,
            "schema": SCHEMA_VERSION,
            "code": _kind(part).CODE,
            "split": part.name,
            "languages": part.languages,
            "every": part.every,
            "text": part.text.settings(),
            "content": text.content,
            "filter": part.filter.model_dump(mode="json", include=used),
        }
    )


def _make(folder: Folder, part: Part, text: Text) -> None:
    writer = CorpusWriter(folder)
    try:
        rows = _rows(part, text)
        with Stage(f"read {part.name}", min(text.total, text.first or text.total), ROWS[rows.KIND]) as stage:
            for block in text.blocks():
                writer.add(rows.records(block))
                stage.advance(len(block))
        rows.check()
    except UserError:
        folder.remove()
        raise
    writer.finish(
        {
            "kind": rows.KIND,
            "split": part.name,
            **rows.facts(),
            "rows_in": rows.read,
            "rejected": rows.rejected,
            "examples": rows.examples,
            "cleaned": rows.cleaned,
            "known": part.known.name if part.known else None,
            "files": text.inputs,
            "inputs": [],
            "note": text.note,
            "spec": {"text": part.text.to_dict(), "filter": part.filter.to_dict(), "every": part.every},
        }
    )
    say(f"{part.name}: {rows.summary()}")


def _rows(part: Part, text: Text) -> Rows:
    spec = part.text
    if isinstance(spec, NliText) and spec.subset:
        return NliRows(part, text, choose(part, text, spec.subset, spec.subset_seed))
    return _kind(part)(part, text)


def _pairs(block: pa.Table) -> pa.Array:
    return joined(*block.columns).combine_chunks()
