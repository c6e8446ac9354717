"""Lines on what the operating system refuses."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from augury.core import errors, files
from augury.core.errors import machine_error, outage_of
from augury.core.store import Store


def full() -> OSError:
    """Return the error of a disk that is full."""
    with pytest.raises(OSError) as raised, open("/dev/full", "w") as file:
        file.write("text")
        file.flush()
    return raised.value


def test_a_full_disk_is_named_however_the_error_comes(tmp_path: Path) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "corpora/.tmp-a/b"))
    assert str(outage_of(error)).startswith(f"{tmp_path}/corpora: no space left")
    folder = Store(tmp_path).folder("runs", "a")
    with pytest.raises(OSError) as raised, folder.writing("weights"):
        raise full()
    assert f"{tmp_path}/runs/a/weights: no space left on device: " in str(outage_of(raised.value))
    by_a_library = RuntimeError("cannot save")
    by_a_library.__cause__ = raised.value
    assert "no space left" in str(outage_of(by_a_library))
    assert "free some" in str(outage_of(RuntimeError("I/O error: No space left on device (28)")))
    assert outage_of(FileNotFoundError(errno.ENOENT, "No such file", "a")) is None


def test_what_may_not_be_written_is_an_outage_only_in_a_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(errors, "_storages", set())  # other tests have opened what is around it
    monkeypatch.setattr(files, "open_root", files.open_root.__wrapped__)
    Store(tmp_path / "results")

    def forbidden(path: str) -> OSError:
        return PermissionError(errno.EACCES, "Permission denied", str(tmp_path / path))

    assert "another storage" in str(outage_of(forbidden("results/runs/a")))
    assert "TMPDIR" in str(outage_of(forbidden("temporary/a")))
    assert outage_of(forbidden("models/a")) is None
    assert f"{tmp_path}/models/a: permission denied" in str(machine_error(forbidden("models/a")))
