"""Ingestion of text into the store: validation, cleaning, filtering and numbering of records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.messages import say, say_once
from augury.core.paths import absolute
from augury.core.progress import ProgressLine
from augury.core.store import Folder, Store
from augury.corpora.corpus import CORPORA, PARALLEL, SCHEMA_VERSION, TEXTS, Corpus, CorpusWriter
from augury.corpora.files import find, open_bytes
from augury.corpora.filters import join_sides
from augury.corpora.known import ENVIRONMENT, data_directory
from augury.corpora.languages import SEVERAL
from augury.corpora.readers import TextSource, open_text
from augury.corpora.records import CODE, RecordBuilder, choose
from augury.corpora.spec import BaseSpec, ResolvedSplit, text_key


def ingest(spec: BaseSpec, split: str, store: Store) -> Corpus:
    """Return the corpus of a split, created unless the store has it.

    Its address depends on content, not file names.

    Text is cleaned (`filters.clean`) and filtered (`Cleaning`); the manifest counts rejected rows
    by reason. Unless the text has ids, they are `<split>-<input row, 8 digits>`, which do not
    depend on filters. Raises UserError for unusable text, without leaving a partial corpus.
    """
    if split == "train" and (mixture := spec.mixture):
        return _mix({name: ingest(text, split, store) for name, text in mixture.items()}, store)
    resolved = spec.resolve(split)
    text = open_text(resolved.text, resolved.role, resolved.languages)
    folder = store.folder(CORPORA, _address(resolved, text))
    corpus = Corpus(folder)
    if not make_once(folder, lambda: _make(folder, resolved, text)):
        say_once(f"{split}: {corpus.rows:,} {corpus.kind.noun}, reused {corpus.address}")
    if text.note:
        say_once(text.note)
    return corpus


@cache
def cached_corpus(spec: BaseSpec, split: str, root: str) -> Corpus:
    """Return the corpus of a split as `ingest` does, cached for the process.

    Raises UserError, before any text is read, if a file of any split cannot be opened.
    """
    _check_files(spec)
    return ingest(spec, split, Store(root))


@cache
def cached_address(spec: BaseSpec, split: str) -> str:
    """Return the address of the corpus that `ingest` would create, cached for the process; reads
    the files.

    Raises UserError as `cached_corpus` does.
    """
    _check_files(spec)
    if split == "train" and (mixture := spec.mixture):
        return _mixture_address(
            {name: cached_address(text, split) for name, text in mixture.items()}
        )
    resolved = spec.resolve(split)
    return _address(resolved, open_text(resolved.text, resolved.role, resolved.languages))


@cache
def _check_files(spec: BaseSpec) -> None:
    """Raise UserError, with all that cannot be opened, unless the files of all splits can."""
    missing: dict[str, str] = {}  # file or known set -> why, each once
    for split in spec.splits():
        for part in [*spec.mixture.values()] if split == "train" and spec.mixture else [spec]:
            try:
                files = part.resolve(split).text.files()
            except UserError as error:  # says which files of a known set are missing
                missing.setdefault(str(part.known), f"text {split}: {error}")
                continue
            for file in files:
                try:
                    _check_opens(file)
                except UserError as error:
                    missing.setdefault(file, f"text {split} (corpus.{text_key(split)}): {error}")
    public = f"{absolute(data_directory())}/"
    if ENVIRONMENT not in os.environ and any(file.startswith(public) for file in missing):
        missing[public] = (
            f"{ENVIRONMENT} is not set, so that public texts are looked for in {public}: set it to "
            "their directory"
        )
    if missing:
        raise UserError("\n".join(missing.values()))


def _check_opens(file: str) -> None:
    path = find(file)
    if not path.is_dir():
        with open_bytes(path, is_text=False):
            pass


def overlaps(train: Corpus, others: Sequence[Corpus]) -> list[int]:
    """Count the records of each of `others` that are also in `train`, which is read once; the
    others must fit in memory."""
    if not others:
        return []
    sides = train.kind.sentences
    pairs = pa.chunked_array(_pairs(block) for other in others for block in other.blocks(sides))
    leaked = np.zeros(len(pairs), bool)
    for block in train.blocks(sides):
        leaked |= pc.is_in(pairs, value_set=_pairs(block)).to_numpy()
    ends = np.cumsum([other.rows for other in others])
    return [int(part.sum()) for part in np.split(leaked, ends[:-1])]


def overlap_warnings(train: Corpus, held_out: Sequence[tuple[str, Corpus]]) -> list[str]:
    """Return a warning for each held-out corpus that shares records with the training set."""
    counts = overlaps(train, [corpus for _, corpus in held_out])
    named = zip(counts, held_out, strict=True)
    return [overlap_warning(count, *other, "training") for count, other in named if count]


def overlap_warning(count: int, name: str, corpus: Corpus, other: str) -> str:
    """Return how many records of a corpus are in another set, in words."""
    verb = "is" if count == 1 else "are"
    whole = f"{corpus.rows:,} {corpus.kind.noun} of '{name}'"
    return f"{count:,} of the {whole} {verb} in the {other} set too"


def _address(split: ResolvedSplit, text: TextSource) -> str:
    # Lengths, ratio and duplicates only filter training rows, and must not change the addresses of
    # other splits.
    used = None if split.role == "train" else {"lowercase", "unescape"}
    return address(
        {
            "kind": "ingest" if split.kind is PARALLEL else f"ingest {split.kind.name}",
            "schema": SCHEMA_VERSION,
            "code": CODE,
            "split": split.name,
            "languages": split.languages,
            "every": split.every,
            "text": split.text.settings(),
            "content": text.content,
            "filter": split.filter.model_dump(mode="json", include=used),
        }
    )


def _make(folder: Folder, split: ResolvedSplit, text: TextSource) -> None:
    writer = CorpusWriter(folder)
    try:
        size = split.text.subset
        builder = RecordBuilder(split, text, choose(split, text, size) if size else None)
        # Rows that are not of the text are read, and do not count among the first.
        some = split.text.where or split.text.missing or split.text.portion
        rows = text.total if some else min(text.total, text.first or text.total)
        with ProgressLine(f"read {split.name}", rows, split.kind.noun) as progress:
            for records in builder.records(progress):
                writer.add(records)
    except UserError:
        folder.remove()
        raise
    writer.finish(
        {
            "kind": split.kind.name,
            "split": split.name,
            **builder.manifest(),
            "known": split.known.name if split.known else None,
            "files": text.inputs,
            "inputs": [],
            "note": text.note,
            "spec": {
                "text": split.text.to_dict(),
                "filter": split.filter.to_dict(),
                "every": split.every,
            },
        }
    )
    say(f"{split.name}: {builder.summary()}")


def _pairs(block: pa.Table) -> pa.Array:
    return join_sides(*block.columns).combine_chunks()


def _mixture_address(addresses: Mapping[str, str]) -> str:
    texts = [list(text) for text in addresses.items()]
    return address({"kind": "mixture", "version": 1, "texts": texts})


def _mix(corpora: Mapping[str, Corpus], store: Store) -> Corpus:
    """Return the concatenation of corpora by name, created unless the store has it.

    The name of a corpus is the `origin` of its records and the prefix of their ids.
    """
    parts = {name: corpus.address for name, corpus in corpora.items()}
    folder = store.folder(CORPORA, _mixture_address(parts))

    def make() -> None:
        writer = CorpusWriter(folder)
        for name, corpus in corpora.items():
            for block in corpus.blocks():
                columns = dict(zip(block.column_names, block.columns, strict=True))
                columns["id"] = pc.binary_join_element_wise(name, block.column("id"), "-")
                columns["origin"] = pa.repeat(name, len(block))
                writer.add(pa.table(columns, schema=block.schema))
        manifests = [corpus.manifest for corpus in corpora.values()]
        shared = ("kind", "split", "source_language", "target_language", "language")
        entries = {key: manifests[0][key] for key in shared if key in manifests[0]}
        if len({manifest.get("language") for manifest in manifests}) > 1:
            entries["language"] = SEVERAL
        rejected: Counter[str] = sum((Counter(part["rejected"]) for part in manifests), Counter())
        writer.finish(
            {
                **entries,
                "rows_in": sum(part["rows_in"] for part in manifests),
                "rejected": dict(rejected),
                TEXTS: [
                    {"name": name, "rows": corpus.rows, "address": corpus.address}
                    for name, corpus in corpora.items()
                ],
                "inputs": [*parts.values()],
                "note": next((part["note"] for part in manifests if part["note"]), None),
            }
        )
        counts = ", ".join(f"{corpus.rows:,} of {name}" for name, corpus in corpora.items())
        say(f"train: {writer.rows:,} {Corpus(folder).kind.noun}, {counts}")

    make_once(folder, make)
    return Corpus(folder)
