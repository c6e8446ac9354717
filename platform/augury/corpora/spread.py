"""Reading of a large text by tasks on Ray: the same shards and manifest as in one process.

The text is cut into parts of whole blocks. Rows that repeat earlier ones are found by hash: every
part sends the hashes of its rows to one of several partitions each, a partition marks what repeats
an earlier hash in the order of the text, and the parts are then numbered and written. The driver
holds counts; cleaned text and hashes are Ray's objects, which it keeps where they were made, and
moves to disk where memory ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from augury.core.errors import UserError
from augury.core.integrity import Checksum
from augury.core.machine import in_this_directory
from augury.core.progress import Stage
from augury.core.ray_connection import connect
from augury.core.store import Folder
from augury.corpora.corpus import SHARD_ROWS, shard_name, write_shard
from augury.corpora.duplicates import Duplicates
from augury.corpora.readers import Part, TextSource
from augury.corpora.records import Cleaned, RecordBuilder

MAX_PARTITIONS = 64
PARTS_OF_A_PARTITION = 8
"""Parts for which a further partition pays."""

T = TypeVar("T")


class Absent(UserError):
    """A text is not where a task looks for it: it lies on the driver's disk alone."""


@dataclass
class Written:
    """What tasks have written."""

    rows: int = 0
    checksums: dict[str, Checksum] = field(default_factory=dict)
    """By shard, in the order of rows."""


class _Survey(NamedTuple):
    """What is known of a part before its repeated rows are."""

    rows: int
    passed: int


class _Piece(NamedTuple):
    """Rows of a part, by their numbers in it, that belong to a shard."""

    shard: int
    start: int
    end: int
    whole: bool
    """Whether these are all rows of a full shard."""


def read_on_ray(
    builder: RecordBuilder, text: TextSource, folder: Folder, stage: Stage, address: str | None
) -> Written:
    """Read the parts of a text on Ray, write the shards, and count in `builder` as `add` does.

    UserError as in one process; Absent where a task does not find the text.
    """
    connect(address)
    import ray

    assert text.parts is not None
    parts, reader = text.parts(), ray.put((builder, text))
    partitions = min(MAX_PARTITIONS, 1 + len(parts) // PARTS_OF_A_PARTITION)
    survey = ray.remote(in_this_directory(_survey)).options(num_returns=2 + partitions)
    surveyed = [survey.remote(reader, part, partitions) for part in parts]
    facts = _collect([refs[0] for refs in surveyed], lambda fact: stage.advance(fact.rows // 2))

    mark = ray.remote(_mark).options(num_returns=1 + len(parts))
    marked = [mark.remote(*(refs[2 + place] for refs in surveyed)) for place in range(partitions)]
    repeated = np.sum(_collect([refs[0] for refs in marked]), axis=0)
    passed = [fact.passed - int(again) for fact, again in zip(facts, repeated, strict=True)]
    before = [0, *accumulate(passed)]
    kept = [builder.kept_of(start, count) for start, count in zip(before, passed, strict=False)]
    pieces = _pieces(kept)

    write = ray.remote(in_this_directory(_write)).options(num_returns=3)
    written = [
        write.remote(reader, folder, refs[1], start, own, *(masks[1 + place] for masks in marked))
        for place, (refs, start, own) in enumerate(zip(surveyed, before, pieces, strict=False))
    ]
    joined = _join_ends(folder, pieces, written)
    checksums: dict[str, Checksum] = {}

    def count(result: tuple[RecordBuilder, dict[str, Checksum]]) -> None:
        part, sums = result
        builder.merge(part)
        checksums.update(sums)
        stage.advance(part.read - part.read // 2)

    _collect([refs[0] for refs in written], count)
    for sums in _collect(joined):
        checksums.update(sums)
    return Written(sum(kept), dict(sorted(checksums.items())))


def _collect(references: Sequence[Any], use: Callable[[Any], object] | None = None) -> list[Any]:
    """Return results in order, as soon as all are there; UserError of the first that has one."""
    import ray

    results = []
    for reference in references:
        result = ray.get(reference)
        if isinstance(result, UserError):
            raise result
        if use:
            use(result)
        results.append(result)
    return results


def _survey(reader: tuple[RecordBuilder, TextSource], part: Part, partitions: int) -> list[Any]:
    """Clean a part; return its facts, its cleaned blocks and, for every partition, its hashes."""
    builder, text = reader
    try:
        if not part.found():
            raise Absent(f"{part.files[0]} is not on every node")
        cleaned = [builder.clean(block) for block in text.blocks_of(part)]
    except UserError as error:  # raised, it would arrive wrapped in the remote traceback
        return [error, [], *[np.empty(0, np.uint64)] * partitions]
    passed = sum(int((block.codes == 0).sum()) for block in cleaned)
    hashes = _hashes(cleaned)
    own = [hashes[hashes % partitions == place] for place in range(partitions)]
    return [_Survey(sum(len(block.block) for block in cleaned), passed), cleaned, *own]


def _hashes(cleaned: Sequence[Cleaned]) -> np.ndarray:
    hashes = [block.hashes for block in cleaned if block.hashes is not None]
    return np.concatenate(hashes) if hashes else np.empty(0, np.uint64)


def _mark(*parts: np.ndarray) -> list[np.ndarray]:
    """Return the numbers of repeated rows of every part, and then the mask of these rows."""
    duplicates = Duplicates()
    masks = [duplicates.repeated_hashes(hashes) for hashes in parts]
    return [np.array([int(mask.sum()) for mask in masks]), *masks]


class _Known(Duplicates):
    """Says of rows in the order of a part what the partitions have found out."""

    def __init__(self, hashes: np.ndarray, masks: Sequence[np.ndarray]):
        super().__init__()
        self.mask, self.read = np.zeros(len(hashes), bool), 0
        for place, mask in enumerate(masks):
            self.mask[hashes % len(masks) == place] = mask

    def repeated_hashes(self, hashes: np.ndarray) -> np.ndarray:
        start, self.read = self.read, self.read + len(hashes)
        return self.mask[start : self.read]


def _write(
    reader: tuple[RecordBuilder, TextSource],
    folder: Folder,
    cleaned: Sequence[Cleaned],
    before: int,
    pieces: Sequence[_Piece],
    *masks: np.ndarray,
) -> list[Any]:
    """Write the shards that lie within a part; return its counts with their checksums, and its
    first and last rows where they belong to shards with rows of other parts."""
    builder = reader[0].continued(before, _Known(_hashes(cleaned), masks))
    try:
        records = pa.concat_tables([builder.add(block) for block in cleaned])
    except UserError as error:
        return [error, None, None]
    tables = {piece.shard: records.slice(piece.start, piece.end - piece.start) for piece in pieces}
    whole = {piece.shard: tables[piece.shard] for piece in pieces if piece.whole}
    sums = {
        shard_name(number): write_shard(folder, shard_name(number), table.combine_chunks())
        for number, table in whole.items()
    }
    first, last = (
        (
            (tables[piece.shard].combine_chunks() if piece.shard not in whole else None)
            for piece in (pieces[0], pieces[-1])
        )
        if pieces
        else (None, None)
    )
    return [(builder.counted(), sums), first, last]


def _pieces(kept: Sequence[int]) -> list[list[_Piece]]:
    """Return the pieces of every part, given the numbers of its records."""
    pieces: list[list[_Piece]] = []
    for begin, rows in zip([0, *accumulate(kept)], kept, strict=False):
        cuts = range(begin - begin % SHARD_ROWS, begin + rows, SHARD_ROWS)
        bounds = [
            (max(cut - begin, 0), min(cut + SHARD_ROWS - begin, rows)) for cut in cuts if rows
        ]
        pieces.append(
            [
                _Piece(cut // SHARD_ROWS, start, end, end - start == SHARD_ROWS)
                for cut, (start, end) in zip(cuts, bounds, strict=False)
            ]
        )
    return pieces


def _join_ends(
    folder: Folder, pieces: Sequence[Sequence[_Piece]], written: Sequence[Sequence[Any]]
) -> list[Any]:
    """Let tasks write the shards whose rows are of several parts, or are the last."""
    import ray

    ends: dict[int, list[Any]] = {}
    for own, (_, first, last) in zip(pieces, written, strict=True):
        for piece, reference in {own[0]: first, own[-1]: last}.items() if own else ():
            if not piece.whole:
                ends.setdefault(piece.shard, []).append(reference)
    join = ray.remote(_join)
    return [join.remote(folder, shard, *references) for shard, references in ends.items()]


def _join(folder: Folder, shard: int, *tables: pa.Table) -> dict[str, Checksum]:
    """Write a shard of pieces; of a part that has failed there is none."""
    if any(table is None for table in tables):
        return {}
    name = shard_name(shard)
    return {name: write_shard(folder, name, pa.concat_tables(tables).combine_chunks())}
