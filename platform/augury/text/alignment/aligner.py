"""Word alignment of parallel text: fitting by expectation maximisation, shard by shard, and links
of any text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from augury.core.directories import scratch
from augury.core.errors import UserError
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.corpora.corpus import read_shard, write_shard
from augury.text.alignment.bitext import (
    BOTH,
    Bitext,
    Direction,
    Lexicon,
    Sentences,
    distinct_words,
    encode,
)
from augury.text.alignment.hmm import UNSEEN, Hmm, Links, Table, Tables

Shards = Callable[[], Iterable[tuple[Sentences, Sentences]]]
"""Returns the words of both sides of a text, part by part; called twice."""


@dataclass(frozen=True)
class Aligner:
    """An alignment model with its parameters for both directions."""

    lexicon: Lexicon
    tables: Tables
    model: Hmm

    def links(self, sources: Sentences, targets: Sentences) -> Links:
        """Align sentence pairs, whether seen in training or not, ignoring case."""
        lexicon = self.lexicon
        bitext = encode(sources, targets, lexicon.source_words, lexicon.target_words)
        known = replace(bitext, cells=lexicon.places(bitext.cells))
        return self.model.links(known, _looked_up(self.tables), len(sources))

    def write(self, folder: Folder) -> None:
        """Save the aligner to a folder."""
        forward, reverse = (self.tables[direction] for direction in BOTH)
        columns = {
            "sources": {"word": self.lexicon.source_words, "null": reverse.null},
            "targets": {"word": self.lexicon.target_words, "null": forward.null},
            "pairs": {
                "pair": self.lexicon.pairs,
                "forward": forward.pairs,
                "reverse": reverse.pairs,
            },
        }
        for name, table in columns.items():
            write_shard(folder, f"{name}.parquet", pa.table(table))
        orders = {direction: table.order.tolist() for direction, table in self.tables.items()}
        folder.write_json("aligner.json", {"settings": asdict(self.model), "order": orders})

    @classmethod
    def read(cls, folder: Folder) -> Aligner:
        """Load an aligner saved by `write`; Damaged where a file is not as it was written."""
        sources, targets, pairs = (
            read_shard(folder, f"{name}.parquet") for name in ("sources", "targets", "pairs")
        )
        saved = folder.read_json("aligner.json")
        nulls = {"forward": targets.column("null"), "reverse": sources.column("null")}
        tables: Tables = {
            direction: Table(
                pairs.column(direction).to_numpy(),
                nulls[direction].to_numpy(),
                np.array(saved["order"][direction]),
            )
            for direction in BOTH
        }
        lexicon = Lexicon(
            sources.column("word").combine_chunks(),
            targets.column("word").combine_chunks(),
            pairs.column("pair").to_numpy(),
        )
        return cls(lexicon, tables, Hmm(**saved["settings"]))


def fit(shards: Shards, rows: int, model: Hmm | None = None) -> Aligner:
    """Train a model on the parts of a text of `rows` sentence pairs.

    Memory use depends on the number of word pairs, not of sentences. Raises UserError if no
    sentence pair has words on both sides.
    """
    model = model or Hmm()
    with scratch("align") as directory:
        lexicon, files = _encode(shards, directory)
        tables = model.start(lexicon)
        with Stage("fit aligner", rows * model.iterations, "pairs") as stage:
            for iteration in range(model.iterations):
                known, counts = _looked_up(tables), dict[Direction, Table]()
                for file in files:
                    bitext = Bitext.read(file)
                    of_part = model.expect(bitext, known)
                    for direction, table in of_part.items():
                        sums = zip(counts.get(direction, (0, 0, 0)), table, strict=True)
                        counts[direction] = Table(*(total + part for total, part in sums))
                    stage.advance(len(bitext.rows))
                # What was counted of unknown words, of which training has none, is 0.
                learned = {d: Table(t.pairs[:-1], t.null[:-1], t.order) for d, t in counts.items()}
                tables = model.maximise(learned, tables, lexicon, iteration)
    return Aligner(lexicon, tables, model)


def _encode(shards: Shards, directory: Path) -> tuple[Lexicon, list[Path]]:
    """Write the parts of a text as arrays; return the lexicon of all, and the files."""
    source_words = target_words = pa.array([], pa.string())
    for sources, targets in shards():
        source_words = distinct_words(sources, source_words)
        target_words = distinct_words(targets, target_words)
    pairs, files = np.zeros(0, np.int64), list[Path]()
    for number, (sources, targets) in enumerate(shards()):
        bitext = encode(sources, targets, source_words, target_words)
        pairs = np.union1d(pairs, bitext.cells)
        files.append(directory / f"{number:05d}.npz")
        bitext.write(files[-1])
    if not len(pairs):
        raise UserError("no sentence pair has words on both sides: check the text to align")
    lexicon = Lexicon(source_words, target_words, pairs)
    for file in files:
        bitext = Bitext.read(file)
        replace(bitext, cells=lexicon.places(bitext.cells)).write(file)
    return lexicon, files


def _looked_up(tables: Tables) -> Tables:
    """Return tables with a probability of unknown pairs and words behind the last.

    In single precision: all else is memory, and sums of counts are in double precision.
    """
    return {
        direction: Table(
            np.append(table.pairs, UNSEEN).astype(np.float32),
            np.append(table.null, UNSEEN).astype(np.float32),
            table.order,
        )
        for direction, table in tables.items()
    }
