"""A Ray cluster of one node on this machine, as `ray start --head` makes it, to submit jobs to."""

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

RAY = str(Path(sys.executable).with_name("ray"))


@dataclass(frozen=True)
class Head:
    """The head of a running cluster."""

    dashboard: str
    """Its address, http://HOST:PORT."""
    address: str
    """The address for Ray's clients, ray://HOST:PORT."""
    environment: dict[str, str]
    """The variables with which commands reach it."""

    def submit(self, directory: Path, *entrypoint: str) -> subprocess.CompletedProcess[str]:
        """Run `ray job submit` with a working directory, and wait for the job."""
        line = [RAY, "job", "submit", "--working-dir", str(directory), "--", *entrypoint]
        for _ in range(10):
            done = subprocess.run(
                line,
                env=self.environment,
                text=True,
                capture_output=True,
                timeout=400,
                check=False,
            )
            if "No available agent" not in done.stderr + done.stdout:
                break
            time.sleep(3)  # the head responds before its agent accepts jobs
        return done


@contextmanager
def ray_head(cpus: int = 4) -> Iterator[Head]:
    """Start a cluster, and end it with the block."""
    session = tempfile.mkdtemp(prefix="ray")  # paths of sockets must be short
    try:
        process, head = _start(session, cpus)
        try:
            yield head
        finally:
            process.terminate()  # not `ray stop`, which would stop every Ray on this machine
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    finally:
        shutil.rmtree(session, ignore_errors=True)


def _start(session: str, cpus: int) -> tuple[subprocess.Popen[bytes], Head]:
    """Start a cluster; again where another process takes one of its ports first."""
    for _ in range(3):
        port, client_port = _free_port(), _free_port()
        dashboard = f"http://127.0.0.1:{port}"
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "RAY_AUTH_MODE": "disabled",
            "RAY_API_SERVER_ADDRESS": dashboard,
        }
        start = [
            RAY,
            "start",
            "--head",
            "--block",
            f"--port={_free_port()}",
            "--dashboard-host=127.0.0.1",
            f"--dashboard-port={port}",
            f"--dashboard-agent-listen-port={_free_port()}",
            f"--temp-dir={session}",
            f"--ray-client-server-port={client_port}",
            f"--num-cpus={cpus}",
            '--resources={"trial_driver": 4}',
            "--disable-usage-stats",
        ]
        output = Path(session, "output")
        with output.open("wb") as file:
            process = subprocess.Popen(
                start, env=environment, stdout=file, stderr=file, start_new_session=True
            )
        if _wait_for_servers(dashboard, client_port, process):
            return process, Head(dashboard, f"ray://127.0.0.1:{client_port}", environment)
        said = output.read_text(encoding="utf-8")
    raise AssertionError(f"the head did not start: {said}")


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
