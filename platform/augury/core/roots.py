"""Where storages are: their roots and filesystems, and names that stay inside them."""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path

from augury.core.errors import UserError
from augury.core.filesystem import Filesystem, LocalFilesystem
from augury.core.paths import expanded

LONGEST = 200
"""Bytes of a part of a name, so that temporary names fit into the 255 of most filesystems."""

TEMPORARY = ".tmp-"
"""The beginning of the names of files that are being written."""


_opened: set[Path] = set()
"""The local roots that this process has opened."""


def check_inside(name: str) -> None:
    """Raise UserError for a name that leads out of the store, or that no filesystem takes.

    Names come from users, and from files of a storage that someone else may have written.
    """
    parts = name.split("/")
    outside = name.startswith("/") or ".." in parts or "." in parts
    if outside or "\0" in name or any(len(part.encode()) > LONGEST for part in parts):
        shown = f"{name[:60]}…" if len(name) > 60 else name
        raise UserError(
            f"{shown!r} cannot be the name of something in a storage: give one of at most "
            f"{LONGEST} bytes between slashes, without '.' and '..' as a part, and not absolute"
        )


def reset_permissions(directory: Path) -> None:
    """Give a directory and its content the permissions that new files next to it get.

    `tempfile` and safetensors restrict their files to the owner, whatever the umask or the parent's
    defaults.
    """
    probe = directory.with_name(f"{TEMPORARY}modes-{uuid.uuid4().hex[:8]}")
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    for path in (directory, *directory.rglob("*")):
        path.chmod(mode if path.is_dir() else mode & 0o666)


def local_root(root: str) -> str:
    """Return the absolute path of a local root; UserError unless its parent is a directory."""
    if not root.strip():
        raise UserError("storage is empty: give a directory or a URI such as s3://bucket/augury")
    path = Path(os.path.realpath(expanded(root)))
    if not path.parent.is_dir():
        raise UserError(
            f"storage '{root}' cannot be opened: there is no directory '{path.parent}'; mount its "
            "disk or create it, or give another storage"
        )
    return str(path)


def located(root: str, name: str) -> str:
    """Return the path or URI of something below a root; the query of a URI stays last."""
    return name.join(parts_around(root)) if name else root


def parts_around(root: str) -> tuple[str, str]:
    """Return what stands before and behind a name below a root: a path or URI with a slash, and
    the query."""
    place, mark, query = root.partition("?") if "://" in root else (root, "", "")
    return f"{place.rstrip('/')}/", f"{mark}{query}"


def open_root(root: str) -> tuple[Filesystem, str]:
    """Return the filesystem of a root, and the path of the root in it.

    UserError for a root that is none, such as a bucket that does not exist.
    """
    if "://" in root:
        from augury.core.remote_filesystem import open_uri  # imports Arrow

        return open_uri(root)
    path = Path(root)
    if path.exists() and not path.is_dir():
        raise UserError(
            f"storage '{root}' is a file: use a directory or a URI such as s3://bucket/augury"
        )
    _opened.add(path)
    return LocalFilesystem(), str(path)


def in_opened(path: Path) -> bool:
    """Return whether a path is in a storage that this process has opened."""
    return any(path.is_relative_to(root) for root in _opened)
