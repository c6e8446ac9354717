from __future__ import annotations

import os
import pickle
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from augury.core import store as stores
from augury.core.errors import UserError
from augury.core.locks import locked
from augury.core.store import MANIFEST, SCHEMA, Store


def test_a_folder_counts_only_with_its_marker(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("part-00000", b"x")
    assert not folder.complete
    with pytest.raises(UserError, match="missing or incomplete"):
        folder.manifest()
    folder.finish({"rows": 1})
    assert folder.complete and folder.manifest() == {"schema": SCHEMA, "rows": 1}
    assert pickle.loads(pickle.dumps(folder)).manifest() == folder.manifest()
    by_uri = Store(f"file://{tmp_path}").folder("corpora", "abc")
    assert by_uri.read("part-00000") == b"x"
    assert folder.names() == ["manifest.json", "part-00000"]


def test_a_file_that_fails_while_it_is_written_leaves_nothing(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("corpora", "abc")
    folder.write("file", b"old")
    with pytest.raises(RuntimeError), folder.writing("file") as stream:
        stream.write(b"half")
        raise RuntimeError
    (tmp_path / "corpora" / "abc" / ".tmp-other-1234").write_bytes(b"half")  # of a killed process
    assert folder.read("file") == b"old" and folder.names() == ["file"]
    files = [*(tmp_path / "corpora" / "abc").iterdir()]
    assert {file.name for file in files} == {"file", ".tmp-other-1234"}


def directory(parent: Path, content: str) -> Path:
    """Make a directory that is its owner's alone, as temporary ones are."""
    path = parent / "made"
    path.mkdir(mode=0o700)
    for name in ("model", "state"):
        (path / name).touch(mode=0o600)
        (path / name).write_text(content)
    return path


def test_put_replaces_a_directory_whole_with_the_modes_of_the_umask(tmp_path: Path) -> None:
    folder = Store(tmp_path / "store").folder("runs", "abc")
    before = os.umask(0o027)
    try:
        for content in ("one", "two"):
            folder.put(directory(tmp_path, content), "checkpoint")
            assert not (tmp_path / "made").exists()
    finally:
        os.umask(before)
    assert folder.sub("checkpoint").read("state") == b"two"
    put = Path(folder.path("checkpoint"))
    assert [path.name for path in put.parent.iterdir()] == ["checkpoint"]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (put, put / "model")]
    assert modes == [0o750, 0o640]


def test_what_is_put_on_an_object_store_is_there_when_all_of_it_is(
    tmp_path: Path, remote: Any
) -> None:
    folder = Store("remote://bucket/augury").folder("runs", "abc")
    assert not folder.is_local
    folder.put(directory(tmp_path, "one"), "checkpoint")
    assert folder.sub("checkpoint").complete and not (tmp_path / "made").exists()
    assert folder.sub("checkpoint").names() == [MANIFEST, "model", "state"]
    remote.die_after(1)
    with pytest.raises(OSError, match="the writer died"):
        folder.put(directory(tmp_path, "two"), "checkpoint")
    assert not folder.sub("checkpoint").complete  # neither a mixture nor half of the new one
    remote.die_after(None)
    fetched = tmp_path / "fetched"
    shutil.copytree(tmp_path / "made", fetched)
    (fetched / MANIFEST).touch()
    folder.put(fetched, "checkpoint")
    assert folder.sub("checkpoint").complete and folder.sub("checkpoint").read("state") == b"two"


def test_what_another_process_has_finished_is_read_anew(
    remote: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Store("remote://bucket").folder("runs", "abc")
    folder.write_record("run.json", {"name": "mine"})
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(stores, "_known", {})
        elsewhere.setattr(stores, "downloads", lambda process: tmp_path)
        folder.write_record("run.json", {"name": "theirs"})
        folder.finish({})
    assert folder.complete and folder.read_record("run.json")["name"] == "theirs"


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("", "storage is empty"),
        ("file", "is a file: use a directory or a URI"),
        ("disk/results", "no directory '.*/disk'"),  # of a disk that is not mounted
    ],
)
def test_what_cannot_be_a_storage_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match=message):
        Store(root)
    assert not (tmp_path / "disk").exists()


@pytest.mark.parametrize("name", ["../../../etc/passwd", "a/../../b", "/etc/passwd", "a\0b"])
def test_names_do_not_lead_out_of_a_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret")
    for address in (name, "b"):
        with pytest.raises(UserError, match="name of something in a storage"):
            Store(tmp_path / "store").folder("runs", address).read(name)


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    elsewhere, store = tmp_path / "elsewhere", Store(tmp_path / "store")
    runs = tmp_path / "store" / "runs"
    runs.mkdir(parents=True)
    for address in ("abc", "def"):
        Store(tmp_path).folder("elsewhere", f"{address}/seed-1").write("run.json", b"x")
        (runs / address).symlink_to(elsewhere / address)
    store.folder("runs", "abc").remove()
    store.folder("runs", "def/seed-1").remove()
    assert not [*runs.iterdir()]
    assert len([*elsewhere.glob("*/seed-1/run.json")]) == 2


def test_what_another_process_has_changed_since_a_lock_is_read_anew(
    remote: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Store("remote://bucket").folder("runs", "abc")
    with locked(folder):
        folder.write("history.jsonl", b"mine")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(stores, "_known", {})
        elsewhere.setattr(stores, "downloads", lambda process: tmp_path)
        folder.write("history.jsonl", b"theirs")
    assert folder.read("history.jsonl") == b"theirs"
