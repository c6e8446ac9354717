"""Plain and compressed text files, validated and read line by line.

Lines end with `\\n` or `\\r\\n` only; Unicode line separators and vertical tabs are text.
What a file is, text, compressed text, markup or anything else, is told by its first bytes.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import html
import io
import lzma
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from augury.core.errors import UserError
from augury.core.paths import expanded

COMPRESSIONS = {
    ".gz": rb"\x1f\x8b",
    ".bz2": rb"BZh[1-9]1AY&SY",
    ".xz": rb"\xfd7zXZ\x00",
    ".zst": rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18",
}
"""Patterns of the first bytes, by extension."""
XML = rb"(?:<\?xml|<!doctype)"
PROLOGUE = rb"\s*(?:(?:<!--(?:(?!-->).)*--|<\?[^>]*|<!doctype[^>\[]*(?:\[[^\]]*\]\s*)?)>\s*)*"
OTHERS: Mapping[bytes, str] = {
    rb"PAR1[\0-\x1f]": "a Parquet table: call it .parquet, or set format: parquet",
    rb"ARROW1\0|\xff{4}": "an Arrow table: write it as Parquet",
    rb"PK\x03\x04": "a ZIP archive or an Office file (.xlsx): unpack it, or save it as CSV",
    rb"\xd0\xcf\x11\xe0": "an Office file (.xls, .doc): save it as CSV or text in UTF-8",
    rb"%PDF-|{\\rtf": "a PDF or RTF document: save its text in UTF-8",
    rb"7z\xbc\xaf|Rar!\x1a|.{257}ustar": "an archive (.7z, .rar, .tar): unpack it",
    rb"\x04\x22\x4d\x18|\x5d\0\0": "compressed by lz4 or lzma: unpack it, or use gz, xz or zst",
    rb"SQLite format 3\0": "an SQLite database: write its table as CSV",
    rb"\x89PNG|\xff\xd8\xff|GIF8": "a picture: give its text",
    rb"\x93NUMPY|\x80[\x02-\x05]": "an array or object of Python: write it as a table or as lines",
    rb"version https://git-lfs": "a pointer to a file of Git LFS: git lfs pull",
    b"|".join(COMPRESSIONS.values()): "compressed twice: unpack it once",
    PROLOGUE + rb"<(tmx|xliff)\b": "a translation memory (TMX, XLIFF): write "
    "its two languages as two files of lines, or as a table",
    rb"\s*(%b.*<html|(<!--[^>]*-->\s*)?<(html|head|body))\b" % XML: "a page of HTML: download the "
    "file itself, or save its text",
    rb"\s*(webvtt|\d+\s*\n\d\d:\d\d:\d\d[,.]\d{3} -->)": "subtitles: write their sentences as "
    "lines, without numbers and times",
    rb"\s*(#[^\n]*\n\s*)*msgid \"": "a Gettext catalogue: write its two sides as files of lines",
    rb"\s*__label__\S+ ": "fastText's labelled lines: write a table of label and text, .tsv",
}
"""What a file is that is not read, and what to do, by a pattern of its first bytes, whatever their
case; white space goes before markup."""
ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32LE",
    codecs.BOM_UTF32_BE: "UTF-32BE",
    codecs.BOM_UTF16_LE: "UTF-16LE",
    codecs.BOM_UTF16_BE: "UTF-16BE",
}
"""What a file is in that begins with such a mark."""
DECOMPRESS = {".gz": "zcat", ".bz2": "bzcat", ".xz": "xzcat", ".zst": "zstdcat"}
"""The command that reads a compressed file, by its extension."""
SAMPLE = 1 << 16  # bytes that tell what a file is
CHUNK = 1 << 22  # bytes

COMMENT = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>", re.DOTALL)
WIT3 = re.compile(
    rb"<(url|talkid|keywords)>[^\n]*</\1>|"
    rb"<doc\b[^>\n]*>\s*(\n|<(url|talkid|keywords|speaker|title)>)"
)
METADATA = re.compile(
    rb"\s*(?:(?:<(url|talkid|keywords|speaker|reviewer|translator)\b[^<>]*"
    rb"(?:(?<=/)>|(?<!/)>(?:(?!</\1>).)*</\1>)|</?doc\b[^<>]*>)\s*)+"
)
KEPT_TAGS = re.compile(rb"</?(?:title|description|doc\b[^<>]*)>")
LINE_ENDS = re.compile(r"\s*[\r\n]\s*")
SEGMENT = re.compile(  # one that is not closed ends at a line with a tag
    r"<(doc|src|ref|hyp|srcset|refset|tstset)\b([^<>]*)>|"
    r"<seg\b([^<>]*)>(?:([^<]*(?:<(?!/?seg\b)[^<]*)*)</seg>|(.*?)(?=\n\s*<|<seg\b|\Z))",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True)
class InputFile:
    """A validated file: bytes on disk, number of lines (or rows of a table) and SHA-256 of the
    content."""

    path: str
    size: int
    lines: int
    sha256: str


def examine(path: str) -> InputFile:
    """Validate a text file; raise UserError if it is missing, empty, damaged or no UTF-8 text.

    Lines and SHA-256 are those of the decompressed text, whatever the compression. A file that has
    not changed is read once in a process.
    """
    status = find(path).stat()
    return _examine(path, status.st_ino, status.st_size, status.st_mtime_ns)


@cache
def _examine(path: str, place: int, size: int, changed: int) -> InputFile:
    file, digest, count = find(path), hashlib.sha256(), 0
    with open_bytes(file) as stream:
        while lines := stream.readlines(CHUNK):
            chunk = b"".join(lines)
            digest.update(chunk)
            _check_utf8(file, chunk, count)
            count += len(lines)
    if not count or (count == 1 and chunk == codecs.BOM_UTF8):
        raise UserError(f"{path} is empty: give a file with one sentence or record per line")
    if count == 1 and not chunk.endswith(b"\n"):  # which may have the line ends of old Macs
        count += chunk.rstrip(b"\r").count(b"\r")
    return InputFile(path, size, count, digest.hexdigest())


def _check_utf8(file: Path, chunk: bytes, before: int) -> None:
    """Raise UserError with the place of a byte of whole lines that is NUL or not UTF-8; `before`
    is the number of lines before them."""
    nul = chunk.find(b"\0")
    try:
        chunk[: nul if nul >= 0 else None].decode()
        if nul < 0:
            return
        start = nul
    except UnicodeDecodeError as error:
        start = error.start
    begin = chunk.rfind(b"\n", 0, start) + 1
    line = chunk[begin:].partition(b"\n")[0]
    number = before + chunk.count(b"\n", 0, start) + 1
    place = f"{file}, line {number}, byte {start - begin + 1}"
    if start == nul:
        raise UserError(
            f"{place} is NUL, so that the file is damaged or no text: write it again, or remove "
            "NUL, for example: tr -d '\\000'"
        )
    own, encoding = "its own encoding, for example", "windows-1252"
    # Of text in other scripts most bytes are not ASCII, and windows-1252 accepts nearly all.
    if sum(byte > 127 for byte in line) > len(line) / 3:
        own, encoding = "gb18030, shift_jis, windows-1251 or what it is in", "ENCODING"
    raise UserError(
        f"{place}: 0x{chunk[start]:02x} is not UTF-8; convert it from {own}: "
        f"{_iconv(file, encoding)}"
    )


def _iconv(file: Path, encoding: str) -> str:
    """Return the command that converts a file to UTF-8."""
    if file.suffix in DECOMPRESS:
        return f"{DECOMPRESS[file.suffix]} {file.name} | iconv -f {encoding} -t utf-8"
    return f"iconv -f {encoding} -t utf-8 {file.name}"


def find(path: str) -> Path:
    """Return the file or directory at `path`; raise UserError with a hint if it does not exist."""
    target = expanded(path)
    if target.exists():
        return target
    begins = " (a relative path in a file of settings begins at its folder)"
    begins = begins if target.is_absolute() else ""  # as the words of a command are typed
    if not target.parent.is_dir():
        raise UserError(f"no file '{path}': there is no directory '{target.parent}'{begins}")
    names = sorted(entry.name for entry in target.parent.iterdir())
    close = difflib.get_close_matches(target.name, names, n=1, cutoff=0.6)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    hint = f"'{target.parent}' contains {shown or 'nothing'}"
    if close:
        hint = f"did you mean '{Path(path).with_name(close[0])}'?"
    raise UserError(f"no file '{path}': {hint}{begins}")


@contextmanager
def open_bytes(path: Path, is_text: bool = True) -> Iterator[BinaryIO]:
    """Open a file for reading its decompressed bytes; UserError if unreadable, damaged, truncated
    or, by its first bytes, no text."""
    if path.is_dir():
        raise UserError(f"{path} is a directory: give a file")
    if path.exists() and not path.is_file():  # it could be read once, or wait for ever
        raise UserError(f"{path} is a pipe or a device: write its text to a file, and give that")
    try:
        with _stream(path) as stream:
            if is_text:
                _check_text(path, stream.peek(SAMPLE)[:SAMPLE])
            yield stream
    except PermissionError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise UserError(f"{path} is damaged or truncated ({error}): download it again") from error


def _stream(path: Path) -> io.BufferedReader:
    """Return the decompressed bytes of a file, whose first ones tell its compression."""
    with path.open("rb") as file:
        start = file.read(16)
    suffix = next((suffix for suffix, magic in COMPRESSIONS.items() if re.match(magic, start)), "")
    if not suffix:
        return io.BufferedReader(path.open("rb", buffering=0), CHUNK)
    if suffix == ".xz":
        return io.BufferedReader(lzma.LZMAFile(path), CHUNK)
    # Arrow's decoders raise for truncated streams, unlike python-zstandard's.
    names = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
    return io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), names[suffix]), CHUNK)


def _check_text(path: Path, start: bytes) -> None:
    """Raise UserError with what a file is, by its first bytes, unless it is text in UTF-8 that is
    read."""
    for magic, name in OTHERS.items():
        if re.match(magic, start.removeprefix(codecs.BOM_UTF8), re.DOTALL | re.IGNORECASE):
            raise UserError(f"{path} is {name}")
    if encoding := _encoding(start):
        raise UserError(
            f"{path} is in {encoding}, not in UTF-8; convert it: {_iconv(path, encoding)}"
        )


def _encoding(start: bytes) -> str:
    """Return the encoding of text in two or four bytes a character, with or without a byte order
    mark, or with Japanese or Korean between escapes; empty for other text."""
    for mark, encoding in ENCODINGS.items():
        if start.startswith(mark):
            return encoding
    if escape := re.search(rb"\x1b\$([@B]|\)C)", start):
        return "ISO-2022-KR" if escape[1] == b")C" else "ISO-2022-JP"
    for encoding in ENCODINGS.values() if b"\0" in start else ():
        text = start.decode(encoding, errors="ignore")
        is_whole = "\0" not in text and len(text.encode(encoding)) > 0.9 * len(start)
        # Of text in UTF-8 with some NULs, few line ends are followed by one.
        if is_whole and 2 * text.count("\n") > start.count(b"\n"):
            return encoding
    return ""


def layout_of(path: str) -> str:
    """Return the layout of a file of sentences, a key of `sentences`, by its beginning; raise
    UserError if it is other markup."""
    with open_bytes(find(path)) as stream:
        start = stream.read(SAMPLE).removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if start.rstrip().count(b"\r") > start.count(b"\n"):
        raise UserError(f"{path}: its lines end with CR; convert them: tr '\\r' '\\n' < {path}")
    if not start.startswith(b"<"):
        return "lines"
    if b"<seg" in start:
        return "seg"
    if re.match(XML, start):
        raise UserError(f"{path} is XML without <seg>: write its sentences as lines, or a table")
    return "wit3" if WIT3.match(start) else "lines"


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines with their line ends, without a byte order mark."""
    with open_bytes(path) as stream:
        first = stream.readline().removeprefix(codecs.BOM_UTF8)
        if first:
            yield first
        yield from stream


def sentences(path: Path, layout: str, side: int = 0) -> Iterator[bytes]:
    """Yield sentences: `lines` unchanged, `wit3` without metadata lines and tags, `seg` the text
    of `<seg>` elements with its entities resolved.

    In a file of both sides, those of side 0 are in `<src>`, and others in the first `<ref>` or
    `<hyp>` of each document.
    """
    if layout == "lines":
        return lines(path)
    if layout == "wit3":
        return (KEPT_TAGS.sub(b"", line) for line in lines(path) if not METADATA.fullmatch(line))
    assert layout == "seg", layout
    return (text for _, text in segments(path, side))


def read_sentences(path: str, side: int = 1) -> list[str]:
    """Return the sentences of a file, whose layout is told by its beginning; UserError if it is no
    text."""
    examine(path)
    found = sentences(find(path), layout_of(path), side)
    return [line.decode().removesuffix("\n").removesuffix("\r") for line in found]


def segments(path: Path, side: int) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield the names of the document and of each `<seg>` in it, empty where it has none, and the
    text; of several translations of a document (`sysid`, `refid`), the first one."""
    markup = COMMENT.sub("", b"".join(lines(path)).decode())
    found = {tag.lower() for tag in re.findall(r"<(src|ref|tst)set\b", markup, re.IGNORECASE)}
    has_both = "src" in found and len(found) > 1
    of_side, inside, section, document, this_set, reference = True, True, "", "", "", ""
    read: dict[tuple[str, str], str] = {}  # set and document -> its first translation
    for match in SEGMENT.finditer(markup):
        if match[1] is None:
            if inside:
                text = match[5] if match[4] is None else match[4]
                text = LINE_ENDS.sub(" ", html.unescape(text))
                yield (document, _attribute("id", match[3])), text.encode().strip() + b"\n"
        elif (tag := match[1].lower()).endswith("set"):
            of_side = not has_both or (tag == "srcset") != bool(side)
            this_set, reference = (_attribute(name, match[2]) for name in ("setid", "refid"))
        elif tag == "doc":
            document, inside, section = _attribute("(?:doc)?id", match[2]), of_side, ""
            if of_side and document:
                translation = _attribute("sysid", match[2]) or reference
                inside = read.setdefault((this_set, document), translation) == translation
        elif side:  # the first section behind the source, and no other reference
            inside, section = tag != "src" and section in ("", "src"), tag
        else:
            inside = tag == "src"


def _attribute(name: str, tag: str) -> str:
    value = r"""(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
    match = re.search(rf"(?<![\w-]){name}\s*=\s*{value}", tag, re.IGNORECASE)
    return html.unescape(match[match.lastindex or 0]).strip() if match else ""
