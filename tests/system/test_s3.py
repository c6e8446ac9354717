"""A storage on S3, whose server refuses every tenth request: training, sweeps, restarts, two
commands at once, records and pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.run_folders import weights
from tests.s3 import SECRET, S3Server, s3_server
from tests.system.test_main_job import augury, write_experiment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

MOST_REQUESTS = 400
"""For the texts, tokens, checkpoints, records and pages of two systems, of which 110 are written;
every further minute adds about twenty."""


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        running.refuse_every = 10
        yield running


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of two systems, each trained in seconds."""
    directory = tmp_path_factory.mktemp("s3")
    path = write_experiment(directory)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["training"] |= {"max_updates": 60, "validate_every": 20}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def undisturbed(experiment: Path) -> dict[str, bytes]:
    """The parameters that training on a local disk ends with."""
    done = augury("train", str(experiment))
    assert done.returncode == 0, done.stderr
    return weights(str(experiment.parent / "store"))


@pytest.fixture(scope="module")
def trained(server: S3Server, experiment: Path) -> str:
    """The URI of a storage in which the experiment has been trained."""
    storage, before = server.uri("augury/trained"), server.asked
    done = augury("train", str(experiment), "--storage", storage, cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert server.asked - before < MOST_REQUESTS
    return storage


def test_a_storage_on_s3_has_the_same_as_a_local_one(
    trained: str, undisturbed: dict[str, bytes], server: S3Server
) -> None:
    assert len(undisturbed) == 2 and weights(trained) == undisturbed
    assert server.refused > 10
    verified = augury("runs", trained, "--verify", "--json")
    assert verified.returncode == 0, verified.stdout


def test_runs_are_sent_shown_and_used(trained: str, server: S3Server, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/mlflow.db"
    tracked = augury("track", trained, "--uri", database, "--json")
    assert json.loads(tracked.stdout)["sent"] == 3, tracked.stderr
    for server.read_only in (True, False):
        done = augury("translate", "words/words/1", "--storage", trained, input="eins zwei\n")
        assert done.returncode == 0 and done.stdout.strip(), done.stderr


def start(experiment: Path, storage: str, messages: Path) -> subprocess.Popen[str]:
    """Start training with its messages in a file."""
    line = [sys.executable, "-m", "augury.cli", "train", str(experiment), "--storage", storage]
    with messages.open("w") as file:
        return subprocess.Popen(
            line, cwd=messages.parent, text=True, stderr=file, stdout=subprocess.DEVNULL
        )


def test_two_commands_at_once_end_with_the_same(
    server: S3Server, experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    storage = server.uri("augury/two")
    files = [tmp_path / name for name in ("one", "other")]
    both = [start(experiment, storage, messages) for messages in files]
    try:
        ended = [process.wait(900) for process in both]
    finally:
        for process in both:
            process.kill()
    messages = [file.read_text(encoding="utf-8") for file in files]
    assert ended == [0, 0], messages
    assert weights(storage) == undisturbed
