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
from augury.corpora.files import InputFile, examine, find, lines, sentences

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
def test_concatenated_members_are_read_to_the_end(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "text", COMPRESS[kind](b"a\nb\n") + COMPRESS[kind](b"c\n"))
    assert list(lines(Path(path))) == [b"a\n", b"b\n", b"c\n"]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_file_cut_short_or_damaged_is_refused(tmp_path: Path, kind: str) -> None:
    whole = bytearray(COMPRESS[kind](os.urandom(20_000).hex().encode()))
    cut = written(tmp_path / "cut", bytes(whole[: len(whole) // 2]))
    whole[len(whole) // 2] ^= 0xFF
    for path in (cut, written(tmp_path / "text", bytes(whole))):
        with pytest.raises(UserError, match="is damaged or truncated .*: download it again"):
            examine(path)


def test_a_name_that_promises_compression_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path / "text.gz", b"plain\n")
    with pytest.raises(UserError, match=r"text\.gz is not a \.gz file despite its name"):
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
    with pytest.raises(UserError) as error:
        examine(path)
    assert str(error.value) == (
        f"{path}, {position} is not UTF-8; convert it from its own encoding, for example: iconv -f "
        "latin1 -t utf-8 text.de"
    )


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
            with pytest.raises(UserError, match="is not UTF-8"):
                examine(path)
        else:
            assert examine(path).lines == len(content.splitlines())


def test_empty_file(tmp_path: Path) -> None:
    for name, content in (("text", b""), ("text.gz", gzip.compress(b""))):
        path = written(tmp_path / name, content)
        with pytest.raises(
            UserError, match="is empty: give a file with one sentence or record per line"
        ):
            examine(path)


def test_missing_files_name_what_is_near(tmp_path: Path) -> None:
    for name in ("train.de", "train.en", *"abcd"):
        written(tmp_path / name, b"x\n")
    with pytest.raises(UserError, match=r"no file '.*/trian.de': did you mean '.*/train.de'\?"):
        find(str(tmp_path / "trian.de"))
    with pytest.raises(UserError, match=r"'.*' contains a, b, c, d, train.de and 1 more"):
        find(str(tmp_path / "0000000"))
    with pytest.raises(UserError, match=r"there is no directory '.*/nowhere'"):
        find(str(tmp_path / "nowhere" / "train.de"))
    with pytest.raises(UserError, match="is a directory: give a file"):
        examine(str(tmp_path))


def test_wit3_lines_without_metadata(tmp_path: Path) -> None:
    path = tmp_path / "train.tags"
    path.write_text(
        "<url>http://x</url>\n<keywords>a, b</keywords>\n<talkid>1</talkid>\n<title>Ein "
        "Titel</title>\n"
        "<description>Worum es geht</description>\n<reviewer></reviewer>\n Ein < Satz.\n</doc>\n"
    )
    assert list(sentences(path, "wit3")) == [b"Ein Titel\n", b"Worum es geht\n", b" Ein < Satz.\n"]


def test_segments_of_test_sets(tmp_path: Path) -> None:
    path = tmp_path / "test.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<doc docid="1">\n<title>Kein Satz</title>\n'
        '<seg id="1"> Ein Satz. </seg>\n<seg id="2">Noch einer.</seg>\n</doc>\n'
    )
    assert list(sentences(path, "seg")) == [b"Ein Satz.\n", b"Noch einer.\n"]


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="is a pipe"):
        examine(str(tmp_path / "pipe"))
