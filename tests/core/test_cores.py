from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from augury.core.cores import available_cores


@pytest.mark.skipif(sys.platform != "linux", reason="affinity is one of Linux")
def test_affinity_limits_cores(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert available_cores(tmp_path / "none") == 1
    finally:
        os.sched_setaffinity(0, before)
    assert available_cores(tmp_path / "none") == len(before)


@pytest.mark.parametrize(
    ("text", "limited"),
    [("max 100000\n", False), ("100000 100000\n", True), ("50000 100000", True)],
)
def test_quota_of_a_container_limits_cores(text: str, limited: bool, tmp_path: Path) -> None:
    (quota := tmp_path / "cpu.max").write_text(text)
    assert available_cores(quota) == (1 if limited else available_cores(tmp_path / "none"))
