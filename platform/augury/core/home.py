"""A leading `~` in the path of a file."""

from __future__ import annotations

import os
from pathlib import Path


def expanded(path: str | Path) -> Path:
    """Return a path with `~` or `~user` replaced by the home directory, as shells do.

    The home of nobody is left as it is, where pathlib would raise RuntimeError.
    """
    return Path(os.path.expanduser(path))
