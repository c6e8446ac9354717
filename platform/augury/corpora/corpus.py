"""A corpus in the store: Parquet shards of records, a manifest and a completion marker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from augury.core.errors import UserError
from augury.core.store import Folder, Store

KIND = "corpora"
SCHEMA_VERSION = 1
SHARD_ROWS = 20_000

VIEW = pa.struct([("name", pa.string()), ("text", pa.string())])
LINEAGE = pa.struct([("parents", pa.list_(pa.string())), ("operator", pa.string()), ("copy", pa.int32())])
PARALLEL = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("source_language", pa.string()),
        ("target_language", pa.string()),
        ("origin", pa.string()),
        ("views", pa.list_(VIEW)),
        ("lineage", LINEAGE),
    ]
)
Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)
NLI_VIEW = pa.struct([("name", pa.string()), ("premise", pa.string()), ("hypothesis", pa.string())])
NLI = pa.schema(
    [
        ("id", pa.string()),
        ("premise", pa.string()),
        ("hypothesis", pa.string()),
        ("label", pa.string()),
        ("language", pa.string()),
        ("origin", pa.string()),
        ("views", pa.list_(NLI_VIEW)),
        ("lineage", LINEAGE),
    ]
)


LABELLED = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("label", pa.string()),
        ("language", pa.string()),
        ("origin", pa.string()),
        ("views", pa.list_(VIEW)),
        ("lineage", LINEAGE),
    ]
)
MONOLINGUAL = pa.schema([field for field in LABELLED if field.name != "label"])
SCHEMAS = {"parallel": PARALLEL, "nli": NLI, "labelled": LABELLED, "monolingual": MONOLINGUAL}
"""By the kind of corpus."""


class Columns(NamedTuple):
    """The columns of what a system reads and of its language, of what is expected of it and of the language of that."""

    read: tuple[str, ...]
    language: str
    expected: str
    expected_language: str


COLUMNS = {
    "parallel": Columns(("source",), "source_language", "target", "target_language"),
    "nli": Columns(("premise", "hypothesis"), "language", "label", "language"),
    "labelled": Columns(("text",), "language", "label", "language"),
}
"""By the kind of corpus."""


def texts_read(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of records that a system reads: those that augmentation may rewrite."""
    return next((read for read in READ if set(read) <= set(columns)), ())


READ = (("premise", "hypothesis"), ("source",), ("text",))
SIDES: Mapping[str, tuple[str, ...]] = {
    "parallel": ("source", "target"),
    "nli": ("premise", "hypothesis"),
    "labelled": ("text",),
    "monolingual": ("text",),
}
"""The sentences of a record, by the kind of corpus."""
ROWS: Mapping[str, str] = {"parallel": "pairs", "nli": "examples", "labelled": "sentences", "monolingual": "sentences"}
"""What people call the records, by the kind of corpus."""
REPEATED = ["source_language", "target_language", "label", "language", "origin"]
"""The columns that a Parquet dictionary makes smaller."""


@dataclass(frozen=True)
class Corpus:
    """A finished corpus; raises UserError where the folder has no completion marker."""

    folder: Folder

    @classmethod
    def load(cls, store: Store, address: str) -> Corpus:
        """Return the corpus at `address`; raise UserError where it was never finished."""
        corpus = cls(store.folder(KIND, address))
        if not corpus.folder.complete:
            raise UserError(
                f"no finished corpus at {corpus.folder.uri}: make it with `augury augment` or `augury train`"
            )
        return corpus

    @property
    def manifest(self) -> dict[str, Any]:
        """Schema version, counts, rejected rows by reason, addresses of inputs, side data such as an alphabet."""
        return self.folder.manifest()

    @property
    def address(self) -> str:
        """The name of the corpus."""
        return self.folder.name.rpartition("/")[2]

    @property
    def kind(self) -> str:
        """The kind of its records: `parallel`, `nli`, `labelled` or `monolingual`."""
        return str(self.manifest.get("kind", "parallel"))

    @property
    def noun(self) -> str:
        """What people call its records: pairs, examples or sentences."""
        return ROWS[self.kind]

    @property
    def columns(self) -> list[str]:
        """The columns of a record."""
        return list(SCHEMAS[self.kind].names)

    @property
    def rows(self) -> int:
        """The number of records."""
        return int(self.manifest["rows"])

    @property
    def shards(self) -> list[str]:
        """The names of the shards, in the order of the records."""
        return list(self.manifest["shards"])

    def shard(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of one shard; raise UserError, which names the file, if it cannot be read."""
        return read_shard(self.folder, name, columns)

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the records, shard by shard."""
        return (self.shard(name, columns) for name in self.shards)

    def column(self, name: str) -> list[str]:
        """Return a whole column as Python strings; for sets that fit in memory."""
        return [text for block in self.blocks([name]) for text in block.column(name).to_pylist()]


def shard_name(index: int) -> str:
    """Return the file name of shard `index`."""
    return f"part-{index:05d}.parquet"


def read_shard(folder: Folder, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet shard; raise UserError, which names the file, if it is missing or damaged."""
    try:
        with folder.filesystem.open_input_file(folder.path(name)) as file:
            return pq.read_table(file, columns=list(columns) if columns else None)
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(
            f"shard {folder.uri}/{name} cannot be read ({error}): remove the folder and make it again"
        ) from error


def write_shard(folder: Folder, name: str, table: pa.Table) -> None:
    """Write a Parquet shard; it appears whole and its bytes depend on the table alone."""
    with folder.writing(name) as stream:
        pq.write_table(
            table, stream, compression="lz4", row_group_size=SHARD_ROWS, use_dictionary=REPEATED, store_schema=True
        )


class CorpusWriter:
    """Cuts tables into shards of `SHARD_ROWS` records as they come; memory holds one shard at most."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.names: list[str] = []
        self.rows = 0
        self._waiting: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        """Append records."""
        self._waiting.append(table)
        while sum(len(part) for part in self._waiting) >= SHARD_ROWS:
            joined = pa.concat_tables(self._waiting)
            self._write(joined.slice(0, SHARD_ROWS))
            self._waiting = [joined.slice(SHARD_ROWS)]

    def finish(self, manifest: dict[str, Any]) -> Corpus:
        """Write what is left, the manifest and the marker."""
        remainder = pa.concat_tables(self._waiting) if self._waiting else None
        if remainder is not None and len(remainder):
            self._write(remainder)
        counts = {"schema": SCHEMA_VERSION, "rows": self.rows, "shards": self.names}
        self.folder.finish({**counts, **manifest})
        return Corpus(self.folder)

    def _write(self, table: pa.Table) -> None:
        name = shard_name(len(self.names))
        write_shard(self.folder, name, table.combine_chunks())
        self.names.append(name)
        self.rows += len(table)
