"""Run commands in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import pytest

from augury.cli import main


class Done(NamedTuple):
    """What a command has printed."""

    out: str
    error: str

    @property
    def json(self) -> Any:
        """The result of a command with --json."""
        return json.loads(self.out)


Augury: TypeAlias = "Callable[..., Done]"


@pytest.fixture
def augury(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Augury:
    """Run a command, whose exit code has to be `code`, on the standard input `text`."""

    def run(*words: object, code: int = 0, text: bytes = b"text\n") -> Done:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        capsys.readouterr()
        try:
            ended = main([*map(str, words)])
        except SystemExit as end:  # of the parser of arguments
            ended = int(end.code or 0)
        done = Done(*capsys.readouterr())
        assert ended == code and "Traceback" not in done.error, done
        return done

    return run
