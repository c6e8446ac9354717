import json
import time
from pathlib import Path

import pytest

from augury.experiments import core_speed


def test_a_core_is_measured_once_a_day(tmp_path: Path) -> None:
    file, speeds = tmp_path / "state" / "speed.json", iter([2e9, 3e9])
    assert core_speed.kept(file, lambda: next(speeds)) == 2e9
    assert core_speed.kept(file, lambda: next(speeds)) == 2e9
    file.write_text(json.dumps({"flops": 2e9, "time": time.time() - core_speed.KEPT_SECONDS}))
    assert core_speed.kept(file, lambda: next(speeds)) == 3e9


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"flops": 0, "time": 9e99}', "null"])
def test_a_file_of_no_use_is_written_anew(tmp_path: Path, content: str) -> None:
    file = tmp_path / "speed.json"
    file.write_text(content)
    assert core_speed.kept(file, lambda: 2e9) == 2e9
    assert json.loads(file.read_text())["flops"] == 2e9


def test_a_home_that_cannot_be_written_to_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert core_speed.kept(tmp_path / "file" / "speed.json", lambda: 2e9) == 2e9


def test_a_core_computes_at_least_a_hundred_million_operations_a_second() -> None:
    assert core_speed.core_flops() > 1e8
