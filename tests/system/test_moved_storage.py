"""Every verb works on a storage that was moved, and nothing is trained again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from augury.cli import main
from tests.cli.quick_table import quick
from tests.sweeping.sweeps import QUICK

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(900)]

TABLE = str(Path(__file__).parents[1] / "cli" / "quick_table.py")
SMALL = ["--seeds", "1", "--set", "training.max_updates=16"]
TRACKED = ["--set", "tracking.enabled=true"]
RAYS = "tune"
"""The folder of a sweep in which Ray keeps logs, with paths that nothing reads."""


def commands(file: str, storage: str) -> dict[str, list[str]]:
    """Return the command of every verb that makes something in a storage."""
    there = ["--storage", storage]
    return {
        "train": ["train", file, "--set", f"storage={storage}", *TRACKED],
        "sweep": ["sweep", QUICK, "--name", "quick", *there, *SMALL, *TRACKED],
        "reproduce": ["reproduce", TABLE, *there, *SMALL, "--rows", "baseline", "agreement"],
        "analyze": ["analyze", "quick/keys/1", *there, "--which", "buckets"],
    }


@pytest.fixture(scope="module")
def moved(local_ray: Any, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A storage with everything in it, after `mv`."""
    directory = tmp_path_factory.mktemp("moved")
    systems = {"baseline": {"augment": [], "regime": "plain"}, "keys": {}}
    training = {**quick["training"], "max_updates": 16}
    content = {**quick, "training": training, "systems": systems, "storage": "unused"}
    file = directory / "quick.yaml"
    file.write_text(yaml.safe_dump(content))
    old, new = directory / "old" / "results", directory / "new" / "elsewhere"
    old.parent.mkdir()
    new.parent.mkdir()
    for verb, command in commands(str(file), str(old)).items():
        assert main(command) == 0, verb
    shutil.move(old, new)
    shutil.rmtree(old.parent)
    return SimpleNamespace(file=str(file), old=str(old), root=str(new))


def weights(root: str) -> dict[str, int]:
    """Return the time at which every model of a storage was written."""
    return {str(file): file.stat().st_mtime_ns for file in Path(root).rglob("*.safetensors")}


def test_no_file_names_the_old_place(moved: SimpleNamespace) -> None:
    """Pages and MLflow's store do, until a command writes them again."""
    again = {".html", ".db"}
    files = [file for file in Path(moved.root).rglob("*") if file.is_file()]
    naming = [
        file
        for file in files
        if RAYS not in file.relative_to(moved.root).parts
        and file.suffix not in again
        and moved.old.encode() in file.read_bytes()
    ]
    assert not naming


@pytest.mark.parametrize("verb", ["train", "sweep", "reproduce", "analyze"])
def test_what_is_there_is_found(
    moved: SimpleNamespace, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = weights(moved.root)
    assert main([*commands(moved.file, moved.root)[verb], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert weights(moved.root) == before
    assert not Path(moved.old).parent.exists()
