"""Files: compression, faults and line ends."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from pathlib import Path

import pytest
import zstandard

from augury.core.errors import UserError
from augury.corpora.files import InputFile, examine, lines

TEXT = "eins\nzwei \u2028\x0b\x85 drei\r\nvier".encode()
LINES = [b"eins\n", "zwei \u2028\x0b\x85 drei\r\n".encode(), b"vier"]
COMPRESS = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("kind", COMPRESS)
def test_content_does_not_depend_on_compression_or_name(tmp_path: Path, kind: str) -> None:
    for name in ("text", f"text.{kind}") if kind != "plain" else ("text",):
        path = written(tmp_path / name, COMPRESS[kind](TEXT))
        assert list(lines(Path(path))) == LINES
        expected = InputFile(
            path, os.path.getsize(path), lines=3, sha256=hashlib.sha256(TEXT).hexdigest()
        )
        assert examine(path) == expected


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_members_are_read_to_the_end_and_damage_is_refused(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "text", COMPRESS[kind](b"a\nb\n") + COMPRESS[kind](b"c\n"))
    assert list(lines(Path(path))) == [b"a\n", b"b\n", b"c\n"]
    whole = bytearray(COMPRESS[kind](os.urandom(20_000).hex().encode()))
    cut = written(tmp_path / "cut", bytes(whole[: len(whole) // 2]))
    whole[len(whole) // 2] ^= 0xFF
    for path in (cut, written(tmp_path / "damaged", bytes(whole))):
        with pytest.raises(UserError, match="is damaged or truncated"):
            examine(path)


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    for content, position in (
        (b"ok\nM\xfcller\n", "line 2, byte 2: 0xfc"),
        (b"ok\n" * 3_000_000 + b"\xff", "line 3000001, byte 1: 0xff"),
        (b"ok\nM\xc3", "line 2, byte 2: 0xc3"),
    ):
        path = written(tmp_path / "text.de", content)
        with pytest.raises(UserError, match=f"{path}, {position} is not UTF-8"):
            examine(path)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A pipe without waiting for it."""
    os.mkfifo(tmp_path / "pipe")
    for name, content in (("a", b""), ("b.gz", gzip.compress(b"")), ("c.gz", b"plain\n")):
        written(tmp_path / name, content)
    refused = {"pipe": "pipe", "a": "empty", "b.gz": "empty", "c.gz": "despite its name"}
    for name, told in {**refused, ".": "directory", "d/a": "no directory", "pip": "pipe'"}.items():
        with pytest.raises(UserError, match=told):
            examine(str(tmp_path / name))
