"""Rows of delimited files (TSV, CSV): the file tells its delimiter, quotes and line ends."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from augury.core.errors import UserError
from augury.corpora.files import find, open_bytes

USUAL = {"csv": ",", "tsv": "\t"}
DELIMITERS = (";", "\t", ",", "|")
DECLARED = re.compile(r'"?sep=(.)"?\r?\n?', re.IGNORECASE)
"""A first line for Excel, which names the delimiter."""
START = 1 << 20  # bytes that tell the delimiter, with
FIRST_ROWS = 50
DECIMAL = re.compile(r"(^|[;\t|])[-+]?\d+,\d+([;\t|]|$)")
"""A field with a decimal comma."""
UNQUOTED = re.compile(
    r"[-+]?[\d.,]+(e[-+]?\d+)?|\d{1,4}([-/.]\d\d?){2}([T ][\d:.]+Z?)?|"
    r"NA|<NA>|NaN|NaT|None|NULL|\\N|[-+]?inf|True|False|",
    re.IGNORECASE,
)
"""Values that stay without quotes where all texts have them."""
SINGLE_QUOTED = re.compile("'[^']*'")
"""A name in the header of a table whose fields stand between apostrophes."""
csv.field_size_limit(sys.maxsize)


class Dialect(NamedTuple):
    """How the rows of a delimited file are written."""

    delimiter: str
    quoted: bool = True
    """Whether quotation marks stand around fields; else they are text."""
    mark: str = '"'
    """The quotation mark."""
    escape: str | None = None
    """The character before a quotation mark within quotes; None where it is doubled."""
    line_end: str = "\n"
    skipped: int = 0
    """Lines before the header."""


@cache
def _dialect(path: str, layout: str, size: int, changed: int) -> Dialect:
    """Return how the rows of a TSV or CSV file are written, by its beginning; where quotation marks
    may be text, by all of it."""
    with open_bytes(find(path)) as stream:
        start = stream.read(START).decode("utf-8-sig", errors="ignore")
    ends = re.sub('"[^"]*"', "", start)  # within quotes they are text
    returns = ends.count("\r") - ends.count("\r\n")
    line_end = "\r" if returns > ends.count("\n") else "\n"
    if declared := DECLARED.match(start):
        return Dialect(declared[1], line_end=line_end, skipped=1)
    whole = start[: start.rfind(line_end) + 1] or start  # without the beginning of a line
    lines = whole.split(line_end)
    comments = next((row for row, line in enumerate(lines) if not line.startswith("#")), 0)
    table = line_end.join(lines[comments:])
    delimiter = _delimiter(re.split("[\r\n]+", table), USUAL[layout])
    fields = lines[comments].count(delimiter)
    # A line end of another system within the line is for the reader of rows to refuse.
    (parsed,) = csv.reader([lines[comments].replace("\r", "")], delimiter=delimiter)
    numbers = {fields + 1, len(parsed)}
    # A header or a row of the table may begin with the mark, too.
    of_table = (row for row in range(comments) if _may_be_row(lines[row], delimiter, numbers))
    comments = next(of_table, comments)
    header, *rows = map(str.strip, lines[comments : comments + FIRST_ROWS])
    names_are = all(map(SINGLE_QUOTED.fullmatch, header.split(delimiter)))
    rows_are = any(rows) and all(row[0] == row[-1] == "'" for row in rows if row)
    if names_are or (rows_are and fields):
        return Dialect(delimiter, mark="'", line_end=line_end, skipped=comments)
    escapes = [None, "\\"] if '\\"' in start else [None]
    if delimiter == "\t" or len(escapes) > 1:
        for escape in escapes:
            dialect = Dialect(delimiter, True, '"', escape, line_end, comments)
            if _are_quotes(path, dialect):
                return dialect
    return Dialect(delimiter, delimiter != "\t", '"', None, line_end, comments)


def _may_be_row(line: str, delimiter: str, numbers: set[int]) -> bool:
    """Return whether a line with the mark of comments is the header or a row of a table: it has as
    many fields, and does not begin as prose does."""
    fields = line.removeprefix("# ").split(delimiter)
    is_prose = line.startswith("# ") and any(" " in field.strip() for field in fields)
    return len(fields) in numbers and not is_prose


def _delimiter(lines: Sequence[str], usual: str) -> str:
    """Return the character that cuts the first lines into as many fields each, or else the first
    one; the usual one before others."""
    marks = list(dict.fromkeys([usual, *DELIMITERS]))
    if all(DECIMAL.search(line) for line in lines[:FIRST_ROWS] if line):
        marks = sorted(marks, key=lambda mark: mark == ",")  # which rather are in numbers
    for mark in marks:
        plain = {line.count(mark) for line in lines[:FIRST_ROWS] if line}
        read = islice(csv.reader(lines, delimiter=mark), FIRST_ROWS)
        quoted = {len(row) - 1 for row in read if row}
        if any(len(counts) == 1 and min(counts) > 0 for counts in (plain, quoted)):
            return mark
    return next((mark for mark in marks if mark in lines[0]), usual)


def _are_quotes(path: str, dialect: Dialect) -> bool:
    """Return whether the quotation marks of a file are those that a writer of tables puts around
    fields that need them, around those and all with commas, as Excel does, or around all texts, and
    none is text."""
    read: list[str] = []

    def noted() -> Iterator[str]:
        for line in _lines(path, dialect):
            read.append(line)
            yield line

    if not any('"' in line for line in _lines(path, dialect)):
        return False
    needs = re.compile(f"[{re.escape(dialect.delimiter)}\r\n{'' if dialect.escape else chr(34)}]")
    may_need = re.compile(f'[{re.escape(dialect.delimiter)}\r\n"]|^$')
    with_comma = re.compile(f'[{re.escape(dialect.delimiter)},\r\n"]')
    around_needed = around_texts = around_commas = True
    is_sure = False
    try:
        for number, (_, fields) in enumerate(_rows(noted(), dialect, path)):
            first, *others = read
            if others and first.count(dialect.delimiter) >= len(fields) - 1:
                return False  # a line that is a row, with a quotation that goes on in the next
            # A mark within a field is doubled, or has an escape.
            within = sum(field.count('"') for field in fields) * (1 if dialect.escape else 2)
            quoted = (sum(line.count('"') for line in read) - within) / 2
            is_sure = is_sure or within > 0 or len(read) > 1
            read.clear()
            if number:  # names may be quoted though values are not
                least, most = (sum(map(bool, map(r.search, fields))) for r in (needs, may_need))
                around_commas &= quoted == sum(map(bool, map(with_comma.search, fields)))
                texts = sum(not UNQUOTED.fullmatch(field) for field in fields)
                around_needed = around_needed and least <= quoted <= most
                around_texts = around_texts and texts <= quoted <= len(fields)
    except UserError:
        return False
    return around_needed or around_texts or (around_commas and is_sure)


def _lines(path: str, dialect: Dialect) -> Iterator[str]:
    with open_bytes(find(path)) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", newline=dialect.line_end)
        yield from islice(text, dialect.skipped, None)


def _rows(lines: Iterable[str], dialect: Dialect, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the line, from 1, that each begins in.

    Raises UserError with the line of a row whose quotation marks are not closed.
    """
    begin = 1 + dialect.skipped
    if not dialect.quoted:
        for number, line in enumerate(lines, begin):
            row = line.rstrip("\r\n")
            if number == begin and re.search("[\r\n]", row):
                raise UserError(
                    f"{path}, line {number} has a line end of another system within: write all "
                    "line ends alike"
                )
            yield number, row.split(dialect.delimiter)
        return
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        doublequote=dialect.escape is None,
        escapechar=dialect.escape,
        quotechar=dialect.mark,
        skipinitialspace=dialect.delimiter != "\t",
        strict=True,
    )
    try:
        for fields in reader:
            yield begin, fields
            begin = 1 + dialect.skipped + reader.line_num
    except csv.Error as error:
        raise UserError(
            f"{path}, line {begin}: not CSV according to RFC 4180 ({error}): quote fields with "
            "quotes, commas or line ends, and double the quotes in them"
        ) from error


def rows_of(path: str, layout: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file, its header too, with the line, from 1, that each begins in."""
    status = find(path).stat()
    dialect = _dialect(path, layout, status.st_size, status.st_mtime_ns)
    return _rows(_lines(path, dialect), dialect, path)
