"""Definitions of clusters: Ray's and KubeRay's schemas accept them, and heads offer drivers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CLUSTERS = [ROOT / "cluster.yaml", ROOT / "deploy/gcp.yaml", ROOT / "deploy/on-premises.yaml"]
MANIFESTS = [ROOT / "deploy/raycluster.yaml", ROOT / "deploy/rayjob.yaml"]


def name_of(path: Path) -> str:
    return path.stem


def pinned(package: str) -> str:
    """Return the version of a package in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(f"{package}=="))


@pytest.mark.parametrize("path", CLUSTERS, ids=name_of)
def test_ray_accepts_the_cluster_file_and_its_head_keeps_the_dashboard_to_itself(
    path: Path,
) -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    cluster = yaml.safe_load(path.read_text())
    validate_config(prepare_config(cluster))
    start = " ".join(cluster["head_start_ray_commands"])
    assert "--dashboard-host=127.0.0.1" in start
    assert "--autoscaling-config=~/ray_bootstrap_config.yaml" in start
    assert any("-c constraints.txt" in command for command in cluster["setup_commands"])


def cluster_spec(manifest: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = manifest["spec"]
    return spec.get("rayClusterSpec", spec)


@pytest.mark.parametrize("path", MANIFESTS, ids=name_of)
def test_manifests_have_the_versions_of_the_project(path: Path) -> None:
    spec = cluster_spec(yaml.safe_load(path.read_text()))
    assert spec["rayVersion"] == pinned("ray") and spec["authOptions"] == {"mode": "token"}
    version = re.search('^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version is not None
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    images = {group["template"]["spec"]["containers"][0]["image"] for group in groups}
    assert images == {f"registry.example/augury:{version[1]}"}


@pytest.mark.parametrize(
    ("name", "file"), [("shellcheck", "slurm.sh"), ("hadolint", "Containerfile")]
)
def test_linters_see_no_faults(name: str, file: str) -> None:
    """Programs of packages of the extra `test`."""
    subprocess.run([Path(sys.executable).parent / name, ROOT / "deploy" / file], check=True)


def test_a_job_of_slurm_ends_where_ray_does_not_start(tmp_path: Path) -> None:
    """Slurm's own commands stand for a node that starts nothing."""
    commands = {"scontrol": "echo node", "srun": "echo 127.0.0.1; exit 0", "ray": "exit 1"}
    (tmp_path / "bin").mkdir()
    for name, line in {**commands, "activate": ":"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").touch()
    slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node", "SLURM_JOB_NUM_NODES": "1"}
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    places = {"PATH": path, "HOME": str(tmp_path), "VENV": str(tmp_path)}
    done = subprocess.run(
        ["bash", str(ROOT / "deploy/slurm.sh"), "list", "regimes"],
        env={**places, "START_SECONDS": "1", **slurm},
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and "Ray on node did not start" in done.stderr
