"""Export what one command trains to MLflow while it runs.

What MLflow does not take is in the run folders: `augury track` sends it.
"""

from __future__ import annotations

import threading
import time

from augury.core.messages import say
from augury.core.naming import command
from augury.core.store import Folder, Store
from augury.core.threads import SHARE
from augury.experiments.recording import Recorder, Tracking
from augury.sweeping import state
from augury.tracking.client import reason
from augury.tracking.export import Exporter

WAIT_SECONDS = 20.0
"""The most that a command waits for MLflow at its end."""
SECONDS, REMOTE_SECONDS = 10.0, 60.0
"""Seconds between two sendings, at least, of what lies on an object store."""


class Tracker:
    """Exports the runs of one command, every few seconds and at its end. Nothing here raises
    because of MLflow."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        if tracking.enabled:
            self._exporter = Exporter(tracking, store, live=True)
        self._names: dict[str, None] = {}
        self._failed = False
        """Whether MLflow failed last, which was said: the command does not wait for it then."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="tracking", daemon=True)

    def __enter__(self) -> Recorder:
        return self.follow

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._ended.set()
            self._thread.join(0.0 if self._failed else WAIT_SECONDS)
            if self._thread.is_alive():
                self._fail("it is slow")

    def follow(self, folder: Folder) -> None:
        """Export a sweep, or a run with its sweeps or its experiment, from now on."""
        if not self.tracking.enabled:
            return
        is_sweep = folder.name.startswith(state.SWEEPS)
        names = [folder.name] if is_sweep else self._exporter.groups_of(folder)
        self._names |= dict.fromkeys(names)
        if not self._thread.is_alive():
            self._thread.start()

    def _repeat(self) -> None:
        seconds = REMOTE_SECONDS if "://" in self.store.root else SECONDS
        pause = 0.0
        while not self._ended.wait(pause):
            start = time.monotonic()
            self._attempt()
            pause = max(seconds, (time.monotonic() - start) / SHARE)
        self._exporter.live = False
        self._attempt()

    def _attempt(self) -> None:
        """Export everything that changes; an error is said, once, and the next time comes."""
        try:
            for name in list(self._names):
                self._exporter.send(name)
        except Exception as error:  # nothing of MLflow or the network must end a command
            self._fail(reason(error))
        else:
            self._failed = False

    def _fail(self, why: str) -> None:
        if not self._failed:
            send, address = command("augury", "track", self.store.root), self._exporter.address
            say(f"warning: MLflow at {address} lacks what follows ({why}); send it by: {send}")
        self._failed = True
