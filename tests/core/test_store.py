from __future__ import annotations

import os
import pickle
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import MANIFEST, MARKER, SCHEMA, Store


def test_a_folder_counts_only_with_its_marker(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("part-00000", b"x")
    assert not folder.complete
    with pytest.raises(UserError, match="is incomplete"):
        folder.manifest()
    folder.finish({"rows": 1})
    assert folder.complete and folder.manifest() == {"schema": SCHEMA, "rows": 1}
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


def directory(parent: Path, content: str) -> Path:
    path = parent / "made"
    path.mkdir()
    for name in ("model", "state"):
        (path / name).write_text(content)
    return path


def test_what_is_put_has_the_modes_that_the_umask_says(tmp_path: Path) -> None:
    private = Path(tempfile.mkdtemp(dir=tmp_path))
    (private / "inside").mkdir(mode=0o700)
    (private / "inside" / "model").touch(mode=0o600)
    folder = Store(tmp_path / "store").folder("runs", "abc")
    before = os.umask(0o027)
    try:
        folder.put(private, "checkpoint")
    finally:
        os.umask(before)
    put = Path(folder.path("checkpoint"))
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (put, put / "inside", put / "inside" / "model")
    ]
    assert modes == [0o750, 0o750, 0o640]
    assert [path.name for path in put.parent.iterdir()] == ["checkpoint"]


def test_what_is_put_on_an_object_store_is_there_when_all_of_it_is(
    tmp_path: Path, remote: Any
) -> None:
    folder = Store("remote://bucket/augury").folder("runs", "abc")
    assert not folder.is_local
    folder.put(directory(tmp_path, "one"), "checkpoint")
    assert folder.has_directory("checkpoint") and not (tmp_path / "made").exists()
    assert folder.sub("checkpoint").names() == [MARKER, MANIFEST, "model", "state"]
    remote.die_after(1)
    with pytest.raises(OSError, match="the writer died"):
        folder.put(directory(tmp_path, "two"), "checkpoint")
    assert not folder.has_directory("checkpoint")  # neither a mixture nor half of the new one
    remote.die_after(None)
    fetched = tmp_path / "fetched"
    shutil.copytree(tmp_path / "made", fetched)
    (fetched / MARKER).touch()
    folder.put(fetched, "checkpoint")
    assert folder.has_directory("checkpoint") and folder.sub("checkpoint").read("state") == b"two"


def test_a_folder_that_is_removed_does_not_count_from_the_first_moment_on(
    remote: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Store("remote://bucket").folder("corpora", "abc")
    folder.write("part-00000", b"x")
    folder.finish({"rows": 1})

    def dying(path: str, recursive: bool = False, **options: Any) -> None:
        if recursive:
            raise OSError("the remover died")
        removed(path, **options)

    removed = remote.rm
    with monkeypatch.context() as patched, pytest.raises(OSError, match="the remover died"):
        patched.setattr(remote, "rm", dying)
        folder.remove()
    assert not folder.complete and folder.exists("part-00000")
    folder.remove()
    assert not folder.exists()


def test_a_folder_can_be_sent_to_another_process(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.finish({"rows": 3})
    folder.manifest()
    assert pickle.loads(pickle.dumps(folder)).manifest() == folder.manifest()


def test_a_uri_is_a_store_like_a_directory(tmp_path: Path) -> None:
    by_uri = Store(f"file://{tmp_path}").folder("corpora", "abc")
    by_uri.write("file", "ü")
    assert Store(tmp_path).folder("corpora", "abc").read("file").decode() == "ü"


def test_errors_say_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file: use a directory or a URI"):
        Store(tmp_path / "file")
    with pytest.raises(UserError, match="cannot be opened"):
        Store("nonsense://bucket")


def test_a_storage_on_a_disk_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"no directory '{tmp_path}/disk'"):
        Store(tmp_path / "disk" / "results")
    assert not (tmp_path / "disk").exists()


@pytest.mark.parametrize("root", ["", " "])
def test_a_storage_has_a_name(root: str) -> None:
    with pytest.raises(UserError, match="storage is empty"):
        Store(root)


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "..", "a/../../b", "/etc/passwd", "a\0b", "x" * 300]
)
def test_names_do_not_lead_out_of_a_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret")
    for folder in (
        Store(tmp_path / "store").folder("runs", name),
        Store(tmp_path).folder("a", "b"),
    ):
        with pytest.raises(UserError, match="name of something in a storage"):
            folder.read(name)


def test_an_object_of_a_later_version_is_refused(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("reports", "my")
    folder.write_object("report.json", {"answer": "none"})
    assert folder.read_json("report.json") == {"schema": SCHEMA, "answer": "none"}
    folder.write_json("report.json", {"schema": SCHEMA + 1})
    with pytest.raises(UserError, match="later version"):
        folder.read_json("report.json")
