from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.home import expanded


def test_a_home_that_nobody_has_is_part_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert expanded("~/a") == Path("/home/me/a")
    assert expanded("~nobody-has-it/a") == Path("~nobody-has-it/a")
