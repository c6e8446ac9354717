"""A Ray on this machine alone: its start, its end without leftovers, and what happens if one of its
main processes dies.

Ray cannot live without its GCS (the register of the cluster) or its raylet (which starts workers):
a minute after the death of one, its C++ code ends the command. All state of a command is in the
storage; the command line therefore begins it anew at once, and it goes on from its checkpoints.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import psutil

from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.temporary import ray_directory

RESTARTS = "AUGURY_RESTARTS"
"""The variable that counts how often a command was begun anew."""
STARTS = 5
"""Attempts to start a local Ray."""
LATE = ("timed out during startup", "Timed out waiting for file")
"""Parts of the messages of Ray that does not start in time."""
POLL_SECONDS = 0.5
ESSENTIAL = {"gcs_server": "Ray's GCS", "raylet": "Ray's raylet"}
"""The programs that Ray cannot do without, and their names in messages."""
LONGEST = 41
"""Bytes of a directory in which the names of Ray's sockets fit into the 107 of Linux."""

Recover = Callable[[str], None]
"""Called on a thread of its own with the name of what died, when the rest of Ray is ended."""


class _Recovery:
    """What to do when Ray has died; a program that says nothing is told so."""

    call: Recover | None = None


def on_death(recover: Recover | None) -> None:
    """Let `recover` be called where the local Ray of this process dies; None for a message."""
    _Recovery.call = recover


def start(options: Mapping[str, Any]) -> None:
    """Start a local Ray, again where its node is not up within Ray's half minute, as on a busy
    machine; UserError where it stays so."""
    import ray

    directory = ray_directory()
    options = dict(options)
    if len(os.fsencode(directory)) <= LONGEST:
        options["_temp_dir"] = str(directory)
    variables = {"TMPDIR": str(directory), **options.get("runtime_env", {}).get("env_vars", {})}
    options["runtime_env"] = {"env_vars": variables}
    atexit.register(_end, directory)  # before Ray's own
    # It prints there why it has no dashboard, which it does without, and raises the rest.
    logging.getLogger("ray._private.services").setLevel(logging.CRITICAL)
    for attempt in range(1, STARTS + 1):
        watch = _Watch(directory)
        try:
            ray.init(address="local", **options)
            watch.is_connected = True
            return
        except Exception as error:  # Ray has no class of its own for it
            dead = watch.dead()
            if watch.is_final and _Recovery.call:  # the watch has the command begun anew
                raise
            watch.end()
            if not dead and not any(words in str(error) for words in LATE):
                raise
            what = f"{dead[0]} died" if dead else "Ray's node was not up within 30 s"
            say(f"{what} while Ray started ({attempt} of {STARTS} attempts)")
    raise UserError(
        "Ray does not start on this machine, which may be too busy: end other work, or wait, and "
        "repeat the command, which continues; or join a cluster by execution.address"
    )


def await_recovery() -> None:
    """Wait for what `on_death` has asked for where a main process of Ray is dead, whose death has
    just caused an error."""
    for watch in _Watch.running:
        if not watch.stopped.is_set() and watch.dead():
            watch.join()


def _end(directory: Path) -> None:
    """End the local Ray with all that it has written."""
    import ray

    for watch in _Watch.running:
        watch.stopped.set()
    ray.shutdown()
    shutil.rmtree(directory, ignore_errors=True)


class _Watch(threading.Thread):
    """Waits until Ray is shut down, or one of its main processes dies, also while it starts."""

    running: ClassVar[list[_Watch]] = []

    def __init__(self, directory: Path):
        super().__init__(name="ray", daemon=True)
        self.directory, self.stopped, self.is_connected = directory, threading.Event(), False
        self.before = {*psutil.Process().children(recursive=True)}
        """What is none of this Ray's."""
        self.processes: set[psutil.Process] = set()
        """All that were seen: those of a raylet that is dead are no children any more."""
        self.essential: dict[psutil.Process, str] = {}
        self.running.append(self)
        self.start()

    def run(self) -> None:
        while not self.stopped.wait(POLL_SECONDS):
            with contextlib.suppress(psutil.Error):
                self._look()
            if self.is_final:
                if not self.stopped.wait(POLL_SECONDS) and not self._was_shut_down():
                    _on_death(self.dead()[0], self.processes, self.directory)
                return

    def dead(self) -> list[str]:
        """Return the names of main processes that are dead."""
        return [name for process, name in list(self.essential.items()) if _is_dead(process)]

    @property
    def is_final(self) -> bool:
        """Whether Ray cannot go on: without a raylet it raises an error within 30 s while it
        starts, and is started again; it would wait longer for its GCS."""
        dead = self.dead()
        return bool(dead) and (self.is_connected or set(dead) != {ESSENTIAL["raylet"]})

    def end(self) -> None:
        """Stop, and end what was started of a Ray that has failed to start."""
        import ray

        self.stopped.set()
        ray.shutdown()  # knows nothing of a node that is not up
        self._look()
        _kill(self.processes - self.before)

    def _look(self) -> None:
        for child in psutil.Process().children(recursive=True):
            self.processes.add(child)
            # By its name and each time: a process that has no program yet, or is dead before it is
            # seen, has no command line.
            with contextlib.suppress(psutil.Error):
                name = ESSENTIAL.get(child.name())
                if name and child not in self.before:  # of a Ray that is dead, or of others
                    self.essential[child] = name

    def _was_shut_down(self) -> bool:
        """Return whether `ray.shutdown` has ended the processes, after it has disconnected."""
        import ray

        return self.is_connected and not ray.is_initialized()


def _is_dead(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE or not process.is_running())
    except psutil.NoSuchProcess:
        return True


def _on_death(name: str, processes: Iterable[psutil.Process], directory: Path) -> None:
    if _Recovery.call is None:
        say(f"warning: {name} has died, and with it everything that runs on Ray: start again")
        return
    _kill(processes)
    shutil.rmtree(directory, ignore_errors=True)
    _Recovery.call(name)


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):  # which knows other processes of the same number
            process.kill()
    psutil.wait_procs([*processes], timeout=10)
