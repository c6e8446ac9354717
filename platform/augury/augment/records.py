"""Tables that operators make: records with the names of their parents, and views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from augury.augment.operator import Operator, address


def derive_records(
    parents: pa.Table,
    operator: Operator,
    copies: Sequence[int],
    others: Sequence[str] | None = None,
    **changed: pa.Array,
) -> pa.Table:
    """Return records made from `parents`, row by row: `changed` columns are new.

    Ids, origin and lineage name parents.

    `parents` has the corpus's own columns and a row for every new record, `copies` the number of
    each new record among those of its parent, `others` the ids of second parents.
    """
    origin, made_by = operator.name(), address(operator)
    ids = parents.column("id").to_pylist()
    sides = [ids] if others is None else [ids, others]
    columns = {
        **{name: parents.column(name) for name in parents.column_names},
        **changed,
        "id": pa.array(
            [f"{parent}/{origin}-{copy}" for parent, copy in zip(ids, copies, strict=True)],
            pa.string(),
        ),
        "origin": pa.array([origin] * len(ids), pa.string()),
        "lineage": pa.array(
            [
                {"parents": parents_of, "operator": made_by, "copy": copy}
                for parents_of, copy in zip(zip(*sides, strict=True), copies, strict=True)
            ],
            parents.schema.field("lineage").type,
        ),
    }
    return pa.table(columns, schema=parents.schema)


def view_table(block: pa.Table, texts: Mapping[str, pa.Array]) -> pa.Table:
    """Return a view of a block's records, given the texts of the columns that it renders anew."""
    (single_column,) = texts.values() if len(texts) == 1 else (None,)
    return pa.table(
        {"id": block.column("id"), **(texts if single_column is None else {"text": single_column})}
    )


def plural(column: str) -> str:
    """Return the plural of the name of a column."""
    return {"hypothesis": "hypotheses"}.get(column, f"{column}s")


def language_column(columns: Sequence[str]) -> str:
    """Return the column with the language of the texts that a system reads."""
    return "source_language" if "source_language" in columns else "language"
