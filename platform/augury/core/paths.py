"""Paths that users write: a leading `~`, and where relative ones begin."""

from __future__ import annotations

import os
from pathlib import Path

from augury.core.errors import UserError

PATHS = ("/", "./", "../", "~")
"""Beginnings of names that can only be paths."""


class FileText(str):
    """Text in a file of settings, which knows the folder of the file."""

    folder: str

    def __new__(cls, text: str, folder: str) -> FileText:
        self = super().__new__(cls, text)
        self.folder = folder
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # of copies
        return str(self), self.folder


def expanded(path: str | Path) -> Path:
    """Return a path with `~` or `~user` replaced by the home directory, as shells do.

    The home of nobody is left as it is, where pathlib would raise RuntimeError.
    """
    return Path(os.path.expanduser(path))


def absolute(path: str) -> str:
    """Return the absolute form of a path in settings; a URI is one.

    A relative path in a file begins at the folder of the file, any other at the working directory.
    """
    if "://" in path:
        return str(path)
    if not path.strip():
        raise UserError("a path is empty: name a file or a folder, or leave the setting out")
    return os.path.abspath(os.path.join(getattr(path, "folder", ""), expanded(path)))
