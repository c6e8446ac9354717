"""Tables of text (TSV, CSV, JSON lines, Parquet) as blocks of named string columns."""

from __future__ import annotations

import csv
import hashlib
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augury.core.errors import UserError, nearest
from augury.core.naming import counted
from augury.corpora import arrays
from augury.corpora.files import InputFile, find, lines

BLOCK_ROWS = 20_000
SEPARATORS = (";", "\t", "|", ",")
T = TypeVar("T")


def read_table(
    path: str, layout: str, columns: Sequence[str], header: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield the given columns as strings, nulls as empty strings.

    Raise UserError with file, line and column.

    `header` gives the columns of a TSV or CSV file that has no header line, or one that repeats
    them.
    """
    if layout in ("tsv", "csv"):
        return {"tsv": _tsv, "csv": _csv}[layout](find(path), columns, header)
    if header:
        raise UserError(
            f"{path}: header is for tsv and csv only, since columns of {layout} have names: "
            "remove it"
        )
    return _jsonl(find(path), columns) if layout == "jsonl" else _parquet(path, columns)


def column_names(path: str, layout: str) -> list[str]:
    """Return the column names of a table; for JSON lines, those of the first record."""
    if layout == "parquet":
        first_file = _parquet_files(path)[0]
        with _reading(first_file), pq.ParquetFile(first_file) as file:
            return [file.schema.column(index).path for index in range(len(file.schema))]
    first = next(lines(find(path)), b"")
    if layout == "jsonl":
        try:
            record = json.loads(first or b"{}")
        except (json.JSONDecodeError, RecursionError) as error:
            raise UserError(f"{path}, line 1 is not valid JSON: {error}") from error
        return list(record) if isinstance(record, dict) else []
    return next(csv.reader([first.decode()]), []) if layout == "csv" else _names(first)


def line_of(path: str, layout: str, header: Sequence[str] | None, row: int) -> int | None:
    """Return the line, from 1, that a row of a table, from 1, begins in; None for Parquet.

    CSV is read up to the row, since a row can have several lines.
    """
    if layout == "parquet":
        return None
    if layout == "jsonl":
        return row
    rows = row - 1 + (not header or column_names(path, layout) == list(header))
    if layout == "tsv":
        return rows + 1
    reader = _csv_reader(find(path))
    for _ in islice(reader, rows):
        pass
    return int(reader.line_num) + 1


def other_separator(names: Sequence[str], layout: str) -> str | None:
    """Return what seems to separate the columns of a TSV or CSV file whose header was read as a
    single one; None where nothing does."""
    usual = {"csv": ",", "tsv": "\t"}.get(layout)
    if usual is None or len(names) != 1:
        return None
    return next((mark for mark in SEPARATORS if mark != usual and mark in names[0]), None)


def check_separator(path: str, layout: str, names: Sequence[str]) -> None:
    """Raise UserError, with the command that rewrites it, for a file of two columns or more that
    other characters separate than those of its format."""
    if mark := other_separator(names, layout):
        usual = {"csv": "commas", "tsv": "tabs"}[layout]
        quoting = ", quoting=csv.QUOTE_NONE" if layout == "tsv" else ""
        read = f"csv.reader(sys.stdin, delimiter={mark!r}{quoting})"
        code = f"csv.writer(sys.stdout).writerows({read})"
        table = shlex.quote(str(Path(path).with_name(f"{Path(path).stem}-commas.csv")))
        raise UserError(
            f"{path}: its columns seem to be separated by {mark!r}, and those of {layout} are by "
            f'{usual}; rewrite it: python -c "import csv, sys; {code}" < {shlex.quote(path)} '
            f"> {table}"
        )


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
    return pc.ascii_rtrim(pc.cast(arrays.strings(texts), pa.string()), characters="\r\n")


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
            selected[column] = pc.coalesce(pc.cast(values, pa.string()), "")
        except pa.ArrowException as error:
            raise UserError(
                f"column '{column}' of {where} has type {values.type}: give a column with text"
            ) from error
    return pa.table(selected)


def column_index(where: str, names: Sequence[str], column: str) -> int:
    """Return the index of a column among `names`; raise UserError if it is missing."""
    if column not in names:
        hint = nearest(column, names)
        existing = f" Its columns are {', '.join(names)}" if hint.endswith("?") else ""
        raise UserError(f"{where} has no column '{column}': {hint}{existing}")
    return list(names).index(column)


def _tsv(path: Path, columns: Sequence[str], header: Sequence[str] | None) -> Iterator[pa.Table]:
    rows = lines(path)
    first = next(rows)
    names, number = _names(first), 2
    if header and names != list(header):
        rows, names, number = chain([first], rows), list(header), 1
    indices = _indices(path, "tsv", names, columns)
    for batch in batches(rows):
        fields = pc.split_pattern(strings(batch), "\t")
        widths = np.from_dlpack(pc.list_value_length(fields))
        if (widths != len(names)).any():
            check_separator(str(path), "tsv", names)
            row = int((widths != len(names)).argmax())
            raise _width_error(path, number + row, int(widths[row]), len(names))
        yield pa.table(
            {
                name: pc.list_element(fields, index)
                for name, index in zip(columns, arrays.numbers(np.array(indices)), strict=True)
            }
        )
        number += len(batch)


def _indices(path: Path, layout: str, names: Sequence[str], columns: Sequence[str]) -> list[int]:
    if not set(columns) <= set(names):
        check_separator(str(path), layout, names)
    return [column_index(str(path), names, column) for column in columns]


def _names(line: bytes) -> list[str]:
    return line.decode().rstrip("\r\n").split("\t")


def _csv(path: Path, columns: Sequence[str], header: Sequence[str] | None) -> Iterator[pa.Table]:
    reader = _csv_reader(path)
    try:
        first = next(reader)
        names = list(header or first)
        rows = reader if first == names else chain([first], reader)
        indices = _indices(path, "csv", names, columns)
        for batch in batches(_check_widths(rows, names, path, reader)):
            texts = {
                column: [row[index].encode() for row in batch]
                for column, index in zip(columns, indices, strict=True)
            }
            yield _table(texts)
    except csv.Error as error:
        raise UserError(
            f"{path}, line {reader.line_num}: not CSV according to RFC 4180 ({error}): quote "
            "fields with quotes, commas or line ends"
        ) from error


def _csv_reader(path: Path) -> Any:
    csv.field_size_limit(sys.maxsize)
    return csv.reader((line.decode() for line in lines(path)), strict=True)


def _check_widths(
    rows: Iterable[list[str]], names: Sequence[str], path: Path, reader: Any
) -> Iterator[list[str]]:
    width = len(names)
    for row in rows:
        if not row and width == 1:
            row = [""]  # an empty line is an empty text
        if len(row) != width:
            check_separator(str(path), "csv", names)
            raise _width_error(path, reader.line_num, len(row), width)
        yield row


def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    for batch in batches(enumerate(lines(path), start=1)):
        values: dict[str, list[bytes]] = {column: [] for column in columns}
        for number, line in batch:
            where = f"{path}, line {number}"
            try:
                record = json.loads(line.decode())
            except (json.JSONDecodeError, RecursionError) as error:
                raise UserError(f"{where} is not valid JSON: {error}") from error
            for column in columns:
                text = _text_field(record, column, where)
                try:
                    values[column].append(text.encode())
                except UnicodeEncodeError as error:
                    raise UserError(
                        f"{where}: column '{column}' has half a character ({error}): remove it"
                    ) from error
        yield _table(values)


def _table(columns: Mapping[str, Sequence[bytes]]) -> pa.Table:
    return pa.table(
        {name: pc.cast(arrays.strings(texts), pa.string()) for name, texts in columns.items()}
    )


def _text_field(record: Any, column: str, where: str) -> str:
    value = record
    for key in [column] if isinstance(record, dict) and column in record else column.split("."):
        if not isinstance(value, dict):
            raise UserError(
                f"{where}: no column '{column}' in {json.dumps(value, ensure_ascii=False)[:60]}"
            )
        column_index(where, list(value), key)
        value = value[key]
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UserError(
            f"{where}: '{column}' is {json.dumps(value, ensure_ascii=False)[:60]}, not text"
        )
    return str(value)


def _parquet(path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    for file in _parquet_files(path):
        with _reading(file), pq.ParquetFile(file) as content:
            leaves = [content.schema.column(index).path for index in range(len(content.schema))]
            for column in columns:
                column_index(str(file), leaves, column)
            for batch in content.iter_batches(BLOCK_ROWS, columns=list(columns)):
                yield select_columns(pa.table(batch), columns, str(file))


def row_groups(path: str, rows: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield the files of a table with consecutive row groups and their rows, at least `rows` except
    at the end of a file."""
    for file in _parquet_files(path):
        with _reading(file), pq.ParquetFile(file) as content:
            metadata = content.metadata
        groups, count = list[int](), 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            count += metadata.row_group(group).num_rows
            if count >= rows or group == metadata.num_row_groups - 1:
                yield str(file), tuple(groups), count
                groups, count = [], 0


def read_row_groups(path: str, columns: Sequence[str], groups: Sequence[int]) -> Iterator[pa.Table]:
    """Yield the rows of row groups of a Parquet file as `read_table` does."""
    file = find(path)
    with _reading(file), pq.ParquetFile(file) as content:
        for batch in content.iter_batches(BLOCK_ROWS, groups, columns=list(columns)):
            yield select_columns(pa.table(batch), columns, path)


def _parquet_files(path: str) -> list[Path]:
    target = find(path)
    files = sorted(target.rglob("*.parquet")) if target.is_dir() else [target]
    if not files:
        raise UserError(f"directory {path} has no files *.parquet: give a directory that has")
    return files


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read as Parquet: {error}") from error


def _width_error(path: Path, line: int, width: int, expected: int) -> UserError:
    columns = counted(width, "column")
    return UserError(
        f"{path}, line {line} has {columns}, but the header has {expected}: correct the line"
    )
