"""Commands for a cluster: what is refused before anything is sent; versions that differ."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from augury.cli import jobs, main, submit, versions
from augury.cli.common import CLIENT
from augury.core.errors import UserError

NOWHERE = "http://127.0.0.1:9"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["submit", *words]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command is given"),
        (["trian", "my.yaml"], "did you mean 'train'"),
        (["--env", "AWS_SECRET_ACCESS_KEY=a", "list", "regimes"], "give keys to the machines"),
        (["--env", "HF_TOKEN=a", "list", "regimes"], "give keys to the machines"),
        (["--env", "SERVER=http://me:pass@host", "list", "regimes"], "give keys to the machines"),
        (["--env", "NOT_SET_HERE", "list", "regimes"], "is not set here"),
        (["--follow", "a-job", "train", "my.yaml"], "give no command"),
        (["--directory", "not-there", "list", "regimes"], "is no directory"),
    ],
)
def test_what_cannot_be_submitted_is_said(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "--address", NOWHERE, *words)


def test_variables_are_judged_by_whole_words_and_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["TOKENIZERS_PARALLELISM=false", "MONKEY=1", "MAX_TOKENS=5"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server:5000")
    assert {"TOKENIZERS_PARALLELISM", "MONKEY", "MAX_TOKENS"} < submit._variables(words).keys()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:pass@server:5000")
    with pytest.raises(UserError, match="MLFLOW_TRACKING_URI") as raised:
        submit._variables([])
    assert "pass@" not in str(raised.value)


def test_ray_alone_can_submit_the_same_job_again() -> None:
    """Under another ID, and with the code whatever the user excludes."""
    job = jobs.Job("augury-list-1", ["list", "regimes"], Path(), excludes=["regimes"])
    assert "augury-list-1" not in job.plain(NOWHERE)
    assert "regimes" not in job.environment()["excludes"]


def test_a_refusal_for_size_is_told_from_others() -> None:
    job = jobs.Job("augury-list-1", ["list"], Path())
    assert "too large" in str(jobs._refused(job, "Request failed with status code 413: ..."))
    assert "too large" not in str(jobs._refused(job, "augury-train-20260413-041303-a413: no disk"))


def test_arguments_are_checked_before_they_are_sent(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["submit", "--address", NOWHERE, "train", "my.yaml", "--storge", "s3://bucket"])
    assert "did you mean '--storage'" in capsys.readouterr().err


def test_a_file_outside_of_what_is_sent_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.yaml").touch()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert "outside" in refused(capsys, "--address", NOWHERE, "train", "../my.yaml")


@pytest.mark.parametrize(
    "address",
    [
        NOWHERE,
        "127.0.0.1:9",
        "ray://127.0.0.1:9",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:head",
    ],
)
def test_a_cluster_that_does_not_answer_is_one_line_within_seconds(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://127.0.0.1:8")  # the flag goes before it
    start = time.monotonic()
    for command in (
        ["submit", "--address", address, "list", "regimes"],
        ["train", "my.yaml", f"--address={address}"],
    ):
        assert main(command) == 2
        assert f"no Ray cluster answers at {address}" in capsys.readouterr().err
    assert time.monotonic() - start < 20


def test_a_busy_head_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[str] = []

    def client(address: str) -> str:
        addresses.append(address)
        if len(addresses) == 1:
            raise ConnectionAbortedError("Initialization failure from server:\nno server started")
        return "a client"

    monkeypatch.setattr("ray.job_submission.JobSubmissionClient", client)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv(jobs.API, "")
        assert jobs.connect(address) == "a client"
    assert addresses == [address] * 2


def test_the_words_of_the_cluster_are_not_those_of_the_command() -> None:
    argv = ["my.yaml", "--address", "auto", "--detach", "--seeds", "1", "--address=auto"]
    assert submit._without_cluster(argv) == ["my.yaml", "--seeds", "1"]


def test_other_versions_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = dict(versions.versions())
    assert {"Python", "torch", "ray", "code of Augury"} <= set(here)
    assert versions.difference(json.dumps(here)) is None
    monkeypatch.setenv(CLIENT, json.dumps(here | {"torch": "0.0.1"}))
    assert main(["list", "regimes"]) == 0
    message = capsys.readouterr().err
    assert f"torch {here['torch']} (client 0.0.1)" in message and "ray" not in message


def test_code_that_was_changed_has_another_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "augury").mkdir()
    monkeypatch.setattr(versions, "packages", lambda: [tmp_path / "augury"])
    file, hashes = tmp_path / "augury" / "loss.py", set()
    for content in ("x = 1", "x = 2"):
        file.write_text(content)
        hashes.add(versions._code())
    assert len(hashes) == 2
