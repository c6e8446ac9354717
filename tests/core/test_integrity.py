"""Damage to stored files is found at the first read, and what can be made again is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core import store as stores
from augury.core.errors import UserError
from augury.core.integrity import Damaged, seal
from augury.core.locks import make_once, usable
from augury.core.store import MANIFEST, SCHEMA, Folder, Store

CONTENT = b"one\ntwo\nthree\n"


def made(root: object) -> Folder:
    """A finished folder with a file, and one in a subfolder."""
    folder = Store(str(root)).folder("corpora", "abc")
    folder.write("part", CONTENT)
    folder.sub("tokenizer").write("pieces", b"12")
    folder.finish({"rows": 3})
    return folder


def change(folder: Folder, name: str, content: bytes) -> Folder:
    """Damage a file behind the back of the process; return the folder as another would open it."""
    folder.write(name, content)
    stores._intact.clear()
    return Folder(folder.root, folder.name)


def edited(manifest: bytes) -> bytes:
    return manifest.replace(b'"rows": 3', b'"rows": 2')


DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "a byte": ("part", lambda old: old.replace(b"two", b"twp"), "part has changed"),
    "the end": ("part", lambda old: old[:-3], "part has 11 bytes instead of 14"),
    "a byte below": ("tokenizer/pieces", lambda old: b"13", "tokenizer/pieces has changed"),
    "a number": (MANIFEST, edited, f"{MANIFEST} is damaged: it has changed"),
    "half": (MANIFEST, lambda old: old[: len(old) // 2], f"{MANIFEST} is damaged: it is no JSON"),
}


@pytest.mark.parametrize("where", ["local", "remote"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_folder_is_named_and_made_anew(
    kind: str, where: str, tmp_path: Path, remote: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path if where == "local" else f"remote://{tmp_path.name}"
    folder = made(root)
    before = {name: folder.read(name) for name in (*folder.files(), MANIFEST)}
    name, damage, said = DAMAGE[kind]
    folder = change(folder, name, damage(folder.read(name)))
    assert (folder.damage() or "").startswith(said) and not usable(folder)
    with pytest.raises(Damaged, match=said):
        folder.local()
    assert make_once(folder, lambda: made(root))
    assert f"{folder.uri}/{said}" in capsys.readouterr().err
    assert {name: folder.read(name) for name in (*folder.files(), MANIFEST)} == before
    assert not make_once(folder, lambda: pytest.fail("it is undamaged"))


def test_a_file_is_checked_when_it_is_read(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert folder.checked("part") == CONTENT
    folder = change(folder, "part", CONTENT.replace(b"t", b"d"))
    with pytest.raises(Damaged, match="corpora/abc/part has changed since it was written: repeat"):
        folder.checked("part")
    folder.remove("part")
    with pytest.raises(Damaged, match="part is missing"):
        folder.checked("part")


def test_a_folder_of_an_earlier_version_is_read_with_a_notice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path)
    folder = change(folder, MANIFEST, b'{"rows": 3}')
    assert folder.damage() is None and folder.manifest() == {"rows": 3}
    assert folder.checked("part") == CONTENT
    assert capsys.readouterr().err.count("without checksums") == 1


def test_a_folder_of_a_later_version_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path)
    content = json.dumps(seal({"schema": 2, "rows": 3})).encode()
    with pytest.raises(UserError, match="later version"):
        change(folder, MANIFEST, content).manifest()


@pytest.mark.parametrize("value", [1.5e-7, "ä\u2028", 10**30, None, [[], {"b": 1, "a": True}]])
def test_a_record_is_as_it_was_written_or_damaged(tmp_path: Path, value: Any) -> None:
    folder = Store(tmp_path).folder("runs", "abc")
    folder.write_record("run.json", {"name": "x", 3: value})
    assert folder.read_record("run.json") == {"schema": SCHEMA, "name": "x", "3": value}
    folder.write("run.json", folder.read("run.json").replace(b'"x"', b'"y"'))
    with pytest.raises(Damaged, match="runs/abc/run.json is damaged: it has changed"):
        folder.read_record("run.json")


def test_a_record_vouches_for_files(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("runs", "abc")
    folder.write("weights", b"12345")
    folder.write_record("outcome.json", {"updates": 3}, ["weights"])
    folder.vouched("outcome.json", "weights")
    folder.write("weights", b"12354")
    with pytest.raises(Damaged, match="runs/abc/weights has changed"):
        folder.vouched("outcome.json", "weights")


def test_a_file_that_is_dropped_is_not_missed(tmp_path: Path) -> None:
    folder = made(tmp_path)
    folder.drop("part")
    assert folder.files() == ["tokenizer/pieces"] and folder.damage() is None
