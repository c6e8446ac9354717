"""Tallies of what operators made, block by block, for its health."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from augury.augment import health
from augury.augment.health import Tally
from augury.augment.operator import VIEW, MadeOf, Operator, OperatorOutput
from augury.corpora.corpus import Corpus, input_columns, sentence_columns

LOOKED_AT = 1_000  # records of a corpus that an operator looks at before it works


class Ratios(dict[tuple[str, str], float]):
    """The ratios of characters of two columns, from the first records of a corpus."""

    def __init__(self, corpus: Corpus):
        super().__init__()
        self.corpus = corpus

    def __missing__(self, columns: tuple[str, str]) -> float:
        first = self.corpus.shard(self.corpus.shards[0], columns).slice(0, LOOKED_AT)
        self[columns] = health.length_ratio(first, *columns)
        return self[columns]


def tally_columns(
    table: pa.Table, made_of: Mapping[str, MadeOf], ratios: Mapping[tuple[str, str], float]
) -> Tally:
    """Return the sums over the columns of an output that were made from others."""
    if not made_of:
        return Tally()
    return health.tally(
        [_column(table, name) for name in made_of],
        [_combined(source.texts) for source in made_of.values()],
        [
            1.0 if name == source.column else ratios[name, source.column]
            for name, source in made_of.items()
        ],
    )


def tally_block(block: pa.Table, operator: Operator, output: OperatorOutput) -> Tally:
    """Return the sums over an operator's output for a block, a view or records."""
    inputs = input_columns(block.column_names)
    if operator.makes() == VIEW:
        columns = ("text",) if len(inputs) == 1 else inputs
        pairs = [
            (_column(output.table, new), _column(block, old))
            for new, old in zip(columns, inputs, strict=True)
            if new in output.table.column_names
        ]
    else:
        lineages = output.table.column("lineage").to_pylist()
        parents = [
            lineage["parents"][0] if lineage and lineage["parents"] else None
            for lineage in lineages
        ]
        places = pc.index_in(pa.array(parents, pa.string()), value_set=_column(block, "id"))
        records = output.table.filter(pc.is_valid(places))
        sources = block.take(pc.drop_null(places))
        texts = sentence_columns(block.column_names)
        pairs = [(_column(records, name), _column(sources, name)) for name in texts]
        # A column that the operator leaves alone, such as the target, is no copy to warn of.
        pairs = [pair for pair in pairs if not pair[0].equals(pair[1])] or pairs[: len(inputs)]
    new, old = zip(*pairs, strict=True) if pairs else ((), ())
    return health.tally(new, old, [1.0] * len(pairs)) if pairs else Tally()


def _column(table: pa.Table, name: str) -> pa.Array:
    return _combined(table.column(name))


def _combined(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
