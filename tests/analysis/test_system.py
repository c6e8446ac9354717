"""A run opened for analysis."""

from __future__ import annotations

from typing import Any

from augury.analysis.system import System


def test_markers_of_case_are_no_subwords() -> None:
    run: Any = None
    system = System("inline", run, "test", [])
    system.__dict__["pieces"] = [
        "<pad>",
        "</s>",
        "▁",
        "<title>",
        "▁<title>",
        "▁title",
    ]  # a cached property
    assert system.special == {0, 1, 3, 4}
