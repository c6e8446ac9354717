"""The script for a GPU, on a CPU, where only the packages are installed that it asks for."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.frame import ROOT

pytestmark = pytest.mark.slow

PACKAGES = (
    "cloudpickle",
    "numpy",
    "pandas",
    "psutil",
    "pyarrow",
    "pydantic",
    "PyYAML",
    "sacrebleu",
    "safetensors",
    "scipy",
    "sentencepiece",
    "tokenizers",
    "torch",
    "transformers",
    "xxhash",
)
ABSENT = ("ctranslate2", "loky", "mlflow", "rapidfuzz", "ray", "sacremoses", "zstandard")


def with_requirements(packages: Sequence[str]) -> dict[str, importlib.metadata.Distribution]:
    """Return the installed distributions of packages, and of all that they require."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = list(packages)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found[name] = importlib.metadata.distribution(name)
        for line in found[name].requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python in an environment of these packages, which are links to the ones installed here."""
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=True)
    (site,) = root.glob("lib/python*/site-packages")
    for distribution in with_requirements(PACKAGES).values():
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return root / "bin" / "python"


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "platform"), str(ROOT)])
    return subprocess.run(
        [str(python), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def rows_of(file: Path, measurement: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["measurement"] == measurement]


@pytest.mark.timeout(600)
def test_all_is_measured_without_the_heavy_packages(python: Path, tmp_path: Path) -> None:
    find = "import importlib.util, sys; print(*filter(importlib.util.find_spec, sys.argv[1:]))"
    assert run(python, "-c", find, "torch", *ABSENT).stdout.split() == ["torch"]
    file = tmp_path / "gpu.jsonl"
    small = ("--device", "cpu", "--smallest", "--json", str(file))
    done = run(python, "-m", "benchmarks.gpu", *small)
    assert done.returncode == 0, done.stdout + done.stderr

    errors = {row["what"]: row["gradients"] for row in rows_of(file, "numerics")}
    assert errors["CipherDAug, fp32"] == errors["PGD, fp32"] == 0  # the device is the CPU itself
    assert 0 < errors["plain, bf16"] < 5e-2
    for row in rows_of(file, "resume"):
        assert row["repeated equal"] and row["resumed equal"]
    for row in rows_of(file, "speed")[1:]:
        contender = row["what"].rpartition("fp32, ")[2]
        assert contender in ("plain loop", "engine", "engine, compiled")
        assert row["MFU"] > 0 and row["tokens/s"] > 0
    goals = [
        row["goal"]
        for measurement in ("speed", "objectives", "attacks")
        for row in rows_of(file, measurement)
        if "goal" in row
    ]
    assert ["MFU", "≥", 0.4] in goals and ["times plain loop", "≥", 2] in goals
    assert ["times plain step", "≤", 1.6] in goals and ["times plain step", "≤", 2.6] in goals
    assert [row["what"] for row in rows_of(file, "many")] == ["1 small, fp32", "2 small, fp32"]
    (largest,) = rows_of(file, "budget")
    assert largest["tokens"] == 1_536
    assert all(row["sentences/s"] > 0 for row in rows_of(file, "decoding"))


FAULTS = """
import sys, time
from benchmarks import gpu

gpu.MEASUREMENTS = {
    "machine": (lambda setting: 1 / 0, 60),
    "numerics": (lambda setting: time.sleep(60), 1),
    "resume": (lambda setting: [{"what": "last", "figure": 3}], 60),
}
sys.argv = ["gpu", "--device", "cpu", "--only", *gpu.MEASUREMENTS]
sys.exit(gpu.main())
"""


@pytest.mark.timeout(300)
def test_a_fault_or_a_time_that_is_up_ends_a_measurement_alone(python: Path) -> None:
    done = run(python, "-c", FAULTS)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    failed, late, last = (line.split() for line in done.stdout.splitlines())
    assert failed[0] == "machine" and late[0] == "numerics"
    assert last == ["resume", "last:", "figure", "3"]
