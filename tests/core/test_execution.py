from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augury.core import ray_connection
from augury.core.errors import UserError
from augury.core.execution import (
    LITTLE_SECONDS,
    Execution,
    ExecutorName,
    Item,
    LocalExecutor,
    RayExecutor,
)
from augury.core.progress import ProgressLine

Anywhere = LocalExecutor | RayExecutor
NUMBERS = [{"number": number} for number in range(23)]


@pytest.fixture(params=["local", pytest.param("ray", marks=pytest.mark.slow)])
def executor(request: pytest.FixtureRequest) -> Anywhere:
    """Each of the two executors."""
    if request.param == "local":
        return LocalExecutor()
    request.getfixturevalue("local_ray")
    return RayExecutor()


def echo() -> Any:
    return lambda item: {"rows": 1, **item}


def test_plain_values_come_back_as_they_are(executor: Anywhere) -> None:
    items: list[Item] = [
        {
            "text": "Haus ﬁn \U0001f642",
            "ids": [[[1, 2], [3, 4]], [[5], []]] if odd else [],
            "facts": [{"name": "a", "size": odd}],
            "floats": np.arange(odd, dtype=np.float32) / 3,
            "pairs": np.zeros((odd, 2), np.int64),
        }
        for odd in (0, 1, 3)
    ]
    with ProgressLine("echo", 3) as progress:
        results = executor.map(echo, items, progress)
    assert progress.done == 3
    for item, result in zip(items, results, strict=True):
        for name in ("text", "ids", "facts"):
            assert result[name] == item[name]
        for name in ("floats", "pairs"):
            array = np.asarray(result[name])
            assert array.dtype == item[name].dtype and np.array_equal(array, item[name])


def complaining() -> Any:
    raise UserError("there is no model")


def test_a_user_error_of_a_function_is_one_here(executor: Anywhere) -> None:
    with pytest.raises(UserError, match="no model"), ProgressLine("items", 23) as progress:
        executor.map(complaining, NUMBERS, progress)


def dying(item: Item) -> Item:
    """Kill this process once, at number 3."""
    mark = Path(str(item["mark"]))
    if item["number"] == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"rows": 1, "number": item["number"]}


@pytest.mark.slow
def test_what_a_killed_worker_leaves_is_done_by_another(local_ray: Any, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    with ProgressLine("numbers", 23) as progress:
        items: list[Item] = [{**item, "mark": str(mark)} for item in NUMBERS]
        results = RayExecutor().map(lambda: dying, items, progress)
    assert mark.exists()
    assert [result["number"] for result in results] == list(range(23)) and progress.done == 23


@pytest.mark.slow
def test_an_actor_makes_its_function_once(local_ray: Any, tmp_path: Path) -> None:
    """Whatever the number of its blocks: a function may hold a model."""

    def make() -> Any:
        Path(tmp_path / f"{os.getpid()}-{time.time_ns()}").touch()
        return lambda item: {"rows": 1, "process": os.getpid()}

    with ProgressLine("numbers", 23) as progress:
        results = RayExecutor().map(make, NUMBERS, progress)
    made = [int(path.name.partition("-")[0]) for path in tmp_path.iterdir()]
    assert len(made) == len(set(made)) <= 2 and {result["process"] for result in results} <= set(
        made
    )


def test_auto_is_ray_for_much_work_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    little, much = LITTLE_SECONDS / 2, LITTLE_SECONDS * 2
    assert Execution().choose(little, "augment").name == "local"
    assert f"augment: in this process, about {little:.1f} s" in capsys.readouterr().err
    assert Execution().choose(much, "decode").name == "ray"
    assert "decode: on Ray" in capsys.readouterr().err
    assert Execution(executor="local").choose(much, "augment").name == "local"
    assert Execution().choose(much, "augment", "local").name == "local"


@pytest.mark.slow
def test_who_holds_cpus_of_ray_works_without_it(local_ray: Any) -> None:
    """A trial waits for what it starts, and other trials may hold all other CPUs.

    A driver of workers holds none.
    """

    def chosen(**resources: Any) -> Any:
        class Worker:
            def chooses(self, name: ExecutorName) -> str:
                return Execution(executor=name).choose(300.0, "decode").name

        worker = local_ray.remote(Worker).options(**resources).remote()
        return [local_ray.get(worker.chooses.remote(name)) for name in ("auto", "ray", "local")]

    assert chosen(num_cpus=0.5) == ["local", "local", "local"]
    assert chosen(num_cpus=0, memory=100 * 2**20) == ["ray", "ray", "local"]


def test_workers_that_this_machine_cannot_hold_are_refused_before_ray_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("augury.core.execution.available_cores", lambda: 4)
    Execution().check(workers=4)
    with pytest.raises(UserError, match="1000 workers"):
        Execution().check(workers=1000)
    with pytest.raises(UserError, match="execution.threads"):
        Execution(threads=3).check(workers=2)
    with pytest.raises(UserError, match="executor=ray"):
        Execution(executor="local").check(workers=2)


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


LISTENING = """
import json, threading
import psutil
from augury.core.ray_connection import connect, start_in_background

start_in_background()
threads = [threading.Thread(target=connect) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import ray
from ray import tune

children = psutil.Process().children(recursive=True)
listening = {}
for process in [psutil.Process(), *children]:
    for connection in process.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN:
            listening[connection.laddr.port] = connection.laddr.ip
servers = sum(process.name() == "gcs_server" for process in children)
print(json.dumps([ray.nodes()[0]["NodeManagerAddress"], servers, listening]))
"""


@pytest.mark.slow
def test_one_local_ray_starts_that_listens_on_the_loopback_interface_alone() -> None:
    result = run_script(LISTENING)
    address, servers, listening = json.loads(result.stdout.splitlines()[-1])
    assert address == "127.0.0.1" and servers == 1 and len(listening) >= 4
    assert set(listening.values()) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


# Names of sockets below such a directory are longer than Linux allows.


DYING = """
import psutil
from augury.core import messages, ray_connection
from augury.core.execution import RayExecutor
from augury.core.progress import ProgressLine

ray_connection.PATIENCE_SECONDS = 1.0
with messages.shown():
    ray_connection.connect()
    children = psutil.Process().children(recursive=True)
    (server,) = [process for process in children if process.name() == "gcs_server"]
    server.kill()
    while True:
        line = ProgressLine("numbers", 1)
        RayExecutor().map(lambda: lambda item: {"rows": 1}, [{"number": 1}], line)
"""


@pytest.mark.slow
def test_a_dead_ray_ends_the_command_with_a_line() -> None:
    begin = time.monotonic()
    result = run_script(DYING)
    assert result.returncode == 1 and time.monotonic() - begin < 60
    last = result.stderr.strip().splitlines()[-1]
    assert "has died" in last and "the same command continues" in last


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    result = run_script("from augury.core.ray_connection import connect; connect()")
    assert f"no Ray cluster can be joined at {address}" in result.stderr


def test_a_cluster_that_is_open_to_others_is_warned_of() -> None:
    for gcs in ("10.0.0.7:6379", "[2001:db8::1]:6379"):
        assert ray_connection.exposed(gcs, False) and not ray_connection.exposed(gcs, True)
    assert not ray_connection.exposed("127.0.0.1:6379", False)
