from __future__ import annotations

from pathlib import Path

import pytest
from ray.exceptions import OutOfMemoryError

from augury.core.errors import UserError
from augury.sweeping.ray_executor import quiet_tune

KILLED = (
    "1 worker(s) were killed. Memory on the node (IP: 10.0.0.2, ID: b9f5) was 22.32GB used / "
    "23.54GB limit (0.94)"
)


def test_a_trial_killed_for_lack_of_memory_is_an_error_of_the_user(tmp_path: Path) -> None:
    """Tune raises a RuntimeError of Ray's error, as it does for no other death of a process."""
    with (
        pytest.raises(UserError, match="22.32GB used / 23.54GB limit"),
        quiet_tune(tmp_path / "ray.log"),
    ):
        raise RuntimeError("Caught unexpected exception") from OutOfMemoryError(KILLED)
    with pytest.raises(RuntimeError, match="another"), quiet_tune(tmp_path / "ray.log"):
        raise RuntimeError("another")
