"""The optional aligner: links as the package finds them, and what is said without it."""

from __future__ import annotations

import sys

import pytest

from augury.core.errors import UserError
from augury.text.alignment import eflomal


def test_a_missing_package_is_an_error_that_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(UserError, match=r"pip install 'augury\[eflomal\]'"):
        eflomal.align([["a"]], [["x"]])


def test_links_are_those_of_words_whatever_is_in_them() -> None:
    pytest.importorskip("eflomal")
    sources = [
        ["Das", "Haus"],
        ["das", "gro\u00a0ße", "Buch"],
        [],
        ["ein", "Buch"],
        ["ein", "Haus"],
    ] * 40
    targets = [
        ["the", "house"],
        ["the", "large", "book"],
        ["x"],
        ["a", "book"],
        ["a", "house"],
    ] * 40
    links = eflomal.align(sources, targets)
    assert set(links) == {"forward", "reverse"}
    for rows in links.values():
        assert len(rows) == 200 and rows[2::5] == [[]] * 40
        assert sum(row == [(0, 0), (1, 1)] for row in rows) > 100
        assert sum(row == [(0, 0), (1, 1), (2, 2)] for row in rows) > 30
    with pytest.raises(UserError, match="no sentence pair has words on both sides"):
        eflomal.align([[], ["a"]], [["x"], []])
