"""A storage is checked file by file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import MANIFEST, Folder, Store
from augury.core.verification import verify


@pytest.mark.parametrize("where", ["local", "remote"])
def test_damaged_files_are_named(where: str, tmp_path: Path, remote: Any) -> None:
    store = Store(tmp_path if where == "local" else f"remote://{tmp_path.name}")
    text, run = store.folder("corpora", "abc"), store.folder("runs", "def/seed-1")
    text.write("part", b"12")
    text.sub("tokenizer").write("pieces", b"34")
    text.write_json("fitted.json", {"cycles": ["ab"]})
    text.finish({})
    run.write("weights", b"56")
    run.write_record("outcome.json", {"updates": 3}, ["weights"])
    run.write_json("label.json", {"name": "best"})
    Folder(store.root, ".locks").write("abc", b"no JSON")

    def damage() -> dict[str, str]:
        checked = verify(store, (MANIFEST, "outcome.json"))
        return {file.name: file.damage for file in checked if file.damage}

    assert damage() == {}
    assert len(list(verify(store, (MANIFEST, "outcome.json")))) == 7
    text.write("part", b"13")
    text.sub("tokenizer").remove("pieces")
    text.write_json("fitted.json", {"cycles": ["ba"]})  # JSON still
    run.write("outcome.json", run.read("outcome.json").replace(b"3", b"4", 1))
    run.write("label.json", b'{"name"')
    damaged = damage()
    assert damaged.pop("runs/def/seed-1/label.json").startswith("is damaged: it is no JSON")
    assert damaged == {
        "corpora/abc/fitted.json": "has changed since it was written",
        "corpora/abc/part": "has changed since it was written",
        "corpora/abc/tokenizer/pieces": "is missing",
        "runs/def/seed-1/outcome.json": "is damaged: it has changed since it was written",
    }


def test_files_of_other_programs_are_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.folder("sweeps", "beta/tune/1").write("result.json", b"{}\n{}\n")
    store.folder("sweeps", "beta").write_json("state.json", {})
    names = [file.name for file in verify(store, (), ("sweeps/*/tune/*",))]
    assert names == ["sweeps/beta/state.json"]
