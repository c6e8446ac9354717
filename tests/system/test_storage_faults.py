"""Read-only storage, on which finished runs can be used, and disks that get full."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NAMESPACE = ["unshare", "--map-root-user", "--mount"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of `mounted`, by name."""
    if subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        pytest.skip("this machine lets nobody mount in a namespace of their own")
    directory = tmp_path_factory.mktemp("faults")
    command = [*NAMESPACE, sys.executable, "-m", "tests.system.mounted", str(directory)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return dict(json.loads(finished.stdout))


@pytest.mark.parametrize(
    "verb", ["trained", "translate", "compare", "runs", "verify", "export", "train"]
)
def test_finished_runs_can_be_used_on_a_read_only_storage(
    results: dict[str, Any], verb: str
) -> None:
    assert results[verb]["code"] == 0, results[verb]["error"]


@pytest.mark.parametrize(
    ("verb", "code", "said"),
    [
        ("train more", 1, "is on a read-only disk"),
        ("watch", 2, "/results --serve 0"),
        ("full", 1, "no space is left for"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    results: dict[str, Any], verb: str, code: int, said: str
) -> None:
    assert results[verb]["code"] == code
    lines = results[verb]["error"].splitlines()
    assert [line for line in lines if line.startswith("augury:")] == lines[-1:]
    assert said in lines[-1] and "Errno" not in results[verb]["error"]


def test_a_run_on_a_full_disk_goes_on_when_there_is_room(results: dict[str, Any]) -> None:
    assert results["leftovers"] == []
    assert results["room"]["code"] == 0, results["room"]["error"]
    assert results["equal"]
