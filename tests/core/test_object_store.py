"""A store on S3: what its server refuses for a while, addresses that lead nowhere, copies."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator

import pytest

from augury.core import store as stores
from augury.core import yaml_file
from augury.core.errors import UserError, is_read_only, outage_of
from augury.core.locks import locked
from augury.core.secrets import redacted
from augury.core.store import Store
from tests.s3 import SECRET, S3Server, s3_server


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


def test_a_server_that_refuses_requests_loses_nothing(server: S3Server) -> None:
    folder = Store(server.uri("augury/refused")).folder("corpora", "abc")
    server.refuse_every, before = 5, server.refused
    try:
        for number in range(5):
            folder.write(f"part-{number}", f"text {number}")
        large = os.urandom(12_000_000)  # in several parts
        folder.write("large", large)
        folder.finish({"rows": 5})
        stores._known.clear()  # as a reader in another process
        assert [folder.read(f"part-{number}").decode() for number in range(5)] == [
            f"text {number}" for number in range(5)
        ]
        assert (folder.local() / "large").read_bytes() == large
        assert folder.damage() is None
    finally:
        server.refuse_every = None
    assert server.refused - before > 3


def test_a_bucket_that_may_only_be_read_is_said_at_once(server: S3Server) -> None:
    folder, start = Store(server.uri("augury/denied")).folder("corpora", "abc"), time.monotonic()
    folder.write("file", b"x")
    server.read_only = True
    try:
        with pytest.raises(OSError, match="ACCESS_DENIED") as raised:
            folder.write("other", b"x")
        assert folder.read("file") == b"x"
        with locked(folder):  # what is finished can be used
            pass
    finally:
        server.read_only = False
    assert is_read_only(raised.value) and "change its permissions" in str(outage_of(raised.value))
    assert time.monotonic() - start < 20


def test_what_fails_while_it_is_written_is_not_uploaded(server: S3Server) -> None:
    folder = Store(server.uri("augury/atomic")).folder("corpora", "abc")
    folder.write("file", b"old")
    before = len(server.written)
    with pytest.raises(RuntimeError), folder.writing("file") as stream:
        stream.write(b"half")
        raise RuntimeError
    gc.collect()
    assert folder.read("file") == b"old" and len(server.written) == before


def test_a_bucket_that_is_not_there_is_named_without_its_secret(server: S3Server) -> None:
    with pytest.raises(UserError, match="there is no bucket 'nowhere'") as raised:
        Store(server.uri("nowhere/results"))
    assert len(str(raised.value).splitlines()) == 1
    assert SECRET in str(raised.value) and SECRET not in redacted(str(raised.value))


def test_a_server_that_does_not_answer_is_named() -> None:
    nobody = "s3://key:x@bucket/results?scheme=http&endpoint_override=127.0.0.1:1"
    with pytest.raises(UserError, match="cannot be opened from .*127.0.0.1"):
        Store(nobody)


def test_an_experiment_in_a_storage_is_read(server: S3Server) -> None:
    folder = Store(server.uri("augury/experiments")).folder("sweeps", "abc")
    folder.write("recommended.yaml", "name: best\ntask: nmt\n")
    file = yaml_file.read(folder.location("recommended.yaml"))
    assert file.content == {"name": "best", "task": "nmt"} and file.places["task",] == "line 2"
    with pytest.raises(UserError, match="no experiment file"):
        yaml_file.read(folder.location("other.yaml"))
