"""Export what one command trains to MLflow while it runs.

What MLflow does not take is in the run folders: `augury track` sends it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import methodcaller

from augury.core.naming import command
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.core.threads import Throttle
from augury.experiments.recording import Tracking
from augury.sweeping import state
from augury.tracking.client import reason
from augury.tracking.export import Exporter, experiment_of

WAIT_SECONDS = 20.0
"""The most that a command waits for MLflow at its end."""
SECONDS, REMOTE_SECONDS = 10.0, 60.0
"""Seconds between two sendings, at least, of what lies on an object store."""

_failed: dict[str, bool] = {}
"""The addresses at which MLflow has failed, which was said, with whether it failed last: no command
of this process waits for it then."""


class Tracker:
    """Exports the runs of one command, every few seconds and at its end. Nothing here raises
    because of MLflow."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._exporter = Exporter(tracking, store) if tracking.enabled else None
        self._work: dict[str, Callable[[Exporter], object]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="tracking", daemon=True)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._exporter is None or not self._thread.is_alive():
            return
        self._ended.set()
        self._thread.join(0.0 if _failed.get(self._exporter.address) else WAIT_SECONDS)
        if self._thread.is_alive():
            self._fail("it is slow")

    @contextmanager
    def follow(self, folder: Folder) -> Iterator[None]:
        """Export a sweep, or a run with its experiment, from now on; it runs while the block
        does."""
        if self._exporter is None:
            yield
            return
        kind, _, name = folder.name.partition("/")
        self._exporter.running.add(folder)
        if kind == state.KIND:
            self._add(folder.name, methodcaller("sweep", name))
        else:
            self.report(experiment_of(folder))
        try:
            yield
        finally:
            self._exporter.running.discard(folder)

    def report(self, experiment: str) -> None:
        """Export an experiment, whose report was made."""
        self._add(f"experiments/{experiment}", methodcaller("experiment", experiment))

    def extend(self, run: Folder) -> None:
        """Export what was added to a finished run, such as analyses."""
        self._add(run.name, methodcaller("experiment", "", [run]))

    def _add(self, name: str, work: Callable[[Exporter], object]) -> None:
        self._work[name] = work
        if self._exporter is not None and not self._thread.is_alive():
            self._thread.start()

    def _repeat(self) -> None:
        seconds = REMOTE_SECONDS if "://" in self.store.root else SECONDS
        throttle = Throttle(seconds, share=0.2)
        while not self._ended.is_set():
            throttle.run(self._attempt)
            self._ended.wait(min(1.0, SECONDS))
        self._attempt()

    def _attempt(self) -> None:
        """Export everything that changes; an error is said, once, and the next time comes."""
        exporter = self._exporter
        assert exporter is not None
        try:
            for work in list(self._work.values()):
                work(exporter)
        except Exception as error:  # nothing of MLflow or the network must end a command
            self._fail(reason(error))
        else:
            if exporter.address in _failed:
                _failed[exporter.address] = False

    def _fail(self, why: str) -> None:
        assert self._exporter is not None
        address = self._exporter.address
        if address not in _failed:
            send = command("augury", "track", self.store.root)
            say(
                f"warning: MLflow at {address} lacks what follows ({why}); send it later by: {send}"
            )
        _failed[address] = True
