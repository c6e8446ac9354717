"""Read-only storage, on which finished runs can be used, and disks that get full.

The commands run in a mount namespace of their own, in which this file is a program.
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from tests import tiny
from tests.run_folders import weights

NAMESPACE = ["unshare", "--map-root-user", "--mount"]
SMALL, LARGE = "400k", "30m"
"""Sizes of the disk, before and after the user has made room."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["read_only", "full"])
def test_a_storage_that_cannot_be_written(kind: str, tmp_path: Path) -> None:
    if subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        pytest.skip("this machine lets nobody mount in a namespace of their own")
    command = [*NAMESPACE, sys.executable, "-m", "tests.system.test_storage_faults"]
    finished = subprocess.run([*command, kind, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    assert finished.returncode == 0, finished.stderr


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def run(*command: str, code: int = 0, said: str = "") -> None:
    """Run a command; where it fails, its last message is its only one, and says why."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as error:
        returned = main(command)
    messages = error.getvalue()
    assert returned == code, f"{command}: {messages}"
    if code:
        lines = messages.splitlines()
        assert [line for line in lines if line.startswith("augury:")] == lines[-1:], messages
        assert said in lines[-1] and "Errno" not in messages, messages


def read_only(place: Path, experiment: str) -> None:
    """Use a finished storage that is mounted read-only."""
    storage = str(place / "results")
    there = ["--storage", storage]
    (model,) = place.glob("results/runs/*/seed-1/ctranslate2")
    model.rename(place / "ctranslate2")  # as in a storage whose run was never asked to translate
    mount("--bind", storage, storage)
    mount("-o", "remount,bind,ro", storage)
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"su galu"))
    run("translate", "tiny/tiny/1", *there)
    run("compare", "tiny/tiny/1", "tiny/tiny/2", *there)
    run("runs", storage)
    run("runs", storage, "--verify")
    run("export", "tiny/tiny/1", "--to", "ctranslate2", *there, "--output", str(place / "exported"))
    run("train", experiment, *there)
    run("train", experiment, *there, "--seeds", "3", code=1, said="read-only file system")


def full(place: Path, experiment: str) -> None:
    """Train on a disk that gets full, and again when there is room."""
    disk = place / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk))
    command = ["train", experiment, "--storage", str(disk / "results")]
    run(*command, code=1, said="no space left on device")
    assert not [*disk.rglob(".tmp-*")]
    mount("-o", f"remount,size={LARGE}", str(disk))
    run(*command)
    assert weights(disk / "results") == weights(place / "results") != {}


if __name__ == "__main__":
    _, kind, directory = sys.argv
    place = Path(directory)
    model = {**tiny.OF_TASK["nmt"]["model"], "hidden_size": 32, "feedforward_size": 64}
    content = tiny.content("nmt", place / "results", model=model, seeds=[1, 2])
    (place / "tiny.yaml").write_text(yaml.safe_dump(content))
    run("train", str(place / "tiny.yaml"))
    {"read_only": read_only, "full": full}[kind](place, str(place / "tiny.yaml"))
