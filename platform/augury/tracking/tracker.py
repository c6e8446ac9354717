"""Records the runs of one command while they train: it notes how they fare in their folders, and syncs these.

What MLflow does not take stays in the folders, and goes out with the next sync: a few seconds later, at the end, with
the next command, or with `augury track`.
"""

from __future__ import annotations

import getpass
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from augury.core.commands import command
from augury.core.errors import UserError
from augury.core.periodic import Throttle, run_every
from augury.core.progress import say, say_once
from augury.core.store import Folder, Store
from augury.experiments import runs
from augury.experiments.recording import File
from augury.experiments.tracking import Tracking, place
from augury.sweeping import state
from augury.tracking.client import Status, load_mlflow
from augury.tracking.runs import EXPERIMENTS, RECORD, SYSTEM, noted
from augury.tracking.sync import Unreachable, reason, sync, sync_storage, without_passwords
from augury.training.history import History

PATIENCE_SECONDS = 20.0  # for the last records of a run, where the store has answered before


class Tracker:
    """Records the runs of one command; nothing here raises or waits because of MLflow."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._syncing, self._writing = threading.Lock(), threading.Lock()
        self._pending: set[Folder] = set()  # what a sync has yet to be told of
        self._open: set[Folder] = set()  # experiments and sweeps that end with the command
        self._refused: set[Folder | None] = set()
        self._failed = False

    def __enter__(self) -> Tracker:
        if self.tracking.enabled:
            load_mlflow()
            _start(self._sync_earlier)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            status: Status = "FAILED" if issubclass(kind, Exception) else "KILLED"
        else:
            status = "FAILED" if self._failed else "FINISHED"
        for folder in self._open:
            self._note(folder, status=status)
        if self._pending:
            _start(self._sync_pending).join(PATIENCE_SECONDS)
        if self._pending and not self._refused:
            say(
                f"MLflow at {self._address} is slow: the rest goes out with the next command, or with: "
                f"{command('augury', 'track', self.store.root)}"
            )

    def start(self, run: Folder) -> None:
        """Note that a run begins or continues; its folder holds `run.json`."""
        if self.tracking.enabled:
            experiment = self.store.folder(EXPERIMENTS, run.read_json(runs.DESCRIPTION)["experiment"])
            self._open.add(experiment)
            for folder in (experiment, run):
                self._note(folder, status="RUNNING")

    @contextmanager
    def follow(self, folder: Folder) -> Iterator[None]:
        """Sync a run, or a sweep with all its trials, every few seconds while the block runs."""
        if not self.tracking.enabled:
            yield
            return
        if folder.name.startswith(f"{state.KIND}/"):
            self._open.add(folder)
            self._note(folder, status="RUNNING")
        stop, throttle = threading.Event(), Throttle(self.tracking.interval, share=0.1)

        def repeat() -> None:
            while not stop.is_set():
                throttle.run(lambda: self._sync(folder))
                stop.wait(min(1.0, self.tracking.interval))

        with ExitStack() as sampling:
            if self.tracking.system_metrics:
                sampling.enter_context(run_every(self.tracking.interval, _sampler(folder), name="system metrics"))
            _start(repeat)
            try:
                yield
            finally:
                stop.set()

    def finish(self, run: Folder, status: Literal["FINISHED", "FAILED"], files: Sequence[File] = ()) -> None:
        """Note how a run has ended, with `files` to keep beside its experiment, scores and outputs, and sync it."""
        if self.tracking.enabled:
            for file in files:
                if not file.folder.exists(file.name):
                    say(f"{file.folder.uri}/{file.name} is not there and so not kept with the run in MLflow")
            entries = [
                {"root": file.folder.root, "folder": file.folder.name, "name": file.name, "directory": file.directory}
                for file in files
                if file.folder.exists(file.name)
            ]
            self._failed = self._failed or status == "FAILED"
            self._note(run, status=status, files=entries)
            _start(lambda: self._sync(run)).join(0.0 if self._refused else PATIENCE_SECONDS)

    def extend(self, run: Folder) -> None:
        """Send what has come to the folder of a finished run since its end, such as analyses."""
        if self.tracking.enabled:
            self._pending.add(run)
            _start(lambda: self._sync(run)).join(0.0 if self._refused else PATIENCE_SECONDS)

    def _note(self, folder: Folder, **changes: Any) -> None:
        with self._writing:
            earlier, now = noted(folder), time.time()
            origin = {"started": now, "source": _source(), "user": _user()}
            folder.write_json(RECORD, {**origin, **earlier, "since": now, **changes})
        self._pending.add(folder)

    def _sync_earlier(self) -> None:
        def send() -> None:
            sync_storage(self.store, self.tracking, everything=False)

        self._attempt(None, send)

    def _sync_pending(self) -> None:
        for folder in list(self._pending):
            self._sync(folder)

    def _sync(self, folder: Folder) -> None:
        self._attempt(folder, lambda: sync(folder, self.tracking))

    def _attempt(self, subject: Folder | None, send: Callable[[], object]) -> None:
        """Send something, and say once that it was not taken, and once that MLflow takes records again."""
        with self._syncing:
            pending = {folder for folder in self._pending if folder == subject}
            self._pending -= pending
            try:
                send()
            except Exception as error:  # MLflow, its database, the network: a run is worth more than its record
                self._pending |= pending
                if isinstance(error, UserError) and not isinstance(error, Unreachable):
                    say_once(f"not all is recorded in MLflow: {error}")
                elif not self._refused:
                    say(
                        f"MLflow at {self._address} takes no records ({reason(error)}). Nothing is lost: "
                        f"they stay in {self.store.root} and go out when it answers, or with: "
                        f"{command('augury', 'track', self.store.root)}"
                    )
                self._refused.add(subject)
                return
            was_refused = bool(self._refused)
            self._refused -= {subject, None}
            if was_refused and not self._refused:
                say(f"MLflow at {self._address} takes records again; what was kept has been sent")

    @property
    def _address(self) -> str:
        return without_passwords(place(self.tracking, self.store).uri)


def _start(work: Callable[[], object]) -> threading.Thread:
    """Do `work` in a thread that does not keep the process alive."""
    thread = threading.Thread(target=work, name="tracking", daemon=True)
    thread.start()
    return thread


def _source() -> str:
    """Return the command of this process, for people; a notebook's is its kernel's and says nothing."""
    program, *words = sys.argv
    ours = Path(program).name in ("augury", "__main__.py")
    return shlex.join(["augury", *words]) if ours else Path(program).name or "python"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a name for the user's number
        return "unknown"


def _sampler(folder: Folder) -> Callable[[], None]:
    """Return what adds a sample of this machine's load to a folder's history, in MLflow's names for it."""
    from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
    from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
    from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
    from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor

    monitors: list[Any] = [CPUMonitor(), DiskMonitor(), NetworkMonitor()]
    try:
        monitors.append(GPUMonitor())
    except ImportError:
        pass
    except RuntimeError:  # no driver
        pass
    system = folder.sub(SYSTEM)
    history = History(system)
    sample = max((int(name.partition(".")[0].rstrip("~")) for name in system.sub("history").names()), default=0)

    def add() -> None:
        nonlocal sample
        sample += 1
        metrics: dict[str, float] = {}
        for monitor in monitors:
            monitor.collect_metrics()
            metrics |= {f"system/{name}": value for name, value in monitor.aggregate_metrics().items()}
            monitor.clear_metrics()
        history.add(sample, 0.0, metrics)
        history.flush()

    return add
