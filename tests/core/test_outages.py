"""What to say where the operating system refuses to write."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path

import pytest

from augury.core import roots
from augury.core.errors import UserError
from augury.core.outages import outage_of, refusal_of
from augury.core.store import Folder, Store
from augury.core.temporary import scratch


def full() -> OSError:
    """Return the error of a disk that is full."""
    with pytest.raises(OSError) as raised, open("/dev/full", "w") as file:
        file.write("text")
        file.flush()
    return raised.value


def test_a_full_disk_is_named_by_the_path_of_the_file(tmp_path: Path) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "corpora/.tmp-a/b"))
    assert str(outage_of(error)).startswith(f"no space is left for {tmp_path}/corpora (")


def test_errors_that_others_have_wrapped() -> None:
    try:
        raise RuntimeError("cannot save") from full()
    except RuntimeError as error:
        assert "no space is left" in str(outage_of(error))
    assert "no space" in str(outage_of(RuntimeError("I/O error: No space left on device (28)")))


def test_other_errors_are_no_outage() -> None:
    assert outage_of(FileNotFoundError(errno.ENOENT, "No such file", "a")) is None
    try:
        raise UserError("give another file") from full()
    except UserError as error:
        assert outage_of(error) is None


def test_what_may_not_be_written_is_an_outage_only_in_a_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(roots, "_opened", set())  # other tests have opened what is around it
    Store(tmp_path / "results")

    def forbidden(path: str) -> OSError:
        return PermissionError(errno.EACCES, "Permission denied", str(tmp_path / path))

    assert "another storage" in str(outage_of(forbidden("results/runs/a")))
    assert "TMPDIR" in str(outage_of(forbidden("temporary/a")))
    assert outage_of(forbidden("models/a")) is None
    refusal = str(refusal_of(forbidden("models/a")))
    assert f"{tmp_path}/models/a may not be written" in refusal and "another storage" not in refusal
    elsewhere = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "models/a"))
    assert "another storage" not in str(outage_of(elsewhere))


def test_a_directory_that_does_not_fit_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = f"[Errno {errno.ENOSPC}] No space left on device"

    def fill(source: str, target: str) -> None:
        Path(target).mkdir(parents=True)
        raise shutil.Error([(f"{source}/a", f"{target}/a", message)])

    monkeypatch.setattr(shutil, "move", fill)
    folder = Folder(str(tmp_path), "runs")
    with pytest.raises(OSError) as raised, scratch("test") as directory:
        (directory / "a").write_text("text")
        folder.put(directory, "model")
    assert raised.value.errno == errno.ENOSPC
    assert not directory.exists() and not [*(tmp_path / "runs").iterdir()]


def test_what_cannot_be_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError) as raised:
        (tmp_path / ("x" * 300)).stat()
    assert len(str(refusal_of(raised.value))) < 200
    with pytest.raises(OSError) as raised:
        (tmp_path / "missing").stat()
    assert refusal_of(raised.value) is None
