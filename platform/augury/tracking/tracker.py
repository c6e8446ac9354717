"""Track the runs of one command: write their status to their folders and sync the folders in the
background.

Data that MLflow does not accept stays in the folders and is sent by a later sync: some seconds
later, at the end of the command, by the next command, or by `augury track`.
"""

from __future__ import annotations

import getpass
import itertools
import shlex
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from augury.core.errors import UserError
from augury.core.naming import command
from augury.core.periodic import Throttle, run_every
from augury.core.progress import say, say_once
from augury.core.secrets import redacted
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.experiments.recording import File, Tracking, place
from augury.sweeping import state
from augury.tracking.client import Status, check_answers, load_mlflow
from augury.tracking.runs import EXPERIMENTS, RECORD, SYSTEM, read_record
from augury.tracking.sync import Unreachable, reason, sync, sync_storage
from augury.training.history import History

UNSENT = ".unsent"
"""Kind of the folder in which every command that records runs has a file until all is sent."""
FLUSH_SECONDS = 20.0
"""Maximum time to wait for the last sync of a run, unless MLflow is failing."""


RETRY_SECONDS = 30.0
"""Until a server that has not answered is asked again."""

_away: dict[str, float] = {}
"""Addresses at which MLflow has failed, which has been said, with the time from which on they are
asked again."""


class Tracker:
    """Tracks the runs of one command. No method raises because of MLflow, or waits longer than
    20 s; for a server that does not answer, all together wait for a few seconds."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._syncing, self._writing = threading.Lock(), threading.Lock()
        self._pending: set[Folder] = set()  # folders with unsent changes
        self._open: set[Folder] = set()  # experiments and sweeps that end with the command
        # Folders whose last sync failed; None: that of earlier commands, or another tracker's.
        self._failing: set[Folder | None] = {None} if self._address in _away else set()
        self._run_failed = False
        self._unsent, self._mark = Folder(store.root, UNSENT), uuid.uuid4().hex
        self._begun = False
        self._earlier: threading.Thread | None = None
        """Sends what earlier commands could not, after the making of a new database."""

    def __enter__(self) -> Tracker:
        if self.tracking.enabled and self._unsent.names():
            self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            status: Status = "FAILED" if issubclass(kind, Exception) else "KILLED"
        else:
            status = "FAILED" if self._run_failed else "FINISHED"
        for folder in self._open:
            self._write_record(folder, status=status)
        if self._pending:
            _start(self._sync_pending).join(FLUSH_SECONDS)
        if self._pending:
            self._unsent.write(self._mark, b"")
        else:
            self._unsent.remove(self._mark)
        if self._pending and not self._failing:
            say(
                f"MLflow at {self._address} is slow: the rest will be sent by the next command, "
                f"or by: {command('augury', 'track', self.store.root)}"
            )

    def start(self, run: Folder) -> None:
        """Record that a run starts or continues; its folder has `run.json`."""
        if self.tracking.enabled:
            name = RunRecord.read(run).experiment
            experiment = self.store.folder(EXPERIMENTS, name or "")
            self._open.add(experiment)
            for folder in (experiment, run):
                self._write_record(folder, status="RUNNING")

    @contextmanager
    def follow(self, folder: Folder) -> Iterator[None]:
        """Sync a run, or a sweep with all its trials, every few seconds while the block runs."""
        if not self.tracking.enabled:
            yield
            return
        if folder.name.startswith(f"{state.KIND}/"):
            self._open.add(folder)
            self._write_record(folder, status="RUNNING")
        stop, throttle = threading.Event(), Throttle(self.tracking.interval, share=0.2)

        def repeat() -> None:
            # A sync that had waited for it would count as a slow one, and the next come late.
            if self._earlier is not None:
                self._earlier.join()
            while not stop.is_set():
                throttle.run(lambda: self._sync(folder))
                stop.wait(min(1.0, self.tracking.interval))

        with ExitStack() as sampling:
            if self.tracking.system_metrics:
                sampling.enter_context(
                    run_every(self.tracking.interval, _sampler(folder), name="system metrics")
                )
            _start(repeat)
            try:
                yield
            finally:
                stop.set()

    def finish(
        self, run: Folder, status: Literal["FINISHED", "FAILED"], files: Sequence[File] = ()
    ) -> None:
        """Record the end of a run, and sync it with its experiment, scores and outputs, and with
        `files` of its storage."""
        if not self.tracking.enabled:
            return
        entries = []
        for file in files:
            if file.folder.exists(file.name):
                entry = {"folder": file.folder.name, "name": file.name, "directory": file.directory}
                entries.append(entry)
            else:
                say(f"{file.folder.location(file.name)} does not exist and is not logged to MLflow")
        self._run_failed = self._run_failed or status == "FAILED"
        self._write_record(run, status=status, files=entries)
        self._flush(run)

    def extend(self, run: Folder) -> None:
        """Send files added to the folder of a finished run after its end, such as analyses."""
        if self.tracking.enabled:
            self._begin()
            self._pending.add(run)
            self._flush(run)

    def report(self, experiment: str) -> None:
        """Send the summary of an experiment's report, which is made after its runs."""
        self.extend(self.store.folder(EXPERIMENTS, experiment))

    def _begin(self) -> None:
        """Import MLflow, which takes seconds, and send what earlier commands could not.

        A mark in the storage says until the end that there may be something to send.
        """
        with self._writing:
            begun, self._begun = self._begun, True
        if not begun:
            load_mlflow()
            self._unsent.write(self._mark, b"")
            self._earlier = _start(self._sync_earlier)

    def _write_record(self, folder: Folder, **changes: Any) -> None:
        self._begin()
        with self._writing:
            earlier, now = read_record(folder), time.time()
            origin = {"started": now, "source": _source(), "user": _user()}
            folder.write_record(RECORD, {**origin, **earlier, "since": now, **changes})
        self._pending.add(folder)

    def _flush(self, run: Folder) -> None:
        """Sync a run in the background and wait for it unless MLflow is failing."""
        _start(lambda: self._sync(run)).join(0.0 if self._failing else FLUSH_SECONDS)

    def _sync_earlier(self) -> None:
        def send() -> None:
            marks = [name for name in self._unsent.names() if name != self._mark]
            sync_storage(self.store, self.tracking, everything=False)
            for mark in marks:
                self._unsent.remove(mark)

        self._attempt(None, send)

    def _sync_pending(self) -> None:
        for folder in list(self._pending):
            self._sync(folder)
            if self._address in _away:  # nor will it answer for the others
                return

    def _sync(self, folder: Folder) -> None:
        self._attempt(folder, lambda: sync(folder, self.tracking))

    def _attempt(self, subject: Folder | None, send: Callable[[], object]) -> None:
        """Send data; report the start and the end of an outage once each."""
        with self._syncing:
            if time.monotonic() < _away.get(self._address, 0.0):
                self._failing.add(subject)
                return
            pending = self._pending & {subject}
            self._pending -= pending
            try:
                check_answers(place(self.tracking, self.store).uri)
                send()
            except Exception as error:
                # Tracking must not end a run, whatever MLflow or the network does.
                self._pending |= pending
                self._failing.add(subject)
                if isinstance(error, UserError) and not isinstance(error, Unreachable):
                    say_once(f"MLflow is incomplete: {error}")
                    return
                if self._address not in _away:
                    say(
                        f"MLflow at {self._address} is unavailable ({reason(error)}). No data is "
                        f"lost: it stays in {self.store.root} and will be sent when MLflow is "
                        f"back, or by: {command('augury', 'track', self.store.root)}"
                    )
                silent = RETRY_SECONDS if isinstance(error, OSError) else 0.0
                _away[self._address] = time.monotonic() + silent
                return
            self._failing -= {subject, None}
            if self._address in _away and not self._failing:
                del _away[self._address]
                say(f"MLflow at {self._address} is available again; all data has been sent")

    @property
    def _address(self) -> str:
        return redacted(place(self.tracking, self.store).uri)


def _start(work: Callable[[], object]) -> threading.Thread:
    """Run `work` in a daemon thread."""
    thread = threading.Thread(target=work, name="tracking", daemon=True)
    thread.start()
    return thread


def _source() -> str:
    """Return the command line if this process is `augury`, else the name of the program."""
    program, *arguments = sys.argv
    ours = Path(program).name in ("augury", "__main__.py")
    return shlex.join(["augury", *arguments]) if ours else Path(program).name or "python"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user id has no name
        return "unknown"


def _sampler(folder: Folder) -> Callable[[], None]:
    """Return a function that adds a sample of this machine's system metrics to a folder's
    history."""
    from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
    from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
    from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
    from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor

    monitors: list[Any] = [CPUMonitor(), DiskMonitor(), NetworkMonitor()]
    with suppress(ImportError, RuntimeError):  # RuntimeError: no driver
        monitors.append(GPUMonitor())
    history, files = History(folder.sub(SYSTEM)), folder.sub(SYSTEM).sub("history").names()
    samples = itertools.count(1 + max((int(name[:8]) for name in files), default=0))

    def add() -> None:
        metrics: dict[str, float] = {}
        for monitor in monitors:
            monitor.collect_metrics()
            values = monitor.aggregate_metrics()
            metrics |= {f"system/{name}": value for name, value in values.items()}
            monitor.clear_metrics()
        history.add(next(samples), 0.0, metrics)
        history.flush()

    return add
