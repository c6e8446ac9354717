"""Commands for a cluster: what is refused before anything is sent; versions that differ."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from augury.cli import main, submit, versions
from augury.cli.common import CLIENT

NOWHERE = "http://127.0.0.1:9"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["submit", *words]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command is given"),
        (["trian", "my.yaml"], "did you mean 'train'"),
        (["--env", "AWS_SECRET_ACCESS_KEY", "list", "regimes"], "give keys to the machines"),
        (["--env", "NOT_SET_HERE", "list", "regimes"], "is not set here"),
        (["--directory", "not-there", "list", "regimes"], "is no directory"),
    ],
)
def test_what_cannot_be_submitted_is_said(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "--address", NOWHERE, *words)


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


@pytest.mark.parametrize("address", [NOWHERE, "127.0.0.1:9", "ray://127.0.0.1:9"])
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
