"""What is in remote folders that this process alone changes: asked for once, then noted."""

from __future__ import annotations

from typing import NamedTuple


class FileInfo(NamedTuple):
    """What is known of a file or subfolder."""

    is_file: bool
    size: int
    """Bytes; 0 for a folder."""
    modified: float
    """When it was last changed, in seconds since 1970; 0 where that is not known."""


_files: dict[tuple[str, str], dict[str, FileInfo]] = {}
"""The files of held folders, those of subfolders too, by root and name of the folder."""


def hold(root: str, folder: str, files: dict[str, FileInfo]) -> None:
    """Note the files of a folder, which others change no more."""
    _files[root, folder] = files


def release(root: str, folder: str) -> bool:
    """Forget the files of a folder; return whether it was held."""
    return _files.pop((root, folder), None) is not None


class Held(NamedTuple):
    """A file or folder in a held folder, or that itself."""

    files: dict[str, FileInfo]
    """The files of the held folder."""
    name: str
    """Its name in that; empty for the held folder."""

    @classmethod
    def find(cls, root: str, path: str) -> Held | None:
        """Return what has a path below a root; None where it is in no held folder."""
        for (of_root, folder), files in [*_files.items()]:
            if of_root == root and f"{path}/".startswith(f"{folder}/"):
                return cls(files, path[len(folder) + 1 :])
        return None

    def info(self) -> FileInfo | None:
        """Return what is known of it; None where it is not there."""
        folder = FileInfo(False, 0, 0)
        return self.files.get(self.name, folder if self.below() else None)

    def below(self) -> dict[str, FileInfo]:
        """Return the files in it, by their names from here."""
        start = f"{self.name}/" if self.name else ""
        files = [*self.files.items()]
        return {name[len(start) :]: info for name, info in files if name.startswith(start)}

    def note(self, info: FileInfo) -> None:
        """Note that it has been written."""
        self.files[self.name] = info

    def remove(self) -> None:
        """Note that it, and all in it, has been removed."""
        self.files.pop(self.name, None)
        for name in self.below():
            self.files.pop(f"{self.name}/{name}" if self.name else name)
