"""Where relative paths of users begin."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path

import pytest

from augury.core.paths import FileText, absolute, expanded


def test_a_home_that_nobody_has_is_part_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert expanded("~/a") == Path("/home/me/a")
    assert expanded("~nobody-has-it/a") == Path("~nobody-has-it/a")


def test_a_path_in_a_file_begins_at_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    here = os.getcwd()
    assert absolute("a.txt") == f"{here}/a.txt"
    assert absolute(FileText("a.txt", "/data/x")) == "/data/x/a.txt"
    assert absolute(FileText("../a.txt", "experiments")) == f"{here}/a.txt"
    assert absolute(FileText("~/a.txt", "/data")) == "/home/me/a.txt"
    assert absolute(FileText("s3://bucket/a", "/data")) == "s3://bucket/a"


def test_copies_know_the_folder_too() -> None:
    text = FileText("a.txt", "/data")
    for copied in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert copied == "a.txt" and absolute(copied) == "/data/a.txt"
