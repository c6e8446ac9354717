"""Tables of text (TSV, CSV, JSON lines, Parquet) as blocks of named string columns."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augury.core.errors import UserError, nearest
from augury.core.naming import counted
from augury.corpora.delimited import USUAL, dialect_of, rows_of
from augury.corpora.files import InputFile, find, lines

BLOCK_ROWS = 20_000
MOST_FIELDS = 200
"""Of a record of JSON: one with more is a table, column by column."""
T = TypeVar("T")


class NotText(UserError):
    """A column whose values are no text, numbers or truth values."""


def read_table(
    path: str,
    layout: str,
    columns: Sequence[str],
    header: Sequence[str] | None = None,
    *,
    sparse: bool = False,
) -> Iterator[pa.Table]:
    """Yield the given columns as strings, nulls as empty strings.

    Raise UserError with file, line and column.

    `header` gives the columns of a TSV or CSV file that has no header line, or one that repeats
    them. `sparse` takes columns that a record of JSON lines lacks for empty.
    """
    if layout in USUAL:
        return _delimited(path, layout, columns, header)
    if header:
        raise UserError(
            f"{path}: header is for tsv and csv only, since columns of {layout} have names: "
            "remove it"
        )
    return _jsonl(find(path), columns, sparse) if layout == "jsonl" else _parquet(path, columns)


def column_names(path: str, layout: str) -> list[str]:
    """Return the column names of a table; for JSON lines, those of the first record."""
    if layout == "parquet":
        first_file = _parquet_files(path)[0]
        with _reading(first_file), pq.ParquetFile(first_file) as file:
            return [file.schema.column(index).path for index in range(len(file.schema))]
    if layout == "jsonl":
        _, record = next(_json_records(find(path)), ("", {}))
        names = list(_fields(record)) if isinstance(record, dict) else []
        if len(names) > MOST_FIELDS:
            raise UserError(
                f"{path} has a record of {len(names):,} fields: write a record per line, as pandas "
                "does by to_json(orient='records', lines=True)"
            )
        return names
    names = next(rows_of(path, layout), (1, []))[1]
    if not any(names):
        raise UserError(f"{path}: its first line is empty: begin with the names of the columns")
    return names


def first_line(path: str, layout: str, header: Sequence[str] | None) -> int | None:
    """Return the line of the first row, from 1, of a table whose rows are lines; None for others,
    whose fields may have line ends, or that have empty lines."""
    if layout == "jsonl":
        has_others = _is_array(find(path)) or not all(map(bytes.strip, lines(find(path))))
        return None if has_others else 1
    if layout not in USUAL or dialect_of(path, layout).quoted:
        return None
    has_names = not header or column_names(path, layout) == list(header)
    return 1 + has_names


def _delimited(
    path: str, layout: str, columns: Sequence[str], header: Sequence[str] | None
) -> Iterator[pa.Table]:
    rows = rows_of(path, layout)
    first = next(rows, (1, []))
    names = list(header or first[1])
    indices = [column_index(path, names, column) for column in columns]
    rows = rows if first[1] == names else chain([first], rows)
    lines_are_rows = not dialect_of(path, layout).quoted
    for batch in batches(_check_widths(rows, len(names), path, lines_are_rows)):
        arrays = [pa.array([row[index] for row in batch], pa.string()) for index in indices]
        yield pa.table(arrays, names=list(columns))


def _check_widths(
    rows: Iterable[tuple[int, list[str]]], width: int, path: str, lines_are_rows: bool
) -> Iterator[list[str]]:
    """Yield rows with as many fields as the header, without empty lines.

    UserError with the line for others, and where rows are numbered by lines for an empty line
    before the last row.
    """
    empty = 0
    for line, row in rows:
        if not any(row) and len(row) <= 1:
            if width > 1:
                empty = empty or line
                continue
            row = [""]  # an empty line is an empty text
        if empty and lines_are_rows:
            raise UserError(f"{path}, line {empty} is empty: remove it, or complete the row")
        if len(row) != width:
            raise UserError(
                f"{path}, line {line} has {counted(len(row), 'column')}, but the header has "
                f"{width}: correct the line"
            )
        yield row


def examine_parquet(path: str) -> list[InputFile]:
    """Validate the Parquet file or files at `path`.

    Raise UserError if one is damaged or there are no rows.
    """
    files = []
    for file in _parquet_files(path):
        with _reading(file), pq.ParquetFile(file) as content, file.open("rb") as stream:
            rows, digest = content.metadata.num_rows, hashlib.file_digest(stream, "sha256")
        files.append(InputFile(str(file), file.stat().st_size, rows, digest.hexdigest()))
    if not any(file.lines for file in files):
        raise UserError(f"{path} is empty: give a table with one record per row")
    return files


def batches(items: Iterable[T], size: int = BLOCK_ROWS) -> Iterator[list[T]]:
    """Yield lists of `size` consecutive items; the last may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def strings(texts: Sequence[bytes]) -> pa.Array:
    """Decode lines of UTF-8, without their line ends."""
    return pc.ascii_rtrim(pa.array(texts, pa.string()), characters="\r\n")


def select_columns(table: pa.Table, columns: Sequence[str], where: str) -> pa.Table:
    """Return columns or nested fields (`translation.de`) as strings.

    Raise UserError if one is missing or not text.
    """
    selected = {}
    for column in columns:
        name, *fields = [column] if column in table.column_names else column.split(".")
        column_index(where, table.column_names, name)
        values = table.column(name)
        for field in fields:
            names = [child.name for child in values.type] if pa.types.is_struct(values.type) else []
            column_index(f"column '{name}' of {where}", names, field)
            values = pc.struct_field(values, field)
        try:
            if pa.types.is_floating(values.type):  # of which pandas writes missing ones as NaN
                values = pc.if_else(pc.is_nan(values), pa.nulls(1, values.type)[0], values)
            selected[column] = pc.coalesce(pc.cast(values, pa.string()), "")
        except pa.ArrowException as error:
            raise NotText(
                f"column '{column}' of {where} has type {values.type}: give a column with text"
            ) from error
    return pa.table(selected)


def column_index(where: str, names: Sequence[str], column: str) -> int:
    """Return the index of a column among `names`; raise UserError if it is missing."""
    if names.count(column) > 1:
        raise UserError(f"{where} has several columns '{column}': give each a name of its own")
    if column not in names:
        hint = nearest(column, names)
        existing = f" Its columns are {', '.join(names)}" if hint.endswith("?") else ""
        raise UserError(f"{where} has no column '{column}': {hint}{existing}")
    return list(names).index(column)


def _is_array(path: Path) -> bool:
    return next(filter(bytes.strip, lines(path)), b"").lstrip().startswith(b"[")


def _fields(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of fields, those of nested ones with dots."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from (f"{name}.{field}" for field in _fields(value))
        else:
            yield name


def _json_records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the records of JSON lines, or of one array, with their places."""
    is_array = _is_array(path)
    texts = iter([b"".join(lines(path))]) if is_array else lines(path)
    for number, text in enumerate(texts, start=1):
        if not text.strip():  # as other readers, which leave out such lines
            continue
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}, line {number} is not valid JSON: {error}") from error
        if not is_array:
            yield f"{path}, line {number}", content
        else:
            for place, record in enumerate(content, start=1):
                yield f"{path}, record {place}", record


def _jsonl(path: Path, columns: Sequence[str], sparse: bool) -> Iterator[pa.Table]:
    for batch in batches(_json_records(path)):
        texts = {
            column: [_text_field(record, column, where, sparse) for where, record in batch]
            for column in columns
        }
        yield pa.table({name: pa.array(column, pa.string()) for name, column in texts.items()})


def _text_field(record: Any, column: str, where: str, sparse: bool) -> str:
    value = record
    for key in [column] if isinstance(record, dict) and column in record else column.split("."):
        if not isinstance(value, dict):
            raise UserError(f"{where}: no column '{column}' in {json.dumps(value)[:60]}")
        if sparse and key not in value:
            return ""
        column_index(where, list(value), key)
        value = value[key]
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):  # as Parquet's
        whole = isinstance(value, float) and value.is_integer()
        return json.dumps(int(value) if whole else value)
    if not isinstance(value, str):
        raise NotText(f"{where}: '{column}' is {json.dumps(value)[:60]}, not text")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise UserError(f"{where}: column '{column}' has half a character: remove it")
    return value


def _parquet(path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    for file in _parquet_files(path):
        with _reading(file), pq.ParquetFile(file) as content:
            leaves = [content.schema.column(index).path for index in range(len(content.schema))]
            for column in columns:
                column_index(str(file), leaves, column)
            for batch in content.iter_batches(BLOCK_ROWS, columns=list(columns)):
                yield select_columns(pa.table(batch), columns, str(file))


def class_names(path: str, column: str) -> tuple[str, ...]:
    """Return the names of the classes that a Parquet column of Hugging Face numbers, from that of
    0; an empty tuple for other columns."""
    file = _parquet_files(path)[0]
    with _reading(file), pq.ParquetFile(file) as content:
        metadata = (content.schema_arrow.metadata or {}).get(b"huggingface", b"{}")
    features = json.loads(metadata).get("info", {}).get("features", {})
    feature = features.get(column) if isinstance(features, dict) else None
    return tuple(feature.get("names", ())) if isinstance(feature, dict) else ()


def _parquet_files(path: str) -> list[Path]:
    target = find(path)
    files = sorted(target.rglob("*.parquet")) if target.is_dir() else [target]
    if not files:
        raise UserError(
            f"directory {path} has no files *.parquet: give one that has, or hub: {path} for what "
            "save_to_disk of `datasets` wrote"
        )
    return files


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read as Parquet: {error}") from error
