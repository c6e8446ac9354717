"""Damage to stored files is found at the first read, and what can be made again is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core import store as stores
from augury.core.integrity import Damaged
from augury.core.locks import make_once, usable
from augury.core.store import MANIFEST, SCHEMA, Folder, Store
from augury.core.verification import verify

CONTENT = b"one\ntwo\nthree\n"


@pytest.fixture(params=["local", "remote"])
def root(request: pytest.FixtureRequest, tmp_path: Path, remote: Any) -> str:
    """The root of a storage on a disk, and of one that is not mounted."""
    return str(tmp_path) if request.param == "local" else f"remote://{tmp_path.name}"


def made(root: str) -> Folder:
    """A finished folder with a file, and one in a subfolder."""
    folder = Store(root).folder("corpora", "abc")
    folder.write("part", CONTENT)
    folder.sub("tokenizer").write("pieces", b"12")
    folder.finish({"rows": 3})
    return folder


def change(folder: Folder, name: str, content: bytes) -> Folder:
    """Damage a file behind the back of the process; return the folder as another would open it."""
    folder.write(name, content)
    stores._known.clear()
    return Folder(folder.root, folder.name)


def edited(manifest: bytes) -> bytes:
    return manifest.replace(b'"rows": 3', b'"rows": 2')


DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "the end": ("part", lambda old: old[:-3], "part has 11 bytes instead of 14"),
    "a byte below": ("tokenizer/pieces", lambda old: b"13", "tokenizer/pieces has changed"),
    "a number": (MANIFEST, edited, f"{MANIFEST} is damaged: it has changed"),
    "half": (MANIFEST, lambda old: old[: len(old) // 2], f"{MANIFEST} is damaged: it is no JSON"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_folder_is_named_and_made_anew(
    kind: str, root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(root)
    before = {name: folder.read(name) for name in (*folder.files(), MANIFEST)}
    name, damage, said = DAMAGE[kind]
    folder = change(folder, name, damage(before[name]))
    said = f"{folder.uri}/{said}"
    assert (folder.damage() or "").startswith(said) and not usable(folder)
    with pytest.raises(Damaged, match=said):
        folder.local()
    with pytest.raises(Damaged, match=said):
        folder.read("part" if name == MANIFEST else name)

    def anew() -> None:
        assert not folder.exists()  # what is left would be taken for finished
        made(root)

    assert make_once(folder, anew)
    assert said in capsys.readouterr().err
    assert {name: folder.read(name) for name in before} == before
    assert not make_once(folder, lambda: pytest.fail("it is undamaged"))


@pytest.mark.parametrize("value", ["ä\u2028", [1.5e-7, {"b": 10**30, "a": None}]])
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
    assert folder.damage("outcome.json") is None
    folder.write("weights", b"12354")
    assert str(folder.damage("outcome.json")).endswith(
        "runs/abc/weights has changed since it was written"
    )


def test_a_storage_is_checked_file_by_file(root: str) -> None:
    store = Store(root)
    text, run = store.folder("corpora", "abc"), store.folder("runs", "def/seed-1")
    text.write("part", b"12")
    text.sub("tokenizer").write("pieces", b"34")
    text.finish({})
    run.write("weights", b"56")
    run.write_record("outcome.json", {"updates": 3}, ["weights"])

    def damage() -> dict[str, str]:
        checked = verify(store, (MANIFEST, "outcome.json"))
        return {file.name: file.damage for file in checked if file.damage}

    assert damage() == {}
    text.write("part", b"13")
    text.sub("tokenizer").remove("pieces")
    run.write("outcome.json", run.read("outcome.json").replace(b"3", b"4", 1))
    assert damage() == {
        "corpora/abc/part": "has changed since it was written",
        "corpora/abc/tokenizer/pieces": "is missing",
        "runs/def/seed-1/outcome.json": "is damaged: it has changed since it was written",
    }


def test_what_is_removed_while_a_storage_is_checked_is_not_damaged(root: str) -> None:
    store = Store(root)
    checkpoint = store.folder("runs", "def/seed-1/checkpoints/8")
    checkpoint.write("weights", b"12")
    checkpoint.finish({})
    checked = verify(store, (MANIFEST,))
    assert next(checked).name.endswith(MANIFEST)
    checkpoint.remove()
    assert list(checked) == []
