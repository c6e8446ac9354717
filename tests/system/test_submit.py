"""Commands that run as jobs of a Ray cluster, with the code of the client."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from augury.cli import versions
from augury.core.store import Store
from tests.ray_head import Head, ray_head
from tests.system.test_main_job import write_experiment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


def augury(
    head: Head, directory: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "augury.cli", *words],
        text=True,
        capture_output=True,
        check=False,
        timeout=600,
        cwd=directory,
        env=head.environment | variables,
    )


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """A directory with an experiment file, and the text beside it."""
    path = write_experiment(tmp_path / "work", baseline=False)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["training"] |= {"max_updates": 20, "validate_every": 10}
    content["execution"] = {"executor": "local", "threads": 1}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_an_address_runs_the_command_there(head: Head, experiment: Path, tmp_path: Path) -> None:
    storage = str(tmp_path / "results")
    train = ["train", experiment.name, "--storage", storage, "--address", head.dashboard]
    done = augury(head, experiment.parent, *train)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answer   On test, words reaches BLEU" in done.stdout
    assert "differs from the client" not in done.stdout
    assert len(Store(storage).addresses("runs")) == 1
    plain = re.search("plain +(ray job submit .*)", done.stderr)
    assert plain is not None
    line = re.sub("--submission-id [^ ]+", "", plain[1])
    again = subprocess.run(
        line,
        shell=True,
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
        cwd=experiment.parent,
        env=head.environment,
    )
    assert again.returncode == 0, again.stdout + again.stderr
    assert "found, not trained again" in again.stdout


def test_the_code_of_the_client_runs(head: Head, tmp_path: Path) -> None:
    """Also where the cluster has another one installed."""
    changed = tmp_path / "changed"
    for package in versions.packages():
        shutil.copytree(package, changed / package.name)
    with open(changed / "augury" / "cli" / "listing.py", "a", encoding="utf-8") as file:
        file.write("\nprint('code of the client')\n")
    work = tmp_path / "work"
    work.mkdir()
    listed = augury(
        head, work, "submit", "--address", head.address, "list", "regimes", PYTHONPATH=str(changed)
    )
    assert listed.returncode == 0, listed.stdout + listed.stderr
    assert "code of the client" in listed.stdout and "differs" not in listed.stdout


def test_a_detached_job_is_followed_and_stopped(
    head: Head, experiment: Path, tmp_path: Path
) -> None:
    words = ["train", experiment.name, "--storage", str(tmp_path / "results")]
    endless = ["--set", "training.max_updates=1000000", "--set", "training.patience=1000000"]
    detached = augury(
        head, experiment.parent, "submit", "--detach", "--json", "--", *words, *endless
    )
    assert detached.returncode == 0, detached.stderr
    job = json.loads(detached.stdout)["job"]
    followed = subprocess.Popen(
        [sys.executable, "-m", "augury.cli", "submit", "--follow", job],
        text=True,
        stdout=subprocess.PIPE,
        env=head.environment,
    )
    assert followed.stdout is not None
    for text in followed.stdout:
        if "update" in text:
            break
    stopped = augury(head, tmp_path, "submit", "--stop", job)
    assert "is being stopped" in stopped.stdout, stopped.stderr
    followed.communicate(timeout=120)
    assert followed.returncode == 1
    assert "has ended already" in augury(head, tmp_path, "submit", "--stop", job).stdout


def test_a_command_that_fails_there_fails_here(head: Head, tmp_path: Path) -> None:
    failed = augury(head, tmp_path, "submit", "train", "missing.yaml", "--storage", "s3://bucket")
    assert failed.returncode == 1 and "no experiment file 'missing.yaml'" in failed.stdout
    unknown = augury(head, tmp_path, "submit", "--follow", "nothing")
    assert unknown.returncode == 2 and "no job 'nothing'" in unknown.stderr
