"""Commands on a storage that is mounted read-only, and on a disk that gets full.

Run in a mount namespace of its own: `unshare -rm python -m tests.system.mounted DIRECTORY`.
Prints what the commands returned and said, as JSON.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import yaml

from augury.cli import main
from tests import tiny

SMALL, LARGE = "400k", "30m"
"""Sizes of the disk, before and after the user has made room."""


def run(*command: str) -> dict[str, Any]:
    """Run a command of augury; return its exit code and what it has said."""
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as error:
        code = main(command)
    return {"code": code, "output": output.getvalue(), "error": error.getvalue()}


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def weights(storage: Path) -> dict[str, str]:
    """Return the final weights of every run of a storage, in hexadecimal digits."""
    return {
        str(path.relative_to(storage)): path.read_bytes().hex()
        for path in sorted(storage.glob("runs/*/*/weights.safetensors"))
    }


def leftovers(storage: Path) -> list[str]:
    """Return the files of a storage that were being written."""
    return [str(path) for path in storage.rglob(".tmp-*")]


def read_only(place: Path, experiment: Path) -> Iterator[tuple[str, Any]]:
    """Mount a finished storage read-only; yield the results of commands on it."""
    storage = str(place / "results")
    (model,) = place.glob("results/runs/*/seed-1/ctranslate2")
    model.rename(place / "ctranslate2")  # as in a storage whose run was never asked to translate
    mount("--bind", storage, storage)
    mount("-o", "remount,bind,ro", storage)
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"su galu"))
    yield "translate", run("translate", "tiny/tiny/1", "--storage", storage)
    yield "compare", run("compare", "tiny/tiny/1", "tiny/tiny/2", "--storage", storage)
    yield "runs", run("runs", storage)
    yield "verify", run("verify", storage)
    exported = ["--to", "ctranslate2", "--storage", storage, "--output", str(place / "exported")]
    yield "export", run("export", "tiny/tiny/1", *exported)
    yield "train", run("train", str(experiment), "--storage", storage)
    yield "train more", run("train", str(experiment), "--storage", storage, "--seeds", "3")
    yield "watch", run("watch", storage, "--once")


def full(place: Path, experiment: Path) -> Iterator[tuple[str, Any]]:
    """Train on a disk that gets full, and again when there is room; yield the results."""
    disk = place / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk))
    command = ["train", str(experiment), "--storage", str(disk / "results")]
    yield "full", run(*command)
    yield "leftovers", leftovers(disk)
    mount("-o", f"remount,size={LARGE}", str(disk))
    yield "room", run(*command)
    yield "equal", weights(disk / "results") == weights(place / "results")


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    file = directory / "tiny.yaml"
    model = {**tiny.OF_TASK["nmt"]["model"], "hidden_size": 32, "feedforward_size": 64}
    content = tiny.content("nmt", directory / "results", model=model, seeds=[1, 2])
    file.write_text(yaml.safe_dump(content))
    trained = run("train", str(file))
    json.dump(
        dict([("trained", trained), *full(directory, file), *read_only(directory, file)]),
        sys.stdout,
    )
