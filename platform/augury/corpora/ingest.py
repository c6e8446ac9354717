"""Ingestion of text into the store: validation, cleaning, filtering and numbering of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import accumulate, pairwise
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.machine import available_cores
from augury.core.naming import counted
from augury.core.parallel import map_ahead
from augury.core.progress import Stage, say, say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND, KINDS, PARALLEL, SCHEMA_VERSION, Corpus, CorpusWriter
from augury.corpora.files import find, open_bytes, read_sentences
from augury.corpora.filters import REASONS, clean_lines, join_sides
from augury.corpora.known import MissingSet, modified_files
from augury.corpora.mixture import mix, mixture_address
from augury.corpora.readers import TextSource, open_text
from augury.corpora.records import CODE, RecordBuilder, choose, subset_size
from augury.corpora.spec import BaseSpec, ResolvedSplit
from augury.corpora.text_settings import ParallelText

T = TypeVar("T")

REFERENCES, REFERENCES_FILE = "references", "references.json"

MAX_THREADS = 8
"""Blocks that are cleaned or read at once: with more, what is done in order takes longer."""


def ingest(spec: BaseSpec, split: str, store: Store, *, directory: str | None = None) -> Corpus:
    """Return the corpus of a split, created unless the store has it.

    Its address depends on content, not file names.

    Text is cleaned (`filters.clean`) and filtered (`Cleaning`); the manifest counts rejected rows
    by reason. Unless the text has ids, they are `<split>-<input row, 8 digits>`, which do not
    depend on filters. `directory` is the directory of known sets, by default AUGURY_DATA. Raises
    UserError for unusable text, without leaving a partial corpus.
    """
    if split == "train" and spec.mixture:
        return mix(
            {
                name: ingest(text, split, store, directory=directory)
                for name, text in spec.mixture.items()
            },
            store,
        )
    resolved = spec.resolve(split, directory)
    text = _open(resolved)
    if resolved.known:
        for path in modified_files(resolved.known, text.inputs):
            say_once(
                f"{split}: {path} differs from the published file of {resolved.known.name}: "
                "scores may not compare"
            )
    folder = store.folder(KIND, _address(resolved, text))
    corpus = Corpus(folder)
    if not make_once(folder, lambda: _make(folder, resolved, text)):
        say_once(f"{split}: {corpus.rows:,} {corpus.noun}, reused {corpus.address}")
    if text.note:
        say_once(text.note)
    return corpus


def cached_corpus(spec: BaseSpec, split: str, root: str) -> Corpus:
    """Return the corpus of a split as `ingest` does, cached for the process.

    Raises UserError, before any text is read, if a file of any split cannot be opened.
    """
    _check_files(type(spec), spec.content)
    key = type(spec), spec.content, split, root
    if key not in _corpora:
        _corpora[key] = ingest(spec, split, Store(root))
    return _corpora[key]


_corpora: dict[tuple[type[BaseSpec], str, str, str], Corpus] = {}
"""The corpora of this process, by schema and content of their settings, split and root."""


def cached_address(spec: BaseSpec, split: str) -> str:
    """Return the address of a split, cached for the process.

    Raises UserError as `cached_corpus` does.
    """
    _check_files(type(spec), spec.content)
    return _cached_address(type(spec), spec.content, split)


def corpus_address(spec: BaseSpec, split: str, *, directory: str | None = None) -> str:
    """Return the address of the corpus that `ingest` would create; reads the files."""
    if split == "train" and spec.mixture:
        return mixture_address(
            {
                name: corpus_address(text, split, directory=directory)
                for name, text in spec.mixture.items()
            }
        )
    resolved = spec.resolve(split, directory)
    return _address(resolved, _open(resolved))


def overlap(train: Corpus, other: Corpus) -> int:
    """Count the records of `other`, which must fit in memory, that are also in `train`."""
    return overlaps(train, [other])[0]


def overlaps(train: Corpus, others: Sequence[Corpus]) -> list[int]:
    """Count the records of each of `others` that are also in `train`, which is read once; the
    others must fit in memory."""
    if not others:
        return []
    sides = KINDS[train.kind].sentences
    pairs = pa.chunked_array(_pairs(block) for other in others for block in other.blocks(sides))

    def find(shard: str) -> pa.ChunkedArray:
        return pc.is_in(pairs, value_set=_pairs(train.shard(shard, sides)))

    leaked = reduce(pc.or_, map_ahead(find, train.shards, _threads()))
    starts = [0, *accumulate(other.rows for other in others)]
    parts = (leaked[start:end] for start, end in pairwise(starts))
    return [pc.sum(part).as_py() or 0 for part in parts]


def overlap_notes(train: Corpus, held_out: Iterable[tuple[str, Corpus]]) -> list[str]:
    """Return a note on each held-out corpus, by name, that shares records with the training set."""
    named = list(held_out)
    counts = overlaps(train, [corpus for _, corpus in named])
    return [
        overlap_note(count, name, corpus, "training")
        for (name, corpus), count in zip(named, counts, strict=True)
        if count
    ]


def overlap_note(count: int, name: str, corpus: Corpus, other: str) -> str:
    """Return how many records of a corpus are in another set, in words."""
    verb = "is" if count == 1 else "are"
    return (
        f"{count:,} of the {corpus.rows:,} {corpus.noun} of '{name}' {verb} in the {other} set too"
    )


def missing_texts(spec: BaseSpec) -> dict[str, str]:
    """Return why texts of a corpus cannot be read: file or known set -> error, each once."""
    missing: dict[str, str] = {}
    for split in spec.splits():
        for part in [*spec.mixture.values()] if split == "train" and spec.mixture else [spec]:
            try:
                files = part.resolve(split).text.files()
            except MissingSet as error:
                missing.setdefault(error.name, f"text {split}: {error}")
                continue
            missing |= {
                file: f"text {split} ({_key(split)}): {reason}"
                for file in files
                if file not in missing and (reason := unreadable(file))
            }
    return missing


def _key(split: str) -> str:
    """Return the setting that names the files of a split."""
    return f"corpus.{split}" if split in ("train", "valid") else f"corpus.tests.{split}"


def unreadable(file: str) -> str | None:
    """Return why a file cannot be opened; None if it can, or is a directory."""
    try:
        path = find(file)
        if not path.is_dir():
            with open_bytes(path, is_text=False):
                pass
    except UserError as error:
        return str(error)
    return None


@cache
def _check_files(schema: type[BaseSpec], spec: str) -> None:
    """Raise UserError, with all that cannot be opened, unless the files of all splits can."""
    if missing := missing_texts(schema.model_validate_json(spec)):
        raise UserError("\n".join(missing.values()))


@cache
def _cached_address(schema: type[BaseSpec], spec: str, split: str) -> str:
    return corpus_address(schema.model_validate_json(spec), split)


def _open(split: ResolvedSplit) -> TextSource:
    return open_text(split.text, split.role, split.languages)


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
        size = subset_size(split)
        subset = choose(split, text, size) if size else None
        builder = RecordBuilder(split, text, subset)
        with Stage(
            f"read {split.name}", min(text.total, text.first or text.total), split.kind.noun
        ) as stage:
            writer.add_all(_records(builder, text, stage))
        builder.check()
    except UserError:
        folder.remove()
        raise
    writer.finish(
        {
            "kind": split.kind.name,
            "split": split.name,
            **builder.manifest_entries(),
            "rows_in": builder.read,
            "rejected": _by_reason(builder.rejected),
            "examples": _by_reason(builder.examples),
            "cleaned": builder.cleaned,
            "controls": dict(sorted(builder.controls.items())),
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


def _by_reason(values: Mapping[str, T]) -> dict[str, T]:
    """Return values in the order of reasons, however the text was cut into blocks."""
    return {reason: values[reason] for reason in REASONS if reason in values}


def _records(builder: RecordBuilder, text: TextSource, stage: Stage) -> Iterator[pa.Table]:
    """Yield the records of a text, block by block; later blocks are cleaned meanwhile."""
    for cleaned in map_ahead(builder.clean, text.blocks(), _threads()):
        yield builder.add(cleaned)
        stage.advance(len(cleaned.block))


def _threads() -> int:
    return min(available_cores(), MAX_THREADS)


def _pairs(block: pa.Table) -> pa.Array:
    return join_sides(*block.columns).combine_chunks()


def stored_references(spec: BaseSpec, test: str, corpus: Corpus, store: Store) -> Folder | None:
    """Return the folder of a test set's further references, made unless the store has it; None
    without any.

    They are cleaned as the target is. UserError for a file that has not one for every record.
    """
    text = spec.resolve(test).text
    if not isinstance(text, ParallelText) or not text.references:
        return None
    sets = []
    for name in text.references:
        lines = read_sentences(name)
        if len(lines[: text.first]) != corpus.rows:
            raise UserError(
                f"{test}: {name} has {counted(len(lines), 'line')}, and the test set "
                f"{counted(corpus.rows, 'record')}: give a reference for every record"
            )
        sets.append(clean_lines(lines[: text.first], spec.preparation))
    folder = store.folder(REFERENCES, address({"references": sets}))

    def write() -> None:
        folder.write_json(REFERENCES_FILE, sets)
        folder.finish({"sets": len(sets), "rows": corpus.rows})

    make_once(folder, write)
    return folder


def read_references(folder: Folder) -> list[list[str]]:
    """Return the references in a folder, set by set."""
    sets: list[list[str]] = folder.read_json(REFERENCES_FILE)
    return sets
