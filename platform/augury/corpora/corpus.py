"""Corpora in the store: Parquet shards of records, a manifest and a completion marker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from augury.core.errors import UserError
from augury.core.integrity import Checksum
from augury.core.store import Folder, Store

CORPORA = "corpora"
TEXTS = "texts"
"""Key of the list of texts in the manifest of several training texts."""
SCHEMA_VERSION = 1
SHARD_ROWS = 20_000

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)
NO_GOLD = "-"  # in SNLI and MultiNLI, if annotators disagreed


@dataclass(frozen=True)
class Kind:
    """A kind of corpus: what a row of its texts has, and the columns of its records."""

    name: str
    """Its name in manifests."""
    noun: str
    """The plural noun for records in messages."""
    sentences: tuple[str, ...]
    """Columns with sentences, which are cleaned and filtered."""
    inputs: tuple[str, ...]
    """Those that a system reads, which augmentation may rewrite."""
    target: str = ""
    """The column with the expected output: one of sentences, or `label`; empty for text alone."""
    languages: tuple[str, ...] = ("language",)
    """The columns with the language of the inputs and, if it is another one, of the expected
    output."""
    aliases: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    """The names of labels in texts, with the label that each means, None for no label; a text may
    have no others. Without aliases every name is a label."""
    lines: tuple[str, ...] = ()
    """The settings of files with a sentence per line, one for each of sentences."""
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Settings of the filter that have other defaults."""

    @property
    def is_labelled(self) -> bool:
        """Whether the expected output is a label."""
        return self.target not in ("", *self.sentences)

    @property
    def labels(self) -> list[str]:
        """The labels that names of labels mean, in their order."""
        return list(dict.fromkeys(label for label in self.aliases.values() if label))

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that are read from every text."""
        return (*self.sentences, self.target) if self.is_labelled else self.sentences

    @property
    def language(self) -> str:
        """The column with the language of the inputs."""
        return self.languages[0]

    @property
    def target_language(self) -> str:
        """The column with the language of the expected output."""
        return self.languages[-1]

    @property
    def columns(self) -> list[str]:
        """The columns of records, with those of views of the inputs and of the lineage."""
        return ["id", *self.read, *self.languages, "origin", "views", "lineage"]

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of records: views have the inputs, or `text` where there is one."""
        string = pa.string()
        texts = self.inputs if len(self.inputs) > 1 else ("text",)
        view = pa.struct([(name, string) for name in ("name", *texts)])
        lineage = pa.struct(
            [("parents", pa.list_(string)), ("operator", string), ("copy", pa.int32())]
        )
        strings = [(name, string) for name in self.columns[:-2]]
        return pa.schema([*strings, ("views", pa.list_(view)), ("lineage", lineage)])


PARALLEL = Kind(
    "parallel",
    noun="pairs",
    sentences=("source", "target"),
    inputs=("source",),
    target="target",
    languages=("source_language", "target_language"),
    lines=("source", "target"),
    limits={"max_length": 175, "max_ratio": 9},  # the ratio of Moses' clean-corpus-n
)
NLI = Kind(
    "nli",
    noun="examples",
    sentences=("premise", "hypothesis"),
    inputs=("premise", "hypothesis"),
    target="label",
    aliases={
        **{label: label for label in LABELS},
        **{label[0]: label for label in LABELS},
        "contradictory": "contradiction",  # XNLI's machine translations of MultiNLI
        NO_GOLD: None,
    },
)
LABELLED = Kind("labelled", noun="sentences", sentences=("text",), inputs=("text",), target="label")
LABELLED_PAIRS = Kind(
    "labelled pairs",
    noun="pairs",
    sentences=("sentence1", "sentence2"),
    inputs=("sentence1", "sentence2"),
    target="label",
)
MONOLINGUAL = Kind(
    "monolingual", noun="sentences", sentences=("text",), inputs=("text",), lines=("lines",)
)
KINDS = {kind.name: kind for kind in (PARALLEL, NLI, LABELLED, LABELLED_PAIRS, MONOLINGUAL)}
"""The kinds of corpora by name; add one from outside here to read its corpora from a store."""


def input_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return those of the columns that have the inputs of a system."""
    inputs = (kind.inputs for kind in KINDS.values())
    return next((names for names in inputs if set(names) <= set(columns)), ())


def sentence_columns(columns: Sequence[str]) -> list[str]:
    """Return those of the columns that hold sentences in any kind of corpus."""
    names = dict.fromkeys(name for kind in KINDS.values() for name in kind.sentences)
    return [name for name in names if name in columns]


REPEATED = ["source_language", "target_language", "label", "language", "origin"]
"""Columns to store with Parquet's dictionary encoding."""


@dataclass(frozen=True)
class Corpus:
    """A complete corpus; reading it raises UserError if the folder has no completion marker."""

    folder: Folder

    @classmethod
    def load(cls, store: Store, address: str) -> Corpus:
        """Return the corpus at `address`, whether it is complete or not."""
        return cls(store.folder(CORPORA, address))

    @property
    def manifest(self) -> dict[str, Any]:
        """Schema version, counts, rejected rows by reason, addresses of inputs, and data such as
        an alphabet."""
        return self.folder.manifest()

    @property
    def address(self) -> str:
        """The address of the corpus."""
        return self.folder.name.rpartition("/")[2]

    @property
    def kind(self) -> Kind:
        """The kind of corpus."""
        return KINDS[self.manifest.get("kind", PARALLEL.name)]

    @property
    def rows(self) -> int:
        """The number of records."""
        return int(self.manifest["rows"])

    @property
    def shards(self) -> list[str]:
        """The file names of the shards, in the order of records."""
        return list(self.manifest["shards"])

    def shard(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of a shard; raise UserError if it cannot be read."""
        return read_shard(self.folder, name, columns)

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the records shard by shard."""
        return (self.shard(name, columns) for name in self.shards)

    def column(self, name: str) -> list[str]:
        """Return a whole column as Python strings; it must fit in memory."""
        return [text for block in self.blocks([name]) for text in block.column(name).to_pylist()]


class RowRange(NamedTuple):
    """The rows of a text in a training corpus."""

    name: str
    start: int
    end: int


def row_ranges(corpus: Corpus) -> list[RowRange]:
    """Return the rows of each text of a training corpus, in order; a single text is `train`."""
    ranges, end = [], 0
    for text in corpus.manifest.get(TEXTS, [{"name": "train", "rows": corpus.rows}]):
        ranges.append(RowRange(text["name"], end, end + text["rows"]))
        end = ranges[-1].end
    return ranges


def shard_name(index: int) -> str:
    """Return the file name of shard `index`."""
    return f"part-{index:05d}.parquet"


def read_shard(folder: Folder, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet shard; raise UserError if it is missing or damaged, or Damaged, which is one,
    where its folder is finished."""
    try:
        # In Arrow's memory: a thread of it that frees Python's while the interpreter ends aborts
        # the process (apache/arrow#34314).
        stream = pa.BufferOutputStream()
        stream.write(folder.read(name))
        # Not `pq.read_table`, which imports pandas.
        with pq.ParquetFile(pa.BufferReader(stream.getvalue())) as shard:
            return shard.read(columns=list(columns) if columns else None)
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(
            f"shard {folder.location(name)} cannot be read ({error}): remove the folder and create "
            "it again"
        ) from error


def write_shard(folder: Folder, name: str, table: pa.Table) -> Checksum:
    """Write a Parquet shard atomically, and return its checksum; its bytes depend on the table
    only."""
    buffer = pa.BufferOutputStream()
    pq.write_table(
        table, buffer, compression="lz4", row_group_size=SHARD_ROWS, use_dictionary=REPEATED
    )
    return folder.write(name, buffer.getvalue())


def shard_metadata(folder: Folder, name: str) -> pq.FileMetaData:
    """Return the metadata of a shard, without reading its rows."""
    with folder.filesystem.open_input_file(folder.path(name)) as file:
        return pq.read_metadata(file)


class CorpusWriter:
    """Writes tables as shards of `SHARD_ROWS` records, with a few shards in memory."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.names: list[str] = []
        self.rows = 0
        self._buffer: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        """Append records."""
        self._buffer.append(table)
        while sum(len(part) for part in self._buffer) >= SHARD_ROWS:
            joined = pa.concat_tables(self._buffer)
            self._write(joined.slice(0, SHARD_ROWS))
            self._buffer = [joined.slice(SHARD_ROWS)]

    def finish(self, manifest: dict[str, Any]) -> Corpus:
        """Write the last shard, and the manifest."""
        if any(map(len, self._buffer)):
            self._write(pa.concat_tables(self._buffer))
        counts = {"rows": self.rows, "shards": self.names}
        self.folder.finish({**counts, **manifest}, files=self.names)
        return Corpus(self.folder)

    def _write(self, table: pa.Table) -> None:
        name = shard_name(len(self.names))
        write_shard(self.folder, name, table.combine_chunks())
        self.names.append(name)
        self.rows += len(table)
