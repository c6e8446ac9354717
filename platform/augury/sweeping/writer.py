"""Write the state of a sweep to the storage from a thread of its own while Tune runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from augury.core.messages import say_once
from augury.core.store import Folder, Store
from augury.core.threads import run_every
from augury.sweeping import state
from augury.sweeping.state import DEFINITION, STATE, Curves, Sweep
from augury.sweeping.trials import Trials

WRITE_SECONDS, REMOTE_WRITE_SECONDS, HEARTBEAT_SECONDS = 1.0, 15.0, 30.0
"""On object stores all that is written and shown takes requests."""

Show = Callable[[Sweep, bool], None]
"""Called about once a second while a sweep runs, and once with True at its end."""


class StateWriter:
    """Writes `state.json` and shows the sweep."""

    def __init__(self, trials: Trials, sweep: Folder, show: Show, deadline: float | None = None):
        """`deadline` is the Unix time at which the budget is spent."""
        self.trials, self.sweep, self.show = trials, sweep, show
        self.deadline = deadline
        self.curves = Curves(sweep.read_record(DEFINITION)["metric"])
        self._written: dict[str, Any] = {}
        self._heartbeat = -math.inf

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write and show the sweep every second while the block runs, less often if that takes
        long."""
        seconds = WRITE_SECONDS if self.sweep.is_local else REMOTE_WRITE_SECONDS

        def update() -> None:
            try:
                self.show(self._write(), False)
            except Exception as error:  # a failing display must not end the sweep
                say_once(
                    "the sweep continues but cannot be shown at the moment: "
                    f"{type(error).__name__}: {error}"
                )

        self._write()
        try:
            with run_every(seconds, update, name="sweep state"):
                yield
        except BaseException:  # Ctrl-C, too: nobody is to think that it runs
            self.show(self._write(stopped=True), True)
            raise

    def end(self, finished: bool) -> Sweep:
        """Write and show the final state of the sweep and return it; one that a limit ended before
        everything was decided is stopped."""
        sweep = self._write(ended=finished, stopped=not finished)
        self.show(sweep, True)
        return sweep

    def _write(self, *, ended: bool = False, stopped: bool = False) -> Sweep:
        """Write the state if it has changed or a heartbeat is due; return the sweep."""
        trials = {
            f"{key.configuration}/seed-{key.seed}": {
                "progress": progress,
                "error": self.trials.errors.get(key),
            }
            for key, progress in dict(self.trials.progress).items()
        }
        scheduler = self.trials.scheduler
        confirmation = scheduler.confirmation
        content = {
            "ended": ended,
            "stopped": stopped,
            "deadline": self.deadline,
            "trials": trials,
            "chosen": scheduler.best,
            "confirmation": confirmation and confirmation._asdict(),
        }
        due = time.monotonic() - self._heartbeat > HEARTBEAT_SECONDS
        if content != self._written or due:
            self._written, self._heartbeat = content, time.monotonic()
            self.sweep.write_record(STATE, {"time": time.time(), **content})
        return state.load(Store(self.sweep.root), self.sweep.name.rpartition("/")[2], self.curves)
