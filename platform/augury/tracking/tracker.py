"""Export the runs of one command to MLflow while it runs.

What MLflow does not take is in the run folders: `augury track` sends it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import methodcaller
from types import TracebackType
from typing import TYPE_CHECKING

from augury.core.naming import command
from augury.core.periodic import Throttle
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments.recording import Tracking
from augury.sweeping import state
from augury.tracking.client import reason
from augury.tracking.export import BUDGET, STOPPED, Exporter

if TYPE_CHECKING:
    from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

WAIT_SECONDS = 20.0
"""The most that a command waits for MLflow, once."""
RETRY_SECONDS = 60.0
"""Until MLflow is asked again after an outage."""

_failed: dict[str, float] = {}
"""The addresses at which MLflow has failed or is slow, which was said: with the time from which on
they are asked again, and no command of this process waits for them any more."""


class Tracker:
    """Exports the runs of one command. Nothing here raises because of MLflow, and an outage costs
    all commands of a process `WAIT_SECONDS` together at most."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._exporter = Exporter(tracking, store) if tracking.enabled else None
        self._exporting = threading.Lock()
        self._sweeps: set[str] = set()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in self._sweeps:
            self._wait(methodcaller("sweep", name))

    def start(self, run: Folder) -> None:
        """Record that a run starts or continues; its folder has `run.json`."""
        if self._exporter is not None:
            self._exporter.running.add(run)

    @contextmanager
    def follow(self, folder: Folder) -> Iterator[None]:
        """Export a run, or a sweep with all its trials, every few seconds while the block runs."""
        if self._exporter is None:
            yield
            return
        kind, _, name = folder.name.partition("/")
        if kind == state.KIND:
            self._sweeps.add(name)
        stop, throttle = threading.Event(), Throttle(self.tracking.interval, share=0.2)
        monitors: list[SystemMetricsMonitor] = []

        def export(exporter: Exporter) -> None:
            row = exporter.sweep(name) if kind == state.KIND else exporter.run(folder)
            if self.tracking.system_metrics and not monitors:
                monitors.append(exporter.mlflow.monitor(row, self.tracking.interval))

        def repeat() -> None:
            while not stop.is_set():
                throttle.run(lambda: self._attempt(export))
                stop.wait(min(1.0, self.tracking.interval))
            for monitor in monitors:
                monitor.finish()

        threading.Thread(target=repeat, name="tracking", daemon=True).start()
        try:
            yield
        finally:
            stop.set()

    def finish(self, run: Folder, *, by_budget: bool = False) -> None:
        """Record the end of a run, with its scores and files; `by_budget` where the budget of the
        command has ended it."""
        if self._exporter is not None:
            self._exporter.running.discard(run)
            self._exporter.stopped[run] = BUDGET if by_budget else STOPPED
            self._wait(methodcaller("run", run))

    def extend(self, run: Folder) -> None:
        """Record what was added to a finished run, such as analyses."""
        self._wait(methodcaller("run", run))

    def report(self, experiment: str) -> None:
        """Record the report of an experiment, which is made after its runs."""
        self._wait(methodcaller("experiment", experiment))

    def _wait(self, work: Callable[[Exporter], object]) -> None:
        """Export in the background, and wait for it unless MLflow has failed before."""
        if self._exporter is None:
            return
        thread = threading.Thread(target=self._attempt, args=[work], name="tracking", daemon=True)
        thread.start()
        thread.join(0.0 if self._exporter.address in _failed else WAIT_SECONDS)
        if thread.is_alive():
            self._fail("it is slow")

    def _attempt(self, work: Callable[[Exporter], object]) -> None:
        """Export, unless MLflow has failed a short while ago."""
        exporter = self._exporter
        assert exporter is not None
        with self._exporting:
            if time.monotonic() < _failed.get(exporter.address, 0.0):
                return
            try:
                with exporter.mlflow.lock():
                    work(exporter)
            except Exception as error:  # nothing of MLflow or the network must end a run
                self._fail(reason(error))

    def _fail(self, why: str) -> None:
        """Leave MLflow alone for a while, and say so once."""
        assert self._exporter is not None
        address = self._exporter.address
        if address not in _failed:
            send = command("augury", "track", self.store.root)
            say(
                f"warning: MLflow at {address} lacks what follows ({why}); send it later by: {send}"
            )
        _failed[address] = time.monotonic() + RETRY_SECONDS
