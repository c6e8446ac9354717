"""Commands that run as jobs of a Ray cluster, with the code of the client."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from ray.job_submission import JobSubmissionClient

from augury.cli import jobs, versions
from augury.core.errors import UserError
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


class Forwarded(socketserver.ThreadingTCPServer):
    """Forwards a port of this machine, as `kubectl port-forward` does."""

    daemon_threads = True

    def __init__(self, port: int):
        super().__init__(("127.0.0.1", 0), Connection)
        self.target, self.port = port, self.server_address[1]
        self.sockets: list[socket.socket] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def cut(self) -> None:
        """End all connections; new ones are forwarded."""
        for end in self.sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.sockets.clear()

    def close(self) -> None:
        """End all connections, and refuse new ones."""
        self.shutdown()
        self.server_close()
        self.cut()


class Connection(socketserver.BaseRequestHandler):
    server: Forwarded

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.target)) as there:
            self.server.sockets += [self.request, there]
            threading.Thread(target=_pass_on, args=(there, self.request), daemon=True).start()
            _pass_on(self.request, there)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


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
    again = subprocess.run(
        plain[1],
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
    """Also where the cluster has another one installed, and whatever is left out of the files."""
    changed = tmp_path / "changed"
    for package in versions.packages():
        shutil.copytree(package, changed / package.name)
    with open(changed / "augury" / "cli" / "listing.py", "a", encoding="utf-8") as file:
        file.write("\nprint('code of the client')\n")
    work = tmp_path / "work"
    work.mkdir()
    words = ["--address", head.address, "--exclude", "regimes", "list", "regimes"]
    listed = augury(head, work, "submit", *words, PYTHONPATH=str(changed))
    assert listed.returncode == 0, listed.stdout + listed.stderr
    assert "code of the client" in listed.stdout and "differs" not in listed.stdout


def test_a_detached_job_is_followed_and_stopped(
    head: Head, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["train", experiment.name, "--storage", str(tmp_path / "results")]
    endless = ["--set", "training.max_updates=1000000", "--set", "training.patience=1000000"]
    detached = augury(
        head, experiment.parent, "submit", "--detach", "--json", "--", *words, *endless
    )
    assert detached.returncode == 0, detached.stderr
    job = json.loads(detached.stdout)["job"]
    forwarded = Forwarded(int(head.dashboard.rpartition(":")[2]))
    address = f"http://127.0.0.1:{forwarded.port}"
    followed = subprocess.Popen(
        [sys.executable, "-m", "augury.cli", "submit", "--address", address, "--follow", job],
        text=True,
        stdout=subprocess.PIPE,
        env=head.environment,
    )
    assert followed.stdout is not None
    lines = list(itertools.islice(followed.stdout, 5))
    forwarded.cut()  # a new connection repeats nothing
    lines += itertools.islice(followed.stdout, 5)
    other = Forwarded(int(head.dashboard.rpartition(":")[2]))
    client = JobSubmissionClient(f"http://127.0.0.1:{other.port}")
    monkeypatch.setattr(jobs, "LOST_SECONDS", 1.0)
    with pytest.raises(UserError, match=f"--follow {job}"):
        jobs.follow(client, job, lambda text: other.close())
    stopped = augury(head, tmp_path, "submit", "--stop", job, "--json")
    assert json.loads(stopped.stdout) == {"job": job, "stopped": True}, stopped.stderr
    rest = followed.stdout.read()  # `communicate` would lose what is buffered
    assert followed.wait(120) == 1
    written = JobSubmissionClient(head.dashboard).get_job_logs(job)
    assert "".join(lines) + rest == written
    assert "has ended already" in augury(head, tmp_path, "submit", "--stop", job).stdout


def test_a_command_that_fails_there_fails_here(head: Head, tmp_path: Path) -> None:
    failed = augury(head, tmp_path, "submit", "train", "missing.yaml", "--storage", "s3://bucket")
    assert failed.returncode == 2 and "no experiment file 'missing.yaml'" in failed.stdout
    assert "reason   Job entrypoint command failed with exit code 2" in failed.stderr
    unknown = augury(head, tmp_path, "submit", "--follow", "nothing")
    assert unknown.returncode == 2 and "no job 'nothing'" in unknown.stderr
