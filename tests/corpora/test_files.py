"""Files: compression, faults and line ends."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.corpora import files
from augury.corpora.files import InputFile, examine, lines, sentences

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
    for name in ("text", f"text.{kind}", "text.gz"):
        path = written(tmp_path / name, COMPRESS[kind](TEXT))
        assert list(lines(Path(path))) == LINES
        expected = InputFile(
            path, os.path.getsize(path), lines=3, sha256=hashlib.sha256(TEXT).hexdigest()
        )
        assert examine(path) == expected


def test_a_changed_file_is_read_again_and_another_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "text", b"one\n")
    before = examine(path)
    written(tmp_path / "text", b"two\n")
    os.utime(path, (1, 1))
    after = examine(path)
    assert after.sha256 != before.sha256
    monkeypatch.setattr(files, "open_bytes", None)
    assert examine(path) is after


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


def test_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    path = written(tmp_path / "text", b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert list(lines(Path(path))) == [b"a\n", b"\xef\xbb\xbfb\n"]


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (b"ok\nM\xfcller\n", "line 2, byte 2: 0xfc"),
        (b"ok\n" * 3_000_000 + b"\xff", "line 3000001, byte 1: 0xff"),
        (b"ok\nM\xc3", "line 2, byte 2: 0xc3"),
    ],
)
def test_bytes_that_are_not_utf8_are_located(tmp_path: Path, content: bytes, position: str) -> None:
    path = written(tmp_path / "text.de", content)
    with pytest.raises(UserError, match=f"{path}, {position} is not UTF-8"):
        examine(path)


PIECES = [b"a\n", *(text.encode() for text in "é漢😀"), b"\xed\xa0\x80", b"\xc0\x80", b"\xff"]
CUT = [b"\xe2\x82", b"\xf0\x9f\x98", b"\xc3", b"\x80"]


@given(st.lists(st.sampled_from(PIECES + CUT), min_size=1), st.integers(1, 6))
def test_utf8_is_what_python_decodes_wherever_blocks_end(pieces: list[bytes], size: int) -> None:
    content = b"".join(pieces)
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", max(size, 2))
        path = written(Path(directory, "text"), content)
        try:
            content.decode()
        except UnicodeDecodeError:
            with pytest.raises(UserError, match="is not UTF-8|Arrow table"):
                examine(path)
        else:
            assert examine(path).lines == len(content.splitlines())


def test_lines_of_talks_and_of_test_sets_without_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(
        "<url>http://x</url>\n<keywords>a, b</keywords>\n<talkid>1</talkid>\n<title>Ein Titel"
        "</title>\n<description>Worum es geht</description>\n<reviewer></reviewer>\n"
        " Ein < Satz.\n<url> eins\n</doc>\n"
    )
    told = [b"Ein Titel\n", b"Worum es geht\n", b" Ein < Satz.\n", b"<url> eins\n"]
    assert list(sentences(path, files.layout_of(str(path)))) == told
    path.write_text("<url> eins\nzwei <url>\n")
    assert list(sentences(path, files.layout_of(str(path)))) == [b"<url> eins\n", b"zwei <url>\n"]
    path.write_text('<doc>\n<title>Kein Satz</title>\n<seg id="1"> Ein Satz. </seg>\n</doc>\n')
    assert list(sentences(path, "seg")) == [b"Ein Satz.\n"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A pipe without waiting for it."""
    os.mkfifo(tmp_path / "pipe")
    for name, content in (("a", b""), ("b.gz", gzip.compress(b"")), ("c", b"\xef\xbb\xbf")):
        written(tmp_path / name, content)
    refused = {"pipe": "pipe", "a": "empty", "b.gz": "empty", "c": "empty"}
    for name, told in {**refused, ".": "directory", "d/a": "no directory", "pip": "pipe'"}.items():
        with pytest.raises(UserError, match=told):
            examine(str(tmp_path / name))
