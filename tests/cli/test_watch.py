"""`augury watch --serve` answers requests for this machine alone."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from augury.cli import main


@pytest.fixture(params=["127.0.0.1", "localhost"])
def port(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """The port on which the page of an empty storage is served."""
    command = [sys.executable, "-m", "augury.cli", "watch", str(tmp_path), "--serve", "0"]
    command += ["--host", request.param]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = re.search(r"http://[\w.]+:(\d+)/", server.stderr.readline())
        assert address is not None
        yield int(address[1])
        server.terminate()


def status(port: int, host: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/", headers={"Host": host})
    return connection.getresponse().status


def test_names_that_lead_to_this_machine_are_no_way_in(port: int) -> None:
    assert status(port, f"localhost:{port}") == status(port, f"127.0.0.1:{port}") == 200
    assert status(port, f"evil.example:{port}") == status(port, "evil.example") == 403


@pytest.mark.parametrize(
    ("flag", "value"), [("--serve", "99999"), ("--serve", "-1"), ("--every", "0")]
)
def test_values_that_cannot_be_are_refused(tmp_path: Path, flag: str, value: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["watch", str(tmp_path), flag, value])
