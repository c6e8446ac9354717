from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from augury.errors import UserError
from augury.store import MARKER, Store


def test_a_folder_counts_only_with_its_marker(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("part-00000", b"x")
    assert not folder.complete
    with pytest.raises(UserError, match="is not complete"):
        folder.manifest()
    folder.finish({"rows": 1})
    assert folder.complete and folder.manifest() == {"rows": 1}
    assert folder.names() == [MARKER, "manifest.json", "part-00000"]


def test_a_file_that_fails_while_it_is_written_leaves_nothing(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("file", b"old")
    with pytest.raises(RuntimeError), folder.writing("file") as stream:
        stream.write(b"half")
        raise RuntimeError
    assert folder.read("file") == b"old"
    assert [path.name for path in (tmp_path / "corpora" / "abc").iterdir()] == ["file"]


def test_temporary_files_of_a_killed_process_are_not_listed(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("file", b"x")
    (tmp_path / "corpora" / "abc" / ".tmp-other-1234").write_bytes(b"half")
    assert folder.names() == ["file"]


def test_put_replaces_a_directory_whole(tmp_path: Path) -> None:
    folder = Store(tmp_path / "store").folder("runs", "abc")
    for content in ("one", "two"):
        directory = tmp_path / "made"
        directory.mkdir()
        (directory / "state").write_text(content)
        folder.put(directory, "checkpoint")
        assert not directory.exists()
    assert folder.sub("checkpoint").read("state") == b"two"
    assert folder.subfolders() == ["checkpoint"]


def test_a_folder_can_be_sent_to_another_process(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.finish({"rows": 3})
    folder.manifest()
    assert pickle.loads(pickle.dumps(folder)).manifest() == {"rows": 3}


def test_a_uri_is_a_store_like_a_directory(tmp_path: Path) -> None:
    by_uri = Store(f"file://{tmp_path}").folder("corpora", "abc")
    by_uri.write("file", "ü")
    assert Store(tmp_path).folder("corpora", "abc").read("file").decode() == "ü"


def test_errors_say_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file: give a directory or a URI"):
        Store(tmp_path / "file")
    with pytest.raises(UserError, match="cannot be opened"):
        Store("nonsense://bucket")
