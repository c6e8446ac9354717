"""What nothing in a storage needs is listed, and removed when that is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from augury.cli import main
from augury.core.directories import TEMPORARY
from augury.core.locks import locked
from augury.core.store import Folder, Store
from augury.experiments.stored_runs import unused

USERS = ("runs", "sweeps")
CORPUS, VIEW, OTHER, TOKENS, SWEPT = ("c" * 16, "d" * 16, "e" * 16, "f" * 16, "1" * 16)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A run with tokens of a view of a corpus, a sweep, and what nobody needs."""
    store = Store(tmp_path / "results")
    made_from = {
        f"corpora/{CORPUS}": [],
        f"views/{VIEW}": [CORPUS],
        f"tokens/{TOKENS}": [f"views/{VIEW}"],
        f"corpora/{SWEPT}": [],
        f"views/{OTHER}": [CORPUS],
    }
    for name, inputs in made_from.items():
        folder = store.folder(*name.split("/"))
        folder.write("part", b"12345")
        folder.finish({"inputs": inputs})
    run = store.folder("runs", "0123456789abcdef/seed-1")
    run.write_record("run.json", {"run": {"tokens": {"source": f"tokens/{TOKENS}"}}})
    store.folder("sweeps", "s").write_record("sweep.json", {"inputs": [SWEPT]})
    return store


def listed(store: Store, hours: float = 0.0) -> list[str]:
    return [f"{item.kind} {item.path}" for item in unused(store, hours, USERS)]


UNUSED = [f"text views/{OTHER}"]


def test_what_runs_and_sweeps_are_made_from_is_kept(store: Store) -> None:
    assert listed(store) == UNUSED
    assert listed(store, hours=1) == []  # a process may be about to use it


def test_nothing_is_listed_while_a_process_works(store: Store) -> None:
    with locked(store.folder("views", "2" * 16)):
        assert listed(store) == []


def test_a_command_at_work_is_said(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    items = unused(store, 0.0, USERS)
    with locked(store.folder("views", "2" * 16)):
        assert main(["runs", store.root, "--clean", "--hours", "0"]) == 0
        assert "a command works in" in capsys.readouterr().err
        assert not items[0].remove(store)
    assert store.folder("views", OTHER).complete
    assert items[0].remove(store)


def test_what_killed_processes_have_left_is_found(store: Store) -> None:
    run = Path(store.folder("runs", "0123456789abcdef/seed-1").path())
    (run / ".tmp-weights-1234").write_bytes(b"12")
    (run / "checkpoints" / ".tmp-7-5678" / ".tmp-x").mkdir(parents=True)
    (run / "checkpoints" / ".tmp-7-5678" / "model").write_bytes(b"123")
    Folder(store.root, f"{TEMPORARY}reach-ab").write("ab", "ab")
    with locked(store.folder("tokens", TOKENS)):
        names = listed(store)
    prefix = "runs/0123456789abcdef/seed-1"
    assert names == [
        f"temporary {TEMPORARY}reach-ab",
        f"temporary {prefix}/.tmp-weights-1234",
        f"temporary {prefix}/checkpoints/.tmp-7-5678",
    ]


def test_it_is_removed_when_that_is_asked_for(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name for path in Path(store.root).rglob("*")}
    assert main(["runs", store.root, "--clean", "--hours", "0", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [item["path"] for item in result["unused"]] == [item[5:] for item in UNUSED]
    assert {path.name for path in Path(store.root).rglob("*")} == before
    assert main(["runs", store.root, "--clean", "--hours", "0", "--yes"]) == 0
    assert "1 text, 0.0 MB, removed" in capsys.readouterr().out
    assert listed(store) == [] and store.folder("views", VIEW).complete
    sent = Folder(store.root, "mlartifacts/1/artifacts")  # copies without what they vouch for
    sent.write("file", "")
    sent.write_record("scores.json", {}, ["file"])
    sent.remove("file")
    assert main(["runs", store.root, "--verify"]) == 0
