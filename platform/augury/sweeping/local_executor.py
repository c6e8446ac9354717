"""Trials in processes of this machine, one for every slot, each used for one trial after the other.

No Ray is started, so that the first trial begins while it would still start.
"""

from __future__ import annotations

import math
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path

from augury.core.cores import available_cores
from augury.core.errors import UserError
from augury.core.outages import Outage
from augury.core.progress import say
from augury.core.store import Folder
from augury.experiments.spec import Experiment
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.executors import Placement, TrialExecutor
from augury.sweeping.state import TrialKey
from augury.sweeping.trial import TrialSettings
from augury.sweeping.workers import SERVER_LOG, UNKNOWN, Worker, Workers

LOGS = "workers"
"""The subfolder of a sweep with the messages and tracebacks of its processes."""
STEP_SECONDS = 0.1
"""How often it is asked for further trials while a slot is free."""
STOP_SECONDS = 20.0
"""How long trials have to save their state after Ctrl-C."""


class LocalExecutor(TrialExecutor):
    """Runs trials in processes of this machine."""

    def __init__(self, experiments: Sequence[Experiment], at_once: int | None, sweep: Folder):
        """Make a slot for every trial at once; UserError where fewer than `at_once` fit."""
        execution = experiments[0].execution
        self.max_failures = execution.max_failures
        cores = available_cores()
        fit = math.floor(cores / execution.cpus_per_worker + 1e-9)
        if not fit or (at_once or 0) > fit:
            raise UserError(
                f"{f'--at-once {at_once}: ' if fit else ''}{fit} trials fit this machine at once, "
                f"which has {cores} cores, and a trial needs {execution.cpus_per_worker:g}: lower "
                f"{'--at-once' if fit else 'execution.cpus_per_worker'}, or use a cluster"
            )
        self.placement = Placement(
            launcher="direct",
            device="cpu",
            threads=execution.threads or max(1, int(execution.cpus_per_worker)),
            at_once=at_once or min(fit, execution.most_at_once or fit),
            needed=f"{execution.cpus_per_worker:g} CPU",
        )
        logs = Path(sweep.path(LOGS) if sweep.is_local else tempfile.gettempdir())
        logs.mkdir(parents=True, exist_ok=True)
        tasks = dict.fromkeys(experiment.task for experiment in experiments)
        self.workers = Workers([*tasks], logs, self.placement.threads)
        self.slots = [
            _Slot(logs / f"{number}.log", self.workers)
            for number in range(1, self.placement.at_once + 1)
        ]
        self.paused: set[TrialKey] = set()
        self.failures: Counter[TrialKey] = Counter()

    def warm_up(self) -> None:
        """Import what trials use while the first is prepared."""
        self.workers.warm_up()

    def __exit__(self, *error: object) -> None:
        """End all processes; a trial that trains saves its state first."""
        try:
            busy = [slot for slot in self.slots if slot.key]
            for slot in busy:
                slot.process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + STOP_SECONDS
            while busy:
                seconds = max(0.0, deadline - time.monotonic())
                ready = wait([slot.connection for slot in busy], seconds)
                if not ready:
                    break
                for slot in [slot for slot in busy if slot.connection in ready]:
                    if not slot.let_end():
                        slot.wait(deadline - time.monotonic())
                        busy.remove(slot)
        finally:  # after a second Ctrl-C, too
            for slot in self.slots:
                slot.kill()
            self.workers.close()

    def run(self, dispatcher: Dispatcher, settings: TrialSettings) -> None:
        """Run trials until everything is decided or a limit is reached."""
        while True:
            for slot in self.slots:
                if slot.key is None and (key := dispatcher.next_trial(self.paused)):
                    self._start(slot, key, dispatcher, settings)
            busy = [slot for slot in self.slots if slot.key]
            if not busy and (dispatcher.finished or dispatcher.full):
                break
            ready = wait([slot.connection for slot in busy], STEP_SECONDS)
            for slot in busy:
                if slot.connection in ready:
                    self._answer(slot, dispatcher, settings)
            if ready:
                for key in dispatcher.dropped(self.paused):
                    self._drop(key, dispatcher)
        for key in list(self.paused):  # no result is left to wait for
            self._drop(key, dispatcher)
        if dispatcher.outage is not None:
            raise Outage(dispatcher.outage)

    def _start(
        self, slot: _Slot, key: TrialKey, dispatcher: Dispatcher, settings: TrialSettings
    ) -> None:
        """Start a new or a paused trial in a free slot."""
        if key in self.paused:
            self.paused.remove(key)
        else:
            dispatcher.start(key)
        dispatcher.progress[key] = "running"
        slot.run(key, settings)

    def _answer(self, slot: _Slot, dispatcher: Dispatcher, settings: TrialSettings) -> None:
        """Answer the report of a trial, or note that it has ended or its process has died."""
        key = slot.key
        assert key is not None
        try:
            report = slot.connection.recv()
        except (EOFError, OSError):
            self._retry(slot, key, dispatcher, settings)
            return
        if report is None:  # the trial has returned
            slot.key = None
            dispatcher.on_complete(key)
            return
        action = dispatcher.on_report(key, report)
        if action != "CONTINUE":
            slot.key = None
        if action == "PAUSE":
            self.paused.add(key)
        slot.send(action)

    def _retry(
        self, slot: _Slot, key: TrialKey, dispatcher: Dispatcher, settings: TrialSettings
    ) -> None:
        """Continue a trial whose process has died in a new one, unless it has died too often."""
        slot.wait(STOP_SECONDS)  # its connection is closed some time before it has ended
        slot.kill()
        self.failures[key] += 1
        if self.failures[key] <= self.max_failures and not dispatcher.stopping:
            say(f"warning: {dispatcher.describe_retry(key)}")
            slot.run(key, settings)
            return
        slot.key = None
        if dispatcher.stopping:
            dispatcher.progress[key] = "paused"
            return
        often = f" {self.failures[key]} times" if self.failures[key] > 1 else ""
        dispatcher.on_error(key, f"its process ended{often}: {slot.death()} (log: {slot.log})")

    def _drop(self, key: TrialKey, dispatcher: Dispatcher) -> None:
        self.paused.remove(key)
        dispatcher.on_remove(key)


class _Slot:
    """A place for one trial at a time, with its process."""

    process: Worker
    connection: Connection

    def __init__(self, log: Path, workers: Workers):
        self.log, self.workers = log, workers
        self.key: TrialKey | None = None
        """The trial that runs."""

    def run(self, key: TrialKey, settings: TrialSettings) -> None:
        """Run a trial, in a new process where there is none."""
        if not self.begun or self.process.poll() is not None:
            self.begin()
        self.key = key
        self.send((key, settings))

    def send(self, message: object) -> None:
        """Send a message to the process; where it has died, reading from it will say so."""
        with suppress(OSError):
            self.connection.send(message)

    def let_end(self) -> bool:
        """Answer a report of a trial that was interrupted while it waited for the answer; return
        whether there was one."""
        try:
            report = self.connection.recv()
        except (EOFError, OSError):
            return False
        if report is not None:
            self.send("CONTINUE")
        return report is not None

    def death(self) -> str:
        """Return how the process ended."""
        code = self.process.wait()
        if code == UNKNOWN:
            return f"how is not known (see {SERVER_LOG} beside its log)"
        if code == -signal.SIGKILL:
            return "it was killed (SIGKILL), as where memory runs out; --at-once 1 needs less"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def wait(self, seconds: float) -> None:
        """Wait for the end of the process."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds))

    def kill(self) -> None:
        """End the process at once, if there is one."""
        if hasattr(self, "connection"):
            self.connection.close()
        if self.begun:
            self.process.kill()
            self.process.wait()

    @property
    def begun(self) -> bool:
        """Whether there is, or was, a process."""
        return hasattr(self, "process")

    def begin(self) -> None:
        """Start a process; it ends with this one, which holds the other end of its connection."""
        self.connection, theirs = Pipe()
        with theirs:
            self.process = self.workers.start(theirs.fileno(), self.log)
