from pathlib import Path

import pytest
from pyarrow import fs

from augury.core.filesystem import FileInfo, LocalFilesystem
from augury.core.remote_filesystem import RemoteFilesystem

LOCAL, ARROW = LocalFilesystem(), RemoteFilesystem(fs.LocalFileSystem())


@pytest.fixture
def tree(tmp_path: Path) -> str:
    """A directory with files, an empty and a hidden directory, and links."""
    for name in ("a.txt", "below/b.txt", "below/deeper/c.txt", ".hidden/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    (tmp_path / "linked").symlink_to(tmp_path / "below")
    return str(tmp_path)


def _sorted(infos: list[FileInfo]) -> list[FileInfo]:
    return sorted(infos, key=lambda info: info.path)


@pytest.mark.parametrize("below", [False, True])
def test_a_directory_is_listed_as_arrow_lists_it(tree: str, below: bool) -> None:
    listed = _sorted(LOCAL.listed(tree, below=below))
    assert listed and listed == _sorted(ARROW.listed(tree, below=below))


@pytest.mark.parametrize("name", ["a.txt", "below", "link", "linked", "none", "a.txt/none"])
def test_a_path_is_described_as_arrow_describes_it(tree: str, name: str) -> None:
    assert LOCAL.info(f"{tree}/{name}") == ARROW.info(f"{tree}/{name}")


def test_a_directory_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert LOCAL.listed(str(tmp_path / "none"), below=True) == []


def test_a_link_is_removed_and_not_what_it_leads_to(tree: str) -> None:
    LOCAL.remove_directory(f"{tree}/linked")
    assert LOCAL.info(f"{tree}/linked") is None
    assert LOCAL.exists(f"{tree}/below/deeper/c.txt")


def test_a_directory_that_is_not_there_can_be_removed(tmp_path: Path) -> None:
    LOCAL.remove_directory(str(tmp_path / "none"))  # another process was faster
