"""Between the scheduler, which decides, and Ray Tune, which runs: which trials begin, wait, go on and end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from augury.core.store import Folder, Store
from augury.experiments.runs import run_folder
from augury.sweeping.race import Verdict, Work
from augury.sweeping.state import Curves, Decision, Point, Progress


class Key(NamedTuple):
    """A trial: the address of its configuration, and its seed."""

    configuration: str
    seed: int


class Limits(NamedTuple):
    """How much may run."""

    at_once: int
    ahead: int = 0
    """Further trials that Tune may hold ready, where resources alone limit what runs."""
    trials: int | None = None
    """To be begun by this command."""
    deadline: float | None = None
    """Seconds since 1970 after which nothing begins, and what runs ends at its next validation."""
    fail_fast: bool = False


class Scheduler(Protocol):
    """Decides which trials go on: a race, or a study that suggests points."""

    mode: Literal["max", "min"]

    @property
    def decisions(self) -> Sequence[Verdict]:
        """Made so far."""

    @property
    def out(self) -> Collection[str]:
        """Configurations that go no further."""

    def work(self) -> list[Work]: ...

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None: ...

    def fail(self, configuration: str, seed: int) -> None: ...

    @property
    def over(self) -> bool: ...


Start = Callable[[Key], Mapping[str, Any]]
"""Makes a trial's run folder ready and returns the swept values, for Tune to show."""
Done = Callable[[Key], bool]
"""Whether a trial's run is trained and has the scores that are asked for."""


class Dispatcher:
    """Tells the scheduler what the histories hold, and Tune which trials it wants; used by one thread.

    Tune copies and keeps what it is given. A sweep is continued from its run folders and never from Tune's state, so
    that a copy is the dispatcher itself, and what is kept is nothing.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        rungs: Sequence[int | None],
        store: Store,
        curves: Curves,
        limits: Limits,
        *,
        start: Start,
        done: Done,
    ):
        self.scheduler, self.rungs, self.store, self.curves, self.limits = scheduler, rungs, store, curves, limits
        self.start, self.done = start, done
        self.progress: dict[Key, Progress] = {}
        self.errors: dict[Key, str] = {}
        self.decisions: list[Decision] = []
        self.begun: list[Key] = []
        self._reported: set[tuple[Key, int]] = set()

    def __deepcopy__(self, memo: Any) -> Dispatcher:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def replay(self, keys: Sequence[Key]) -> None:
        """Tell the scheduler what is known from earlier commands."""
        for key in keys:
            if self.done(key):
                self.progress[key] = "finished"
            self.tell(key)
        wanted = set(self.wanted())
        for key in keys:
            if key not in self.progress and self.curves.of(self.folder(key)):
                ended = key.configuration in self.scheduler.out or (self.scheduler.over and key not in wanted)
                self.progress[key] = "stopped" if ended else "paused"

    def folder(self, key: Key) -> Folder:
        """Return the folder of the trial's run."""
        return run_folder(self.store, key.configuration, key.seed)

    def tell(self, key: Key) -> None:
        """Pass on the values at all rungs that a run has reached, each the best so far."""
        curve, complete = self.curves.of(self.folder(key)), self.done(key)
        if complete and not curve:
            self.failed(
                key, f"its history has no {self.curves.metric}: the space's metric must be one that it validates"
            )
        for rung, validations in enumerate(self.rungs):
            reached = complete or (validations is not None and len(curve) >= validations)
            if reached and curve and (key, rung) not in self._reported:
                self._reported.add((key, rung))
                self.scheduler.tell(key.configuration, key.seed, rung, self._best(curve[:validations]))
        self._note_decisions()

    def _best(self, curve: Sequence[Point]) -> float:
        values = [point.value for point in curve if math.isfinite(point.value)]
        if not values:
            return math.nan
        return max(values) if self.scheduler.mode == "max" else min(values)

    def _note_decisions(self) -> None:
        for verdict in self.scheduler.decisions[len(self.decisions) :]:
            self.decisions.append(
                Decision(
                    time=time.time(),
                    rung=verdict.rung + 1,
                    validations=self.rungs[verdict.rung],
                    address=verdict.configuration,
                    action=verdict.action,
                    seeds=verdict.seeds,
                    mean=verdict.mean,
                    low=verdict.low,
                    high=verdict.high,
                    cut=verdict.cut,
                )
            )

    @property
    def closing(self) -> bool:
        """Whether nothing may go on: out of time, or a failure that was not to be survived."""
        late = self.limits.deadline is not None and time.time() > self.limits.deadline
        return late or (self.limits.fail_fast and bool(self.errors))

    @property
    def full(self) -> bool:
        """Whether no further trial may begin; those that wait may still go on."""
        return self.closing or (self.limits.trials is not None and len(self.begun) >= self.limits.trials)

    def wanted(self) -> list[Key]:
        """Return the trials that the scheduler wants to go on, most urgent first."""
        wanted = [] if self.closing else self.scheduler.work()
        return list(dict.fromkeys(Key(work.configuration, work.seed) for work in wanted))

    def take(self) -> Key | None:
        """Return a trial that Tune does not have yet, if another may begin."""
        active = sum(self.progress.get(key, "waiting") in ("waiting", "running") for key in self.begun)
        if self.full or active >= self.limits.at_once + self.limits.ahead:
            return None
        for key in self.wanted():
            if key in self.begun:
                continue
            if self.done(key):  # of a point that was only just suggested again
                self.progress[key] = "finished"
                self.tell(key)
                continue
            self.begun.append(key)
            self.progress[key] = "waiting"
            return key
        return None

    def resume(self, paused: Collection[Key], active: int) -> Key | None:
        """Return which of the trials that wait for a decision may go on, while `active` others run or are about to."""
        if active >= self.limits.at_once:
            return None
        return next((key for key in self.wanted() if key in paused), None)

    @property
    def over(self) -> bool:
        """Whether nothing is to go on."""
        return self.closing or self.scheduler.over

    def verdict(self, key: Key, metrics: Iterable[str] = ()) -> Literal["CONTINUE", "PAUSE", "STOP"]:
        """Return what is to become of a running trial after a validation that reported these metrics."""
        self.tell(key)
        if not self.curves.of(self.folder(key)):
            known = ", ".join(sorted(name for name in metrics if name.startswith("valid/")))
            self.failed(key, f"the space's metric {self.curves.metric} is not validated; there is {known}")
            return "STOP"
        if self.closing:
            self.progress[key] = "paused"
            return "STOP"
        if key in self.wanted():
            return "CONTINUE"
        stopped = key.configuration in self.scheduler.out
        self.progress[key] = "stopped" if stopped else "paused"
        return "STOP" if stopped else "PAUSE"

    def returned(self, key: Key) -> None:
        """Take note that the trial's function came to its end."""
        if self.done(key):
            self.progress[key] = "finished"
            self.tell(key)
        elif self.progress.get(key) == "running":
            self.failed(key, "it ended without a result")

    def failed(self, key: Key, error: str) -> None:
        """Take note that the trial failed for good."""
        self.progress[key] = "failed"
        self.errors[key] = error
        self.scheduler.fail(key.configuration, key.seed)
        self._note_decisions()

    def left(self, key: Key) -> None:
        """Take note that Tune has let go of a trial that waited for a decision."""
        if self.progress.get(key) == "paused":
            self.progress[key] = (
                "stopped" if key.configuration in self.scheduler.out or self.scheduler.over else "paused"
            )
