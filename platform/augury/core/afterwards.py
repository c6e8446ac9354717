"""Remove directories once a process has ended, however it ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SCRIPT = 'exec 3<&0; { cat <&3; rm -rf "$1"; } > /dev/null 2>&1 &'
"""Reads a pipe until no process has its other end, then removes a directory. In the background of a
shell that ends, it is no child of the process whose end it waits for, and not killed with it."""


def remove_afterwards(directory: Path) -> None:
    """Let a directory be removed when this process has ended.

    Functions of `atexit` do not run in all processes: Ray ends workers without them, and whoever
    kills one.
    """
    reading, _ = os.pipe()  # whose other end stays open as long as this process
    try:
        subprocess.run(
            ["sh", "-c", _SCRIPT, "sh", str(directory)],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
        )
    finally:
        os.close(reading)
