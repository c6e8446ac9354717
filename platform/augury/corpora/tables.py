"""Tables of text (TSV, CSV, JSON lines, Parquet) as blocks of named string columns."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augury.core.errors import UserError, nearest
from augury.core.naming import counted
from augury.corpora.files import InputFile, find, lines, open_bytes

BLOCK_ROWS = 20_000
USUAL = {"csv": ",", "tsv": "\t"}
DELIMITERS = (";", "\t", ",", "|")
DECLARED = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)
"""A first line for Excel, which names the delimiter."""
START = 1 << 20  # bytes that tell the delimiter, with
FIRST_ROWS = 50
UNQUOTED = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?|NA|NaN|NULL|\\N|", re.IGNORECASE)
"""Values that stay without quotes where all texts have them."""
T = TypeVar("T")
csv.field_size_limit(sys.maxsize)


class NotText(UserError):
    """A column whose values are no text, numbers or truth values."""


@dataclass(frozen=True)
class Dialect:
    """How the rows of a delimited file are written."""

    delimiter: str
    quoted: bool = True
    """Whether quotation marks stand around fields; else they are text."""
    escape: str | None = None
    """The character before a quotation mark within quotes; None where it is doubled."""
    spaced: bool = False
    """Whether a space follows each delimiter."""
    line_end: str = "\n"
    skipped: int = 0
    """Lines before the header."""

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the rows of lines; raises csv.Error for quotation marks that are not closed."""
        if not self.quoted:
            return (line.rstrip("\r\n").split(self.delimiter) for line in lines)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            doublequote=self.escape is None,
            escapechar=self.escape,
            skipinitialspace=self.spaced,
            strict=True,
        )

    def told(self, layout: str) -> list[str]:
        """Return what differs from the convention of a format."""
        usual = asdict(Dialect(USUAL[layout], quoted=layout == "csv"))
        return [f"{name} {value}" for name, value in asdict(self).items() if value != usual[name]]


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
        return list(record) if isinstance(record, dict) else []
    return next(_numbered_rows(path, dialect_of(path, layout)), (1, []))[1]


def line_of(path: str, layout: str, header: Sequence[str] | None, row: int) -> int | None:
    """Return the line, from 1, that a row of a table, from 1, begins in; None for Parquet.

    CSV is read up to the row, since a row can have several lines.
    """
    if layout not in USUAL:
        return row if layout == "jsonl" and not _is_array(find(path)) else None
    rows = row - 1 + (not header or column_names(path, layout) == list(header))
    numbered = _numbered_rows(path, dialect_of(path, layout))
    return next(islice(numbered, rows, None))[0]


def dialect_of(path: str, layout: str) -> Dialect:
    """Return how the rows of a TSV or CSV file are written, by its beginning; where quotation marks
    may be text, by all of it."""
    status = find(path).stat()
    return _dialect(path, layout, status.st_size, status.st_mtime_ns)


@cache
def _dialect(path: str, layout: str, size: int, changed: int) -> Dialect:
    with open_bytes(find(path)) as stream:
        start = stream.read(START).decode("utf-8-sig", errors="ignore")
    returns = start.count("\r") - start.count("\r\n")
    line_end = "\r" if returns > start.count("\n") else "\n"
    if declared := DECLARED.match(start):
        return Dialect(declared[1], line_end=line_end, skipped=1)
    whole = start[: start.rfind(line_end) + 1] or start  # without the beginning of a line
    delimiter = _delimiter(re.split("[\r\n]+", whole), USUAL[layout])
    header = start.partition(line_end)[0]
    spaced = header.count(delimiter) == header.count(f"{delimiter} ") > 0
    escapes = [None, "\\"] if '\\"' in start else [None]
    if delimiter == "\t" or len(escapes) > 1:
        for escape in escapes:
            dialect = Dialect(delimiter, True, escape, spaced, line_end)
            if _are_quotes(path, dialect):
                return dialect
    return Dialect(delimiter, delimiter != "\t", None, spaced, line_end)


def _delimiter(lines: Sequence[str], usual: str) -> str:
    """Return the character that cuts the first lines into as many fields each, or else the first
    one; the usual one before others."""
    marks = list(dict.fromkeys([usual, *DELIMITERS]))
    even = []
    for mark in marks:
        plain = {line.count(mark) for line in lines[:FIRST_ROWS] if line}
        read = islice(csv.reader(lines, delimiter=mark), FIRST_ROWS)
        quoted = {len(row) - 1 for row in read if row}
        even += [mark] * any(len(counts) == 1 and min(counts) > 0 for counts in (plain, quoted))
    return next(chain(even, (mark for mark in marks if mark in lines[0]), marks))


def _are_quotes(path: str, dialect: Dialect) -> bool:
    """Return whether the quotation marks of a file are those that a writer of tables puts around
    all fields of a column, or around fields that need them, and none is text."""
    record: list[str] = []
    idle, bare, found = set[int](), set[int](), False
    with open_bytes(find(path)) as stream:
        if not any(b'"' in line for line in stream):
            return False
    with open_bytes(find(path)) as stream:
        try:
            for number, row in enumerate(dialect.rows(_noted(stream, dialect, record))):
                text, first = "".join(record).rstrip("\r\n"), record[0]
                several = len(record) > 1
                record.clear()
                if '"' not in text:
                    bare |= _unquoted(enumerate(row)) if number else set()
                    continue
                if several and first.count(dialect.delimiter) >= len(row) - 1:
                    return False  # a line that is a row, with a quotation that goes on in the next
                quoted = _quoted_fields(text, row, dialect)
                if quoted is None:
                    return False
                found = found or bool(quoted)
                if number:  # names may be quoted though values are not
                    needs = re.compile(f'["\r\n{re.escape(dialect.delimiter)}]|^$')
                    idle |= {place for place in quoted if not needs.search(row[place])}
                    bare |= _unquoted(pair for pair in enumerate(row) if pair[0] not in quoted)
        except csv.Error:
            return False
    return (found or dialect.escape is not None) and not idle & bare


def _unquoted(fields: Iterable[tuple[int, str]]) -> set[int]:
    return {place for place, field in fields if not UNQUOTED.fullmatch(field)}


def _noted(stream: Any, dialect: Dialect, record: list[str]) -> Iterator[str]:
    for line in _text_lines(stream, dialect):
        record.append(line)
        yield line


def _quoted_fields(text: str, row: Sequence[str], dialect: Dialect) -> set[int] | None:
    """Return the places of the fields of a row that are quoted; None if a quotation mark is none
    that a writer would put."""
    quoted, start = set(), 0
    for place, field in enumerate(row):
        escaped = field.replace('"', f'{dialect.escape or chr(34)}"')
        with_quotes = f'"{escaped}"'
        if text.startswith(with_quotes, start):
            quoted.add(place)
            start += len(with_quotes) + 1
        elif ('"' not in field or dialect.escape) and text.startswith(escaped, start):
            start += len(escaped) + 1
        else:
            return None
    return quoted


def _text_lines(stream: Any, dialect: Dialect) -> Iterator[str]:
    return iter(io.TextIOWrapper(stream, "utf-8-sig", newline=dialect.line_end))


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


def _numbered_rows(path: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file with the line, from 1, that each begins in."""
    number = 1 + dialect.skipped
    record: list[str] = []
    with open_bytes(find(path)) as stream:
        lines = _noted(stream, dialect, record)
        del record[: len(list(islice(lines, dialect.skipped)))]
        try:
            for row in dialect.rows(lines):
                yield number, row
                number += len(record)
                record.clear()
        except csv.Error as error:
            raise UserError(
                f"{path}, line {number}: not CSV according to RFC 4180 ({error}): quote fields "
                "with quotes, commas or line ends, and double the quotes in them"
            ) from error


def _delimited(
    path: str, layout: str, columns: Sequence[str], header: Sequence[str] | None
) -> Iterator[pa.Table]:
    rows = _numbered_rows(path, dialect_of(path, layout))
    first = next(rows, (1, []))
    names = list(header or first[1])
    indices = [column_index(path, names, column) for column in columns]
    rows = rows if first[1] == names else chain([first], rows)
    for batch in batches(_check_widths(rows, len(names), path)):
        texts = {
            column: pa.array([row[index] for row in batch], pa.string())
            for column, index in zip(columns, indices, strict=True)
        }
        yield pa.table(texts)


def _check_widths(
    rows: Iterable[tuple[int, list[str]]], width: int, path: str
) -> Iterator[list[str]]:
    for line, row in rows:
        if not row and width == 1:
            row = [""]  # an empty line is an empty text
        if len(row) != width:
            raise UserError(
                f"{path}, line {line} has {counted(len(row), 'column')}, but the header has "
                f"{width}: correct the line"
            )
        yield row


def _is_array(path: Path) -> bool:
    return next(lines(path), b"").lstrip().startswith(b"[")


def _json_records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the records of JSON lines, or of one array, with their places."""
    is_array = _is_array(path)
    texts = iter([b"".join(lines(path))]) if is_array else lines(path)
    for number, text in enumerate(texts, start=1):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}, line {number} is not valid JSON: {error}") from error
        if is_array:
            records = enumerate(record, start=1)
            yield from ((f"{path}, record {place}", one) for place, one in records)
        else:
            yield f"{path}, line {number}", record


def _jsonl(path: Path, columns: Sequence[str], sparse: bool) -> Iterator[pa.Table]:
    for batch in batches(_json_records(path)):
        values: dict[str, list[bytes]] = {column: [] for column in columns}
        for where, record in batch:
            for column in columns:
                text = _text_field(record, column, where, sparse)
                try:
                    values[column].append(text.encode())
                except UnicodeEncodeError as error:
                    raise UserError(
                        f"{where}: column '{column}' has half a character ({error}): remove it"
                    ) from error
        texts = {name: pa.array(column, pa.string()) for name, column in values.items()}
        yield pa.table(texts)


def _text_field(record: Any, column: str, where: str, sparse: bool) -> str:
    value = record
    for key in [column] if isinstance(record, dict) and column in record else column.split("."):
        if not isinstance(value, dict):
            raise UserError(
                f"{where}: no column '{column}' in {json.dumps(value, ensure_ascii=False)[:60]}"
            )
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
        raise NotText(
            f"{where}: '{column}' is {json.dumps(value, ensure_ascii=False)[:60]}, not text"
        )
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
        raise UserError(f"directory {path} has no files *.parquet: give a directory that has")
    return files


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read as Parquet: {error}") from error
