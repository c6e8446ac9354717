"""What is known of remote folders that this process alone changes."""

from __future__ import annotations

import pytest

from augury.core import held


@pytest.mark.parametrize(
    ("path", "name"), [("runs/a/seed-1/x", "x"), ("runs/a/seed-1", ""), ("runs/a/seed-10/x", None)]
)
def test_a_file_is_found_in_its_own_folder_alone(path: str, name: str | None) -> None:
    held.hold("s3://b", "runs/a/seed-1", {"x": held.FileInfo(True, 3, 0.0)})
    try:
        found = held.Held.find("s3://b", path)
        assert (found.name if found else None) == name
        assert held.Held.find("s3://other", path) is None
    finally:
        held.release("s3://b", "runs/a/seed-1")
