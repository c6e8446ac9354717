"""Plug-in files that stored runs name run only where someone has agreed to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from augury.augment.operator import OPERATORS
from augury.cli import main
from augury.core import agreed_code, plugin_files
from augury.core.errors import UserError

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
    """A plug-in that nobody has agreed to."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(agreed_code.ENVIRONMENT, "")
    file = tmp_path / "upper.py"
    file.write_text(OPERATOR.format(proof=str(proof)))
    return file


@pytest.mark.parametrize("pinned", [False, True])
def test_code_that_a_storage_names_does_not_run(plugin: Path, proof: Path, pinned: bool) -> None:
    name = plugin_files.reference(str(plugin)) if pinned else str(plugin)
    with pytest.raises(UserError, match=r"--allow-code"):
        OPERATORS.find(name)
    assert not proof.exists()


def test_what_a_user_names_runs_then_and_later(
    plugin: Path, proof: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with agreed_code.named_by_user():
        name = OPERATORS.reference(str(plugin))
    monkeypatch.setenv(agreed_code.ENVIRONMENT, "")  # another process, another day
    assert OPERATORS.find(name).__name__ == "Upper" and proof.exists()


def test_a_changed_file_is_agreed_to_anew(plugin: Path, proof: Path) -> None:
    with agreed_code.named_by_user():
        OPERATORS.reference(str(plugin))
    plugin.write_text(plugin.read_text() + "\n# changed\n")
    with pytest.raises(UserError, match="--allow-code"):
        OPERATORS.find(str(plugin))
    assert not proof.exists()


def test_a_run_cannot_bring_its_code(
    plugin: Path, proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`translate` of a run whose task is a file, as in the storage of someone else."""
    run = tmp_path / "results" / "runs" / ("a" * 16) / "seed-1"
    run.mkdir(parents=True)
    description = {"name": "x", "address": "a" * 16, "seed": 1, "task": str(plugin)}
    experiment = {"name": "x", "task": str(plugin), "corpus": {}}
    content = {"address": "a" * 16, "seed": 1, "experiment": experiment, "inputs": []}
    content |= dict.fromkeys(["tokens", "views", "records", "fits", "pieces", "left_out"], {})
    content |= {"tokenizer": "", "data_factor": 1.0, "epochs_by_view": {}}
    (run / "run.json").write_text(json.dumps({**description, "run": content}))
    assert main(["translate", str(run)]) == 2
    assert "--allow-code" in capsys.readouterr().err and not proof.exists()


def test_the_flag_agrees_and_is_remembered(plugin: Path, proof: Path) -> None:
    code = (
        "import sys; from augury.core import agreed_code; from augury.augment.operator import "
        "OPERATORS; sys.argv[2:] and agreed_code.allow_any(); OPERATORS.find(sys.argv[1])"
    )
    for arguments, runs in (([], False), (["allow"], True), ([], True)):
        proof.unlink(missing_ok=True)
        command = [sys.executable, "-c", code, str(plugin), *arguments]
        subprocess.run(command, check=runs, capture_output=True, env=dict(os.environ))
        assert proof.exists() == runs


def test_workers_run_what_their_driver_sends(
    plugin: Path, local_ray: object, tmp_path: Path
) -> None:
    """On a machine where nothing is remembered; the driver has checked."""
    import ray

    environment = {agreed_code.ENVIRONMENT: "", "XDG_STATE_HOME": str(tmp_path / "elsewhere")}

    @ray.remote(runtime_env={"env_vars": environment})
    def find(name: str) -> str:
        return str(OPERATORS.find(name).__name__)

    assert ray.get(find.remote(str(plugin))) == "Upper"
    with pytest.raises(UserError):
        OPERATORS.find(str(plugin))
