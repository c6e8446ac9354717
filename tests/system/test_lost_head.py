"""A cluster whose head dies while it trains."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from augury.cli import main
from augury.core.store import Folder, Store
from augury.training import history
from tests.ray_head import Head, ray_head
from tests.run_folders import weights
from tests.system.test_main_job import wait_for_update, write_experiment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,  # a head gets most of a minute to come back
    pytest.mark.trains,
    pytest.mark.timeout(1200),
]


def experiment(directory: Path) -> Path:
    """Write an experiment that trains for seconds on the cluster that `auto` finds."""
    on_ray = {"threads": 1}
    path = write_experiment(directory, execution=on_ray, baseline=False)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["training"] |= {"max_updates": 120, "validate_every": 20}
    content |= {"augment": [], "regime": "plain", "vocabulary": {"size": 60}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def start(head: Head, path: Path, messages: Path) -> subprocess.Popen[str]:
    """Start training on a cluster, with its messages in a file."""
    line = [sys.executable, "-m", "augury.cli", "train", str(path)]
    with messages.open("w") as file:
        return subprocess.Popen(
            line,
            text=True,
            stderr=file,
            stdout=subprocess.DEVNULL,
            env={**head.environment, "RAY_ADDRESS": "auto"},
        )


def test_a_lost_head_is_one_line_and_its_training_continues(tmp_path: Path) -> None:
    path, messages = experiment(tmp_path), tmp_path / "messages"
    with ray_head(cpus=2) as head:
        training = start(head, path, messages)
        try:
            wait_for_update(Store(tmp_path / "store"), 20, training)
            started = psutil.Process(head.process)
            for process in [started, *started.children(recursive=True)]:
                process.kill()
            assert training.wait(120) == 1
        finally:
            training.kill()
    said = messages.read_text(encoding="utf-8")
    (line,) = [line for line in said.splitlines() if line.startswith("augury: ")]
    assert "Ray" in line and "continue" in line
    assert "rpc_client" not in said and "Traceback" not in said
    lost = time.time()
    assert main(["train", str(path)]) == 0
    (run,) = (tmp_path / "store").glob("runs/*/seed-*")
    first, *_ = history.read(Folder(str(run), ""))
    assert first["time"] < lost  # what was trained before is not trained again
    assert main(["train", str(path), "--storage", str(tmp_path / "undisturbed")]) == 0
    assert weights(tmp_path / "store") == weights(tmp_path / "undisturbed")
