"""Tables of text (TSV, CSV, JSON lines, Parquet) as blocks of named string columns."""

from __future__ import annotations

import hashlib
import json
import math
import re
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
from augury.corpora.delimited import USUAL, rows_of
from augury.corpora.files import InputFile, find, lines

BLOCK_ROWS = 20_000
RECORD = '{"text": "a sentence", "label": "good"}'
LINE = "line of the file"
"""The column with the lines that rows begin in, from 1, for files whose rows have lines."""
FIRST_RECORDS = 50
"""Records of JSON whose fields are the columns of a table."""
SPLIT = re.compile(
    "(train|validation|valid|val|dev|test|eval|unsupervised)(?![a-z])", re.IGNORECASE
)
"""What the name of a file of Parquet, or of its directory, begins with where it is of a split."""
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
    """Yield the given columns as strings, nulls as empty strings, and LINE.

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
    """Return the column names of a table; for JSON lines, those of the first records."""
    if layout == "parquet":
        first_file = _parquet_files(path)[0]
        with _reading(first_file), pq.ParquetFile(first_file) as file:
            return _column_names(file)
    if layout == "jsonl":
        first = [record for *_, record in islice(_json_records(find(path)), FIRST_RECORDS)]
        names = list(dict.fromkeys(chain.from_iterable(first)))
        if not names:
            raise UserError(f"{path} has no records: write one a line, as in {RECORD}")
        if len(first) == 1:
            _refuse_wrapped(path, first[0])
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


def _delimited(
    path: str, layout: str, columns: Sequence[str], header: Sequence[str] | None
) -> Iterator[pa.Table]:
    rows = rows_of(path, layout)
    first = next(rows, (1, []))
    names = list(header or first[1])
    indices = [column_index(path, names, column) for column in columns]
    rows = rows if first[1] == names else chain([first], rows)
    for batch in batches(_complete(rows, len(names), path)):
        arrays = [pa.array([row[index] for _, row in batch], pa.string()) for index in indices]
        numbers = pa.array([line for line, _ in batch])
        yield pa.table([*arrays, numbers], names=[*columns, LINE])


def _complete(
    rows: Iterable[tuple[int, list[str]]], width: int, path: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with as many fields as the header, UserError with the line for others, without
    empty lines; of a table of one column, these are empty texts."""
    for line, row in rows:
        row = row or [""]
        if width > 1 and row == [""]:
            continue
        if len(row) != width:
            quoted = any(field.lstrip().startswith("'") for field in row)
            remedy = "write quotes around fields as \", not as '" if quoted else "correct the line"
            raise UserError(
                f"{path}, line {line} has {counted(len(row), 'column')}, but the header has "
                f"{width}: {remedy}, or, if all lines are so, the header"
            )
        yield line, row


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
    table, selected = _flattened(table), {}
    for column in columns:
        column_index(where, table.column_names, column)
        values = table.column(column)
        if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
            raise NotText(f"column '{column}' of {where} holds lists: write one value a row")
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


def _flattened(table: pa.Table) -> pa.Table:
    """Return a table with nested fields as columns, whose names have dots."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record by name, nested ones with dots."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            fields |= {f"{name}.{field}": nested for field, nested in _fields(value).items()}
        else:
            fields[name] = value
    return fields


def _json_records(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield what the number of a record is of, the number, and the fields of the record, of JSON
    lines or of one array; UserError for what is no record."""
    first = next(filter(bytes.strip, lines(path)), b"").strip()
    # Of one array, or of one value over several lines, the lines are no values.
    is_whole = first.startswith(b"[") or first == b"{"
    texts = iter([b"".join(lines(path))]) if is_whole else lines(path)
    for number, text in enumerate(texts, start=1):
        if not text.strip():  # as other readers, which leave out such lines
            continue
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1) + number - 1
            reason = getattr(error, "msg", error)
            raise UserError(
                f"{path}, line {line} is not valid JSON: {reason}: write a record a line, or one "
                "array of records"
            ) from error
        unit, records = "line", [content]
        if is_whole:
            _refuse_wrapped(str(path), content)
            unit, records = "record", content if isinstance(content, list) else [content]
        for place, record in enumerate(records, number):
            if not isinstance(record, dict):
                raise UserError(
                    f"{path}, {unit} {place} is no record, but {json.dumps(record)[:60]}: write "
                    f"one, as in {RECORD}"
                )
            yield unit, place, _fields(record)


def _refuse_wrapped(path: str, content: Any) -> None:
    """Raise UserError for an object that has a list of records instead of being one."""
    lists = content if isinstance(content, dict) else {}
    for name, value in lists.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            raise UserError(
                f"{path} is one object, with its records under '{name}': write them alone, a "
                "record a line"
            )


def _jsonl(path: Path, columns: Sequence[str], sparse: bool) -> Iterator[pa.Table]:
    for batch in batches(_json_records(path)):
        texts = {}
        for column in columns:
            cells = [
                _text_field(record, column, f"{path}, {unit} {number}", sparse)
                for unit, number, record in batch
            ]
            texts[column] = pa.array(cells, pa.string())
        table = pa.table(texts)
        if batch[0][0] == "line":
            table = table.append_column(LINE, pa.array([number for _, number, _ in batch]))
        yield table


def _text_field(fields: Mapping[str, Any], column: str, where: str, sparse: bool) -> str:
    if not sparse:
        column_index(where, list(fields), column)
    value = fields.get(column)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):  # as Parquet's
        whole = isinstance(value, float) and value.is_integer()
        return json.dumps(int(value) if whole else value)
    if not isinstance(value, str):
        raise NotText(
            f"{where}: '{column}' is {json.dumps(value)[:60]}, not text: write one value a row"
        )
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise UserError(f"{where}: column '{column}' has half a character: remove it")
    return value


def _parquet(path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    for file in _parquet_files(path):
        with _reading(file), pq.ParquetFile(file) as content:
            for column in columns:
                column_index(str(file), _column_names(content), column)
            for batch in content.iter_batches(BLOCK_ROWS, columns=list(columns)):
                yield select_columns(pa.table(batch), columns, str(file))


def _column_names(file: pq.ParquetFile) -> list[str]:
    return list(_flattened(file.schema_arrow.empty_table()).column_names)


def class_names(path: str, column: str) -> tuple[str, ...]:
    """Return the names of the classes that a Parquet column of Hugging Face numbers, from that of
    0; an empty tuple for other columns, and where what is written of them cannot be read."""
    file = _parquet_files(path)[0]
    with _reading(file), pq.ParquetFile(file) as content:
        schema = _flattened(content.schema_arrow.empty_table()).schema
    place = schema.get_field_index(column)
    if place < 0 or not pa.types.is_integer(schema.field(place).type):
        return ()
    try:
        metadata = json.loads((schema.metadata or {})[b"huggingface"])
        return tuple(metadata["info"]["features"][column]["names"])
    except (KeyError, TypeError, ValueError):
        return ()


def _parquet_files(path: str) -> list[Path]:
    target = find(path)
    files = sorted(target.rglob("*.parquet")) if target.is_dir() else [target]
    splits = set[str]()
    for file in files:
        named = filter(None, map(SPLIT.match, file.relative_to(target).parts))  # folders first
        if match := next(named, None):
            splits.add(re.sub("^(val|dev).*", "validation", match[1].lower()))
    if len(splits) > 1:
        raise UserError(
            f"directory {path} has files of {' and '.join(sorted(splits))}: give a file or a "
            f"directory of one split, or hub: {path} and split"
        )
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
