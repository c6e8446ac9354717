"""The processes in which the local executor runs trials: copies of one that has imported what they
use, where the system can copy it, or else processes that import it each.

Imports take longer than a short trial, and copies share their memory.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from multiprocessing.reduction import send_handle
from pathlib import Path

from augury.core.execution import HOLDS_CPUS

SERVER_LOG = "server.log"
SERVER = "augury.sweeping.worker_server"
EARLY_THREADS = 1
"""The threads of a worker unless a trial has several cores."""
UNKNOWN = 256
"""The exit code of a copy where the process that could tell it has died; no real one is as high."""


class Workers:
    """Starts workers for the trials of some tasks."""

    def __init__(self, tasks: Sequence[str], logs: Path, threads: int):
        """`logs` is a folder, `threads` the number that a worker uses."""
        self.tasks, self.threads, self.log = tasks, threads, logs / SERVER_LOG
        self.copies = _can_copy()
        self.server: _Server | None = None

    def warm_up(self) -> None:
        """Import what trials use, in the background."""
        if self.copies and (self.server is None or not self.server.alive):
            self.close()
            if _early and self.threads == EARLY_THREADS and _early[0].alive:
                self.server = _early.pop()
            else:
                end_early_imports()
                self.server = _Server(self.threads, self.log)
            self.server.load(self.tasks, self.log)

    def start(self, connection: int, log: Path) -> Worker:
        """Start a worker on a file descriptor, with its output in `log`; it has ended already where
        what it is copied from cannot start."""
        if not self.copies:
            return _popen("augury.sweeping.worker", connection, self.threads, log, *self.tasks)
        self.warm_up()
        assert self.server is not None
        return self.server.start(connection, log)

    def close(self) -> None:
        """End the process that workers are copied from."""
        if self.server is not None:
            self.server.close()
            self.server = None


@contextmanager
def early_imports() -> Iterator[None]:
    """Import what the trials of all tasks use in the background, while the block finds out which
    trials there are; `Workers` go on with the process."""
    if _can_copy():
        _early.append(_Server(EARLY_THREADS, Path(os.devnull)))
    try:
        yield
    finally:
        end_early_imports()


def end_early_imports() -> None:
    """End the process of `early_imports` unless `Workers` have taken it."""
    while _early:
        _early.pop().close()


class _Server:
    """The process that is copied, as the command sees it."""

    def __init__(self, threads: int, log: Path):
        self.log = log
        self.connection, theirs = Pipe()
        with theirs:
            self.process = _popen(SERVER, theirs.fileno(), threads, log)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def load(self, tasks: Sequence[str], log: Path) -> None:
        """Have the process import what trials of tasks use, with its output in `log`."""
        self.log = log
        with suppress(OSError):  # it has ended, which `start` will find
            self.connection.send((tasks, str(log)))

    def close(self) -> None:
        """End the process at once."""
        self.connection.close()
        self.process.kill()
        self.process.wait()

    def start(self, connection: int, log: Path) -> Worker:
        """Return a copy, once all is imported; the process itself where it has died."""
        try:
            with self._asking():
                self.connection.send(str(log))
                send_handle(self.connection, connection, self.process.pid)
                return Copy(self, self.connection.recv())
        except (EOFError, OSError):
            with log.open("a") as output:
                output.write(f"the process that others are copied from has ended: see {self.log}\n")
            return self.process

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a copy that has ended, negative for a signal; UNKNOWN where this
        process has died as well."""
        try:
            with self._asking():
                self.connection.send(pid)
                return int(self.connection.recv())
        except (EOFError, OSError):
            return UNKNOWN

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """End the process where a question is left without its answer, as by Ctrl-C: the next one
        would read it."""
        try:
            yield
        except BaseException:
            self.connection.close()
            self.process.kill()
            raise


class Copy:
    """A worker that is no child of this process, with the methods of Popen that are used."""

    def __init__(self, server: _Server, pid: int):
        self.server, self.pid = server, pid
        # The number is still its own, as the server waits for it when it is asked to.
        self.descriptor = os.pidfd_open(pid)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the process has ended; TimeoutExpired after `timeout`
        seconds."""
        if self.returncode is None:
            if not wait([self.descriptor], timeout):
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            self.returncode = self.server.exit_code(self.pid)
            os.close(self.descriptor)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.descriptor, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


Worker = subprocess.Popen[bytes] | Copy
_early: list[_Server] = []
"""The process that imports before the trials are known, if there is one."""


def _popen(
    module: str, connection: int, threads: int, log: Path, *words: str
) -> subprocess.Popen[bytes]:
    """Run a module in a new process, with its output in `log`."""
    environment = {
        **os.environ,
        HOLDS_CPUS: "1",
        "OMP_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    with log.open("ab") as output:
        # A group of its own: the terminal's Ctrl-C reaches the command alone, which passes it on. A
        # new interpreter, as that of a script or a notebook cannot be copied.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(connection), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            pass_fds=[connection],
            process_group=0,
        )


def _can_copy() -> bool:
    """Return whether processes can be copied and referred to: not on macOS, whose libraries do not
    work in copies, and not on Linux before 5.3."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True
