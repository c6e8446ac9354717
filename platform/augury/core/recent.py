"""What this process knows of folders on object stores, where every question is a request.

Facts of finished folders are kept, which do not change, and the files that were read or written
last: readers compare them with a checksum, or take them only while they are a few seconds old.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

Place = tuple[str, str]
"""The root and the name of a folder."""
File = tuple[Place, str]
"""A folder and the name of a file in it."""

MOST_BYTES = 64 << 20
"""Of the files that are kept together."""
LARGE = MOST_BYTES // 8
"""Bytes of a file from which on it is not kept."""
NEW_SECONDS = 10.0
"""How long a file is taken to be as it was read, though another process may have replaced it."""


class Recent:
    """Facts of folders, and the files that were read or written last."""

    def __init__(self, most_bytes: int = MOST_BYTES):
        self.most_bytes, self._bytes = most_bytes, 0
        self._facts: dict[Place, dict[str, Any]] = {}
        self._files: OrderedDict[File, tuple[bytes, float]] = OrderedDict()
        """Content, and the time at which it was read, by file; those used last are the last."""
        self._lock = threading.RLock()

    def facts(self, place: Place) -> dict[str, Any]:
        """Return the facts of a folder by name, which may be added to."""
        with self._lock:
            return self._facts.setdefault(place, {})

    def file(self, place: Place, name: str, seconds: float = float("inf")) -> bytes | None:
        """Return the content of a file; None where it is not kept, or was read longer ago."""
        with self._lock:
            content, time_read = self._files.get((place, name), (None, 0.0))
            if content is None or time.monotonic() - time_read > seconds:
                return None
            self._files.move_to_end((place, name))
            return content

    def keep(self, place: Place, name: str, content: bytes) -> None:
        """Keep the content of a file, in place of those that were not used for longest."""
        with self._lock:
            self._drop([(place, name)])
            if len(content) >= LARGE:
                return
            self._files[place, name] = content, time.monotonic()
            self._bytes += len(content)
            while self._bytes > self.most_bytes:
                self._drop([next(iter(self._files))])

    def changed(self, place: Place, name: str) -> None:
        """Forget a file that is being written, and the facts of its folder."""
        with self._lock:
            self._facts.pop(place, None)
            self._drop([(place, name)])

    def forget(self, root: str, name: str = "") -> None:
        """Forget a folder of a root and those below; by default all of the root."""

        def below(place: Place) -> bool:
            return place[0] == root and f"{place[1]}/".startswith(f"{name}/" if name else "")

        with self._lock:
            for place in [place for place in self._facts if below(place)]:
                del self._facts[place]
            self._drop([file for file in self._files if below(file[0])])

    def _drop(self, files: Iterable[File]) -> None:
        for file in files:
            if file in self._files:
                self._bytes -= len(self._files.pop(file)[0])
