"""Plain and compressed text files, validated and read line by line.

Lines end with `\\n` or `\\r\\n` only; Unicode line separators and vertical tabs are text.
Compression is detected from the first bytes of a file.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import io
import lzma
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.paths import expanded

COMPRESSIONS = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
CHUNK = 1 << 22  # bytes
NEWLINE = ord("\n")
SETTLED = 2.0
"""Seconds after which every change of a file changes its time, on any filesystem."""

METADATA = re.compile(rb"<(?:url|talkid|keywords|speaker|reviewer|translator|doc)\b|</doc>")
KEPT_TAGS = re.compile(rb"</?(?:title|description)>")
SEGMENT = re.compile(rb"<seg id[^>]*>(.*?)(?:</seg>|$)")


@dataclass(frozen=True)
class InputFile:
    """A validated file: bytes on disk, number of lines (or rows of a table) and SHA-256 of the
    content."""

    path: str
    size: int
    lines: int
    sha256: str


def examine(path: str) -> InputFile:
    """Validate a text file; raise UserError if it is missing, empty, damaged or not UTF-8.

    Lines and SHA-256 are those of the decompressed text, whatever the compression. A file that has
    not changed is read once in a process.
    """
    file = find(path)
    status = file.stat()
    identity = path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    if identity not in _examined:
        examined = _examine(path, file)
        # One that has just been written may change again without a later time.
        if time.time() - status.st_mtime < SETTLED:
            return examined
        _examined[identity] = examined
    return _examined[identity]


_examined: dict[tuple[str, int, int, int, int], InputFile] = {}
"""By path, place on disk, size and time of the last change."""


def _examine(path: str, file: Path) -> InputFile:
    digest = hashlib.sha256()
    count, last, begun = 0, b"\n", b""
    # NumPy and Arrow are five times as fast, but take longer to import than a small file to read.
    small = file.stat().st_size <= CHUNK
    is_utf8, line_ends = (_decodes, _count_of) if small else (_is_utf8, _fast_count_of)
    with open_bytes(file) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            count += line_ends(chunk)
            last, text = chunk[-1:], begun + chunk
            end = len(text) - _begun(text)
            begun = text[end:]
            if not is_utf8(text, end):
                raise _not_utf8(file)
    if begun:
        raise _not_utf8(file)
    count += last != b"\n"
    if not count:
        raise UserError(f"{path} is empty: give a file with one sentence or record per line")
    return InputFile(path, file.stat().st_size, count, digest.hexdigest())


def _begun(text: bytes) -> int:
    """Return the number of bytes at the end of a text that begin a character, without its last."""
    for count in range(1, min(3, len(text)) + 1):
        byte = text[-count]
        if byte >= 0xC0:  # the first of two or more bytes
            return count if count < 2 + (byte >= 0xE0) + (byte >= 0xF0) else 0
        if byte < 0x80:
            break
    return 0


def _is_utf8(text: bytes, end: int) -> bool:
    """Return whether the bytes before `end` are UTF-8, as Arrow finds out."""
    buffers = [None, pa.py_buffer(np.array([0, end])), pa.py_buffer(text)]
    try:
        pc.cast(pa.Array.from_buffers(pa.large_binary(), 1, buffers), pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _count_of(chunk: bytes) -> int:
    return chunk.count(b"\n")


def _fast_count_of(chunk: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == NEWLINE))


def _decodes(text: bytes, end: int) -> bool:
    """Return whether the bytes before `end` are UTF-8."""
    try:
        text[:end].decode()
    except UnicodeDecodeError:
        return False
    return True


def find(path: str) -> Path:
    """Return the file or directory at `path`; raise UserError with a hint if it does not exist."""
    target = expanded(path)
    if target.exists():
        return target
    begins = "; a relative path in a file of settings begins at its folder"
    begins = begins if target.is_absolute() else ""  # as the words of a command are typed
    if not target.parent.is_dir():
        raise UserError(f"no file '{path}': there is no directory '{target.parent}'{begins}")
    names = sorted(entry.name for entry in target.parent.iterdir())
    close = difflib.get_close_matches(target.name, names, n=1, cutoff=0.6)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    suggestions = [str(Path(path).with_name(name)) for name in close]
    hint = (
        f"did you mean '{suggestions[0]}'?"
        if suggestions
        else f"'{target.parent}' contains {shown or 'nothing'}"
    )
    raise UserError(f"no file '{path}': {hint}{begins}")


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its decompressed bytes; UserError if unreadable, damaged or
    truncated."""
    if path.is_dir():
        raise UserError(f"{path} is a directory: give a file")
    if path.exists() and not path.is_file():  # it could be read once, or wait for ever
        raise UserError(f"{path} is a pipe or a device: write its text to a file, and give that")
    try:
        with path.open("rb") as file:
            start = file.read(6)
        suffix = next((name for name, magic in COMPRESSIONS.items() if start.startswith(magic)), "")
        if start and path.suffix in COMPRESSIONS and path.suffix != suffix:
            raise UserError(
                f"{path} is not a {path.suffix} file despite its name: download it again or "
                "rename it"
            )
        with _stream(path, suffix) as stream:
            yield stream
    except PermissionError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise UserError(f"{path} is damaged or truncated ({error}): download it again") from error


def _stream(path: Path, suffix: str) -> BinaryIO:
    if not suffix:
        return path.open("rb", buffering=CHUNK)
    if suffix == ".xz":
        return io.BufferedReader(lzma.LZMAFile(path), CHUNK)
    # Arrow's decoders raise for truncated streams, unlike python-zstandard's.
    raw = pa.CompressedInputStream(pa.OSFile(str(path)), {".gz": "gzip", ".zst": "zstd"}[suffix])
    return io.BufferedReader(raw, CHUNK)


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines with their line ends, without a byte order mark."""
    with open_bytes(path) as stream:
        first = stream.readline().removeprefix(codecs.BOM_UTF8)
        if first:
            yield first
        yield from stream


def is_plain(path: Path) -> bool:
    """Return whether a file is not compressed, so that it can be read from any byte on."""
    with path.open("rb") as file:
        start = file.read(6)
    return not any(start.startswith(magic) for magic in COMPRESSIONS.values())


def line_starts(path: Path, size: int) -> list[int]:
    """Return the byte that every `size`-th line of a plain file begins at, and its end."""
    starts, count, place = [0], 0, 0
    with path.open("rb", buffering=CHUNK) as stream:
        while chunk := stream.read(CHUNK):
            ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == NEWLINE) + 1
            numbers = np.arange(count + 1, count + 1 + len(ends))
            starts += (place + ends[numbers % size == 0]).tolist()
            count, place = count + len(ends), place + len(chunk)
    return starts if starts[-1] == place else [*starts, place]


def line_blocks(
    path: Path, size: int, between: tuple[int, int] | None = None
) -> Iterator[pa.Array]:
    """Yield what `lines` does as arrays of `size` strings without line ends, fewer in the last; of
    a plain file those `between` two bytes alone, where lines begin."""
    with open_bytes(path) as stream:
        start, end = between or (0, None)
        left = sys.maxsize if end is None else end - start
        if start:
            stream.seek(start)
        data, more = stream.read(min(CHUNK, left)), True
        left -= len(data)
        data = data if start else data.removeprefix(codecs.BOM_UTF8)
        while more:
            chunk = stream.read(min(CHUNK, left))
            left -= len(chunk)
            more = bool(chunk)
            ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE) + 1
            if not more and data and not data.endswith(b"\n"):
                ends = np.append(ends, len(data))
            bound = 0
            for first in range(0, len(ends) // size * size if more else len(ends), size):
                bounds = np.concatenate([[bound], ends[first : first + size]])
                yield _strings(data, bounds)
                bound = int(bounds[-1])
            data = data[bound:] + chunk


def _strings(data: bytes, bounds: np.ndarray) -> pa.Array:
    """Return the lines between neighbouring bounds as strings."""
    buffers = [None, pa.py_buffer(bounds.astype(np.int64)), pa.py_buffer(data)]
    rows = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, buffers)
    return pc.ascii_rtrim(pc.cast(rows, pa.string()), characters="\r\n")


def sentences(path: Path, layout: str) -> Iterator[bytes]:
    """Yield sentences: `lines` unchanged, `wit3` without metadata lines and tags, `seg` the text
    of `<seg id=...>`."""
    if layout == "lines":
        return lines(path)
    if layout == "wit3":
        return (KEPT_TAGS.sub(b"", line) for line in lines(path) if not METADATA.search(line))
    assert layout == "seg", layout
    return (
        segment.group(1).strip() + b"\n"
        for line in lines(path)
        if (segment := SEGMENT.search(line))
    )


def _not_utf8(path: Path) -> UserError:
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                location = f"{path}, line {number}, byte {error.start + 1}"
                return UserError(
                    f"{location}: 0x{line[error.start]:02x} is not UTF-8; convert the file, for "
                    f"example: iconv -f latin1 -t utf-8 {path.name}"
                )
    raise AssertionError(f"{path} decodes line by line but not as a whole")
