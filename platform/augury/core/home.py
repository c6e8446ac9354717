"""The home directory of the user: a leading `~` in the path of a file, and what is kept there."""

from __future__ import annotations

import os
from pathlib import Path


def expanded(path: str | Path) -> Path:
    """Return a path with `~` or `~user` replaced by the home directory, as shells do.

    The home of nobody is left as it is, where pathlib would raise RuntimeError.
    """
    return Path(os.path.expanduser(path))


def state_directory() -> Path:
    """Return where Augury keeps what it knows of the user and the machine."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "augury"
