"""Ray clusters on this machine, as `ray start` makes them: a head, and nodes that join it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

RAY = str(Path(sys.executable).with_name("ray"))


@dataclass(frozen=True)
class Head:
    """The head of a running cluster."""

    dashboard: str
    """Its address, http://HOST:PORT."""
    address: str
    """The address for Ray's clients, ray://HOST:PORT."""
    gcs: str
    """The address for nodes and programs that join, HOST:PORT."""
    process: int
    """The process that has started it, of which all its others are children."""
    environment: dict[str, str]
    """The variables with which commands reach it; `auto` is this cluster, whatever others there
    are."""


@contextmanager
def ray_head(cpus: int = 4) -> Iterator[Head]:
    """Start a cluster, and end it with the block."""
    session = tempfile.mkdtemp(prefix="ray")  # paths of sockets must be short
    try:
        process, head = _start(session, cpus)
        try:
            yield head
        finally:
            _end(process)
    finally:
        shutil.rmtree(session, ignore_errors=True)


@contextmanager
def ray_node(head: Head, cpus: int = 1) -> Iterator[subprocess.Popen[bytes]]:
    """Let a further node join a cluster while the block runs; yield the process that starts it,
    of which all its others are children."""
    start = ["--address", head.gcs, f"--num-cpus={cpus}", '--resources={"late": 1}']
    with tempfile.TemporaryFile() as output:
        process = _ray_start(start, head.environment, output)
        try:
            yield process
        finally:
            _end(process)


def _start(session: str, cpus: int) -> tuple[subprocess.Popen[bytes], Head]:
    """Start a cluster; again where another process takes one of its ports first."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "disabled",
        "RAY_TMPDIR": session,  # where `auto` finds the address of the latest cluster
    }
    environment.pop("RAY_ADDRESS", None)
    output = Path(session, "output")
    for _ in range(3):
        port, gcs_port, client_port = _free_port(), _free_port(), _free_port()
        start = ["--head", "--dashboard-host=127.0.0.1", f"--num-cpus={cpus}"]
        start += [f"--port={gcs_port}", f"--dashboard-port={port}"]
        start += [f"--ray-client-server-port={client_port}"]
        with output.open("wb") as file:
            process = _ray_start(start, environment, file)
        dashboard = f"http://127.0.0.1:{port}"
        if _wait_for_servers(dashboard, client_port, process):
            environment["RAY_API_SERVER_ADDRESS"] = dashboard
            client, gcs = f"ray://127.0.0.1:{client_port}", f"127.0.0.1:{gcs_port}"
            return process, Head(dashboard, client, gcs, process.pid, environment)
    raise AssertionError(f"the head did not start: {output.read_text(encoding='utf-8')}")


def _ray_start(
    words: Sequence[str], environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Run `ray start`, in a process group of its own, on the loopback interface."""
    line = [RAY, "start", "--block", "--node-ip-address=127.0.0.1", "--disable-usage-stats"]
    line += [f"--dashboard-agent-listen-port={_free_port()}", *words]
    return subprocess.Popen(
        line, env=environment, stdout=output, stderr=output, start_new_session=True
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a node; not by `ray stop`, which would stop every Ray on this machine."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _wait_for_servers(dashboard: str, client_port: int, head: subprocess.Popen[bytes]) -> bool:
    """Wait until the job server and that of clients respond; False if the head ends before."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and head.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", client_port), timeout=5).close()
            with urllib.request.urlopen(f"{dashboard}/api/version", timeout=5):
                return True
        except OSError:
            time.sleep(0.5)
    with suppress(ProcessLookupError):
        os.killpg(head.pid, signal.SIGKILL)
    return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
