"""Plug-in files that a storage names run only where the command allows it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from augury.augment.operator import OPERATORS
from augury.cli import main
from augury.core import plugin_files
from augury.core.errors import UserError
from augury.core.store import Store
from tests import tiny

OPERATOR = """
from augury.augment.operator import Operator
from pathlib import Path

Path({proof!r}).write_text("it ran")

class Upper(Operator):
    def bind(self, fitted, store):
        return lambda block: block

OPERATOR = Upper
"""


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    """A file that exists once the plug-in has run."""
    return tmp_path / "proof"


@pytest.fixture
def plugin(tmp_path: Path, proof: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in that nobody has named."""
    monkeypatch.setenv(plugin_files.ENVIRONMENT, "")
    file = tmp_path / "upper.py"
    file.write_text(OPERATOR.format(proof=str(proof)))
    return file


def test_what_a_user_names_runs_in_this_command_and_those_that_it_starts(
    plugin: Path, proof: Path
) -> None:
    with pytest.raises(UserError, match="--allow-code"):
        OPERATORS.find(str(plugin))
    assert not proof.exists()
    with plugin_files.named_by_user():
        name = OPERATORS.reference(str(plugin))
    assert OPERATORS.find(name).__name__ == "Upper" and proof.exists()
    assert os.environ[plugin_files.ENVIRONMENT].strip() == name.rpartition("@")[2]
    assert plugin_files.allowing(f"file: {name}\n".encode()) == ["--allow-code"]
    assert plugin_files.allowing(b"name: me@example\n") == []
    plugin.write_text(plugin.read_text() + "\n# changed\n")
    with pytest.raises(UserError, match="--allow-code"):
        OPERATORS.find(str(plugin))


def test_a_run_cannot_bring_its_code(
    plugin: Path, proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`translate` of a run whose task is a file, as in the storage of someone else."""
    run = tmp_path / "results" / "runs" / ("a" * 16) / "seed-1"
    description = {"name": "x", "address": "a" * 16, "seed": 1, "task": str(plugin)}
    experiment = {"name": "x", "task": str(plugin), "corpus": {}}
    content = {"address": "a" * 16, "seed": 1, "experiment": experiment, "inputs": []}
    content |= dict.fromkeys(["tokens", "views", "records", "fits", "pieces", "left_out"], {})
    content |= {"tokenizer": "", "data_factor": 1.0}
    folder = Store(tmp_path / "results").folder("runs", f"{'a' * 16}/seed-1")
    folder.write_record("run.json", {**description, "run": content})
    assert main(["translate", str(run)]) == 2
    assert "--allow-code" in capsys.readouterr().err and not proof.exists()


@pytest.mark.parametrize("mark", ["sweeps/x/sweep.json", "storage.json"])
@pytest.mark.parametrize("extended", [True, False])
def test_a_file_in_a_storage_cannot_bring_its_code(
    plugin: Path,
    proof: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    extended: bool,
    mark: str,
) -> None:
    """An experiment that a sweep recommends, any other that lies there, and one that extends it."""
    folder = tmp_path / "results" / "sweeps" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "results" / mark).write_text("{}")
    content = tiny.content(
        "nmt", tmp_path / "mine", augment=[{"operator": str(plugin)}], regime="multi_source"
    )
    (folder / "recommended.yaml").write_text(yaml.safe_dump(content))
    file = folder / "recommended.yaml"
    if extended:
        file = tmp_path / "mine.yaml"
        file.write_text("extends: results/sweeps/x/recommended.yaml\n")
    assert main(["train", str(file)]) == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert str(plugin) in line and "--allow-code" in line and not proof.exists()
    assert main(["config", "--resolved", str(file), "--allow-code"]) == 0
    assert proof.exists()


@pytest.mark.parametrize("mark", ["run.json", "../../../storage.json"])
def test_a_plugin_in_a_storage_is_not_run_because_it_is_named(
    plugin: Path, proof: Path, tmp_path: Path, mark: str
) -> None:
    kept = tmp_path / "results" / "runs" / "a" / "seed-1" / "plugins"
    kept.mkdir(parents=True)
    (kept.parent / mark).write_text("{}")
    stored = plugin.rename(kept / plugin.name)
    with plugin_files.named_by_user(), pytest.raises(UserError, match="--allow-code"):
        OPERATORS.find(OPERATORS.reference(str(stored)))
    assert not proof.exists()
