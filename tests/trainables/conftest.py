"""What tests of exports share."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCard = Callable[..., Any]


@pytest.fixture
def run_card(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCard:
    """Runs the code in the card of an exported model with other values of its variables; returns what it prints."""

    def run(directory: Path, **values: Any) -> Any:
        block = re.search("```python\n(.*?)```", (directory / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        assert block is not None
        code = block[1]
        for name, value in values.items():
            line = f"{name} = {value!r}"
            code, count = re.subn(rf"(?m)^{name} = .*", lambda _, line=line: line, code)
            assert count == 1
        monkeypatch.chdir(directory)
        capsys.readouterr()
        exec(code, {})
        return ast.literal_eval(capsys.readouterr().out)

    return run
