"""A command as a job of a Ray cluster, by `ray job submit`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from augury.core.store import Store
from tests.ray_head import Head, ray_head
from tests.system.test_main_job import write_experiment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


def submit(head: Head, directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["ray", "job", "submit", "--address", head.dashboard, "--working-dir", "."]
    return subprocess.run(
        [*command, "--", sys.executable, "-m", "augury.cli", *words],
        text=True,
        capture_output=True,
        check=False,
        timeout=600,
        cwd=directory,
        env=head.environment,
    )


def test_a_job_trains(head: Head, tmp_path: Path) -> None:
    """The text lies beside the file, and is sent with it."""
    path = write_experiment(tmp_path / "work", baseline=False)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["training"] |= {"max_updates": 20, "validate_every": 10}
    content["execution"] = {"executor": "local", "threads": 1}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    train = ["train", path.name, "--storage", str(tmp_path / "results")]
    done = submit(head, path.parent, *train)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "On test, " in done.stdout
    assert len(Store(tmp_path / "results").addresses("runs")) == 1
