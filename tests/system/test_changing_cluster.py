"""A node joins a cluster while a sweep runs on it, is used, and is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from augury.cli import main
from tests.ray_head import Head, ray_head, ray_node
from tests.sweeping.sweeps import QUICK, command_line, processes_of, results, validations, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.trains, pytest.mark.timeout(900)]

# Holds the only CPU of the head until its input ends.
HOLDING = """
import sys, ray
ray.init(sys.argv[1], logging_level="ERROR")
Holder = ray.remote(num_cpus=1)(type("Holder", (), {"ready": lambda self: True}))
holder = Holder.remote()
ray.get(holder.ready.remote())
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    """A cluster with room for a single trial."""
    with ray_head(cpus=1) as running:
        yield running


@contextmanager
def held(head: Head) -> Iterator[subprocess.Popen[str]]:
    """Let the CPU of the head be in use until the input of what is yielded is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, head.gcs],
        env=head.environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        yield holder
    finally:
        holder.kill()


def test_a_late_node_is_used_and_its_loss_costs_nothing(head: Head, tmp_path: Path) -> None:
    space = tmp_path / "quick.py"
    text = Path(QUICK).read_text(encoding="utf-8").replace("seeds=(1, 2)", "seeds=(1,)")
    space.write_text(text.replace("[0, 5]", "[5]"), encoding="utf-8")
    one_thread = ["--set", "execution.threads=1"]
    command = command_line(tmp_path / "swept", *one_thread, space=str(space))
    messages = tmp_path / "messages"
    with held(head) as holder, messages.open("w") as file:
        sweep = subprocess.Popen(
            [sys.executable, "-m", "augury.cli", *command],
            stdout=subprocess.DEVNULL,
            stderr=file,
            text=True,
            env={**head.environment, "RAY_ADDRESS": "auto"},
        )
        try:
            wait_for(lambda: [*tmp_path.glob("swept/sweeps/quick/tune/*/")], sweep)
            assert not validations(tmp_path / "swept")
            with ray_node(head) as node:
                wait_for(lambda: validations(tmp_path / "swept"), sweep)
                started = psutil.Process(node.pid)
                assert processes_of(started, lambda line: "ray::Trial" in line)
                for process in [started, *started.children(recursive=True)]:
                    process.kill()
            holder.kill()
            assert sweep.wait(600) == 0, messages.read_text(encoding="utf-8")
        finally:
            sweep.kill()

    undisturbed = command_line(
        tmp_path / "alone", *one_thread, "--executor", "local", space=str(space)
    )
    assert main(undisturbed) == 0
    assert len(results(tmp_path / "swept")) == 2
    assert results(tmp_path / "swept") == results(tmp_path / "alone")
