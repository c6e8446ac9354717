"""Word alignment of parallel text by expectation maximisation, shard by shard.

In each iteration, the executor computes the expected counts of the shards, and this process sums
and normalises them. The result depends neither on the executor nor, but for rounding, on the
division into shards.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from augury.core.errors import UserError
from augury.core.executors import Executor, LocalExecutor, Row, Task
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.core.words import words
from augury.corpora.corpus import SHARD_ROWS, read_shard, write_shard
from augury.text.alignment.bitext import Bitext, Indices, Lexicon, encode
from augury.text.alignment.hmm import Hmm
from augury.text.alignment.ibm2 import FastAlign
from augury.text.alignment.model import UNSEEN, Links, Model, Table, Tables
from augury.text.alignment.symmetrise import BOTH, Direction

T = TypeVar("T")

Sentences = Sequence[Sequence[str]]
"""Sentences as lists of words."""
MODELS: Mapping[str, type[Hmm] | type[FastAlign]] = {"hmm": Hmm, "fast_align": FastAlign}
"""Alignment models by name."""
SIDES = ("source", "target")
PAIRS_PER_SECOND = 2_500
"""Speed of one core, including all iterations."""


def align(sources: Sentences, targets: Sentences, model: Model | None = None) -> Links:
    """Fit an aligner on a parallel text that fits in memory, and return its links.

    Raises UserError if no sentence pair has words on both sides.
    """
    starts = range(0, len(sources), SHARD_ROWS)
    parts = [
        (sources[start : start + SHARD_ROWS], targets[start : start + SHARD_ROWS])
        for start in starts
    ]
    with tempfile.TemporaryDirectory() as directory:
        encoded = encode_shards(
            lambda part: part, parts, Folder(directory, "align"), LocalExecutor()
        )
        links = apply(fit(encoded, LocalExecutor(), model or Hmm()), encoded, LocalExecutor())
    return {
        direction: list(chain.from_iterable(part[direction] for part in links))
        for direction in BOTH
    }


def words_of_shard(
    corpus: Folder, shard: str, split: Callable[[str], list[str]] = words
) -> tuple[Sentences, Sentences]:
    """Return the words of both sides of a shard of parallel text."""
    block = read_shard(corpus, shard, ("source", "target"))
    sources, targets = block.column("source").to_pylist(), block.column("target").to_pylist()
    return list(map(split, sources)), list(map(split, targets))


@dataclass(frozen=True)
class Aligner:
    """An alignment model with its parameters for both directions."""

    lexicon: Lexicon
    tables: Tables
    model: Model

    def links(self, sources: Sentences, targets: Sentences) -> Links:
        """Align sentence pairs, whether seen in training or not, ignoring case."""
        bitext, lexicon = encode(sources, targets)
        tables = _tables_at(self.tables, self.lexicon.indices_of(lexicon))
        return self.model.links(bitext, tables, len(sources))

    def write(self, folder: Folder) -> None:
        """Save the aligner to a folder."""
        forward, reverse = (self.tables[direction] for direction in BOTH)
        order = self.lexicon.order
        columns = {
            "sources": {"word": self.lexicon.source_words, "null": reverse.null},
            "targets": {"word": self.lexicon.target_words, "null": forward.null},
            "pairs": {
                "pair": self.lexicon.pairs[order],
                "forward": forward.pairs[order],
                "reverse": reverse.pairs[order],
            },
        }
        for name, table in columns.items():
            write_shard(folder, f"{name}.parquet", pa.table(table))
        (name,) = (name for name, model in MODELS.items() if isinstance(self.model, model))
        orders = {direction: table.order.tolist() for direction, table in self.tables.items()}
        folder.write_json(
            "aligner.json", {"aligner": name, "settings": asdict(self.model), "order": orders}
        )

    @classmethod
    def read(cls, folder: Folder) -> Aligner:
        """Load an aligner saved by `write`; raise UserError if a file cannot be read."""
        sources, targets, pairs = (
            read_shard(folder, f"{name}.parquet") for name in ("sources", "targets", "pairs")
        )
        saved = folder.read_json("aligner.json")
        both = (sources.column("word").combine_chunks(), targets.column("word").combine_chunks())
        nulls = {"forward": targets.column("null"), "reverse": sources.column("null")}
        tables: dict[Direction, Table] = {
            direction: Table(
                pairs.column(direction).to_numpy(),
                nulls[direction].to_numpy(),
                np.array(saved["order"][direction]),
            )
            for direction in BOTH
        }
        model = MODELS[saved["aligner"]](**saved["settings"])
        lexicon = Lexicon(*both, pairs.column("pair").to_numpy(), np.arange(len(pairs)))
        return cls(lexicon, tables, model)


@dataclass(frozen=True)
class Encoded:
    """A parallel text encoded as a file for each shard, and the joint lexicon."""

    scratch: Folder
    shards: tuple[str, ...]
    rows: tuple[int, ...]
    """Number of sentence pairs of each shard."""
    lexicon: Lexicon
    indices: tuple[Indices, ...]
    """Indices of each shard's lexicon in the joint one."""
    shapes: Mapping[tuple[int, int], int]
    """Number of sentence pairs by their numbers of source and target words."""


def encode_shards(
    read: Callable[[T], tuple[Sentences, Sentences]],
    items: Sequence[T],
    scratch: Folder,
    executor: Executor,
) -> Encoded:
    """Encode a parallel text into files in `scratch`, which all workers must be able to access.

    `read` returns the words of both sides of a shard, given its item. Raises UserError if no
    sentence pair has words on both sides.
    """
    shards = tuple(f"{index:05d}.npy" for index in range(len(items)))
    with Stage("read words") as stage:
        numbered = [{"place": place, "shard": shard} for place, shard in enumerate(shards)]
        encoded = executor.map(_Encode(read, tuple(items), scratch), numbered, stage)
    shapes: Counter[tuple[int, int]] = Counter()
    lexicons = []
    for row in encoded:
        shapes.update(map(tuple, np.asarray(row["lengths"]).tolist()))
        sources, targets = (pa.array(row[f"{side}_words"], pa.string()) for side in SIDES)
        pairs, order = np.asarray(row["pairs"]), np.asarray(row["order"])
        lexicons.append(Lexicon(sources, targets, pairs, order))
    if not shapes:
        raise UserError("no sentence pair has words on both sides: check the text to align")
    lexicon, indices = Lexicon.union(lexicons)
    return Encoded(scratch, shards, tuple(row["rows"] for row in encoded), lexicon, indices, shapes)


def fit(encoded: Encoded, executor: Executor, model: Model) -> Aligner:
    """Train a model on an encoded text.

    Memory use depends on the number of word pairs, not of sentences.
    """
    tables = model.start(encoded.lexicon)
    with Stage("fit aligner", sum(encoded.rows) * model.iterations, "pairs") as stage:
        for iteration in range(model.iterations):
            counts = expectations(encoded, tables, model, executor, stage)
            tables = model.maximise(counts, tables, encoded.lexicon, encoded.shapes, iteration)
    return Aligner(encoded.lexicon, tables, model)


def expectations(
    encoded: Encoded, tables: Tables, model: Model, executor: Executor, stage: Stage
) -> Tables:
    """Return the expected counts under given parameters, summed over shards."""
    counts = executor.map(_Expect(encoded.scratch, model), _rows(encoded, tables), stage)
    of_shards = list(map(_tables_of, counts))
    totals = {}
    for direction, table in tables.items():
        total = Table(
            np.zeros(len(table.pairs)), np.zeros(len(table.null)), np.zeros(len(table.order))
        )
        for indices, shard in zip(encoded.indices, of_shards, strict=True):
            total.pairs[indices.pairs] += shard[direction].pairs
            total.null[indices.generated(direction)] += shard[direction].null
            total.order[:] += shard[direction].order
        totals[direction] = total
    return totals


def apply(aligner: Aligner, encoded: Encoded, executor: Executor) -> list[Links]:
    """Return the links of each shard of the text that the aligner was fitted on."""
    with Stage("align", sum(encoded.rows), "pairs") as stage:
        task = _Apply(encoded.scratch, aligner.model)
        results = executor.map(task, _rows(encoded, aligner.tables), stage)
    links: list[Links] = []
    for result in results:
        of_shard: Links = {}
        for direction in BOTH:
            pairs = list(map(tuple, np.asarray(result[f"{direction}_links"]).tolist()))
            ends = np.cumsum(result[f"{direction}_counts"]).tolist()
            bounds = pairwise([0, *ends])
            of_shard[direction] = [pairs[start:end] for start, end in bounds]
        links.append(of_shard)
    return links


def _rows(encoded: Encoded, tables: Tables) -> list[Row]:
    """Return the rows of shards: file, number of sentence pairs and tables for its lexicon."""
    shards = zip(encoded.shards, encoded.rows, encoded.indices, strict=True)
    return [
        {"shard": shard, "pairs": pairs, **_columns(_tables_at(tables, indices))}
        for shard, pairs, indices in shards
    ]


def _columns(tables: Tables) -> dict[str, np.ndarray]:
    """Return the arrays of tables as columns of a row, `forward_null` for example."""
    columns = {}
    for direction, table in tables.items():
        for name, array in table._asdict().items():
            columns[f"{direction}_{name}"] = array
    return columns


def _tables_of(row: Row) -> dict[Direction, Table]:
    """Return the tables whose arrays are columns of a row."""
    tables: dict[Direction, Table] = {}
    for direction in BOTH:
        tables[direction] = Table(
            *(np.asarray(row[f"{direction}_{name}"]) for name in Table._fields)
        )
    return tables


def _tables_at(tables: Tables, indices: Indices) -> dict[Direction, Table]:
    """Return the tables restricted to the words and pairs at the given indices, with `UNSEEN`
    for index -1.

    In single precision: all else is memory, and sums of counts are in double precision.
    """

    def take(probabilities: np.ndarray, indices: np.ndarray) -> np.ndarray:
        taken = np.full(len(indices), UNSEEN, np.float32)
        if len(probabilities):
            probabilities.astype(np.float32).take(indices, out=taken, mode="clip")
            taken[indices < 0] = UNSEEN
        return taken

    return {
        direction: Table(
            take(table.pairs, indices.pairs),
            take(table.null, indices.generated(direction)),
            table.order,
        )
        for direction, table in tables.items()
    }


@dataclass(frozen=True)
class _Encode(Generic[T]):
    """Creates the task that encodes a shard and returns its number of sentence pairs, their
    lengths and its lexicon."""

    read: Callable[[T], tuple[Sentences, Sentences]]
    items: tuple[T, ...]
    scratch: Folder

    def __call__(self) -> Task:
        def task(row: Row) -> Row:
            sources, targets = self.read(self.items[row["place"]])
            bitext, lexicon = encode(sources, targets)
            bitext.write(self.scratch, row["shard"])
            return {
                "rows": len(sources),
                "lengths": bitext.lengths,
                "source_words": lexicon.source_words.to_pylist(),
                "target_words": lexicon.target_words.to_pylist(),
                "pairs": lexicon.pairs,
                "order": lexicon.order,
            }

        return task


@dataclass(frozen=True)
class _Expect:
    """Creates the task that returns the number of sentence pairs of a shard and its expected
    counts."""

    scratch: Folder
    model: Model

    def __call__(self) -> Task:
        def task(row: Row) -> Row:
            bitext = Bitext.read(self.scratch, row["shard"])
            counts = self.model.expect(bitext, _tables_of(row))
            return {"rows": row["pairs"], **_columns(counts)}

        return task


@dataclass(frozen=True)
class _Apply:
    """Creates the task that returns the links of a shard, and how many each sentence pair has."""

    scratch: Folder
    model: Model

    def __call__(self) -> Task:
        def task(row: Row) -> Row:
            bitext = Bitext.read(self.scratch, row["shard"])
            result: dict[str, Any] = {"rows": row["pairs"]}
            links = self.model.links(bitext, _tables_of(row), row["pairs"])
            for direction, of_pairs in links.items():
                flat = list(chain.from_iterable(of_pairs))
                result[f"{direction}_links"] = np.array(flat, np.int32).reshape(-1, 2)
                result[f"{direction}_counts"] = np.array(list(map(len, of_pairs)), np.int64)
            return result

        return task
