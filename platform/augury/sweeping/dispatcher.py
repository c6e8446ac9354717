"""The link between a scheduler, which decides, and what runs trials: which of them start, pause,
resume and stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from augury.core.periodic import Throttle
from augury.core.store import Folder, Store
from augury.runs.record import run_folder
from augury.sweeping.closing import Closing
from augury.sweeping.price import net
from augury.sweeping.race import RungDecision, Work
from augury.sweeping.state import Curves, Decision, Point, Progress, TrialKey

if TYPE_CHECKING:
    from augury.sweeping.inputs import Inputs

CLOSING_SECONDS = 5.0
"""How often it is asked what a budget should end with."""
ERROR, OUTAGE = "error", "outage"
"""Keys of the reports of a failure, and of what ends the sweep."""


class Limits(NamedTuple):
    """Limits on the trials of one command."""

    at_once: int
    """Maximum number of concurrent trials."""
    trials: int | None = None
    """Maximum number of trials to start."""
    deadline: float | None = None
    """Time of the monotonic clock after which no trial starts, and running trials end at their next
    validation."""
    fail_fast: bool = False


class Scheduler(Protocol):
    """Decides which trials continue: a race, or an Optuna study."""

    mode: Literal["max", "min"]

    @property
    def decisions(self) -> Sequence[RungDecision]:
        """The decisions so far."""

    @property
    def eliminated(self) -> Collection[str]:
        """Configurations that are not trained any further."""

    def work(self) -> list[Work]: ...

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None: ...

    def fail(self, configuration: str, seed: int) -> None: ...

    @property
    def finished(self) -> bool: ...


StartTrial = Callable[[TrialKey], Mapping[str, Any]]
"""Prepares a trial's run folder and returns the swept values."""
Action = Literal["CONTINUE", "PAUSE", "STOP"]
IsDone = Callable[[TrialKey], bool]
"""Whether a trial's run is trained and has the requested scores."""


@dataclass(eq=False)
class Dispatcher:
    """Reports the histories of trials to the scheduler and says which trials to run.

    Used by one thread.
    """

    scheduler: Scheduler
    rungs: Sequence[int | None]
    store: Store
    curves: Curves
    limits: Limits
    start: StartTrial
    done: IsDone
    inputs: Inputs | None = None
    """What trials wait for; None where everything is there."""
    compared: Callable[[TrialKey], bool] = lambda key: True
    """Whether the scheduler knows a trial; others are trained for those."""
    closing: Closing | None = None
    """Chooses what a budget ends with."""
    price: Callable[[str], float] = lambda address: 0.0
    """The price of the training time of a configuration, in points of the metric."""
    progress: dict[TrialKey, Progress] = field(default_factory=dict)
    errors: dict[TrialKey, str] = field(default_factory=dict)
    outage: str | None = None
    """Why no trial can go on, whatever its configuration."""
    decisions: list[Decision] = field(default_factory=list)
    started: list[TrialKey] = field(default_factory=list)
    _reported: set[tuple[TrialKey, int]] = field(default_factory=set)
    _last_trials: list[TrialKey] = field(default_factory=list)
    _closing_throttle: Throttle = field(default_factory=lambda: Throttle(CLOSING_SECONDS))

    def replay(self, keys: Sequence[TrialKey]) -> None:
        """Tell the scheduler the results of earlier commands."""
        for key in keys:
            if self.done(key):
                self.progress[key] = "finished"
            self.update(key)
        wanted = set(self.wanted())
        for key in keys:
            if key not in self.progress and self.curves.of(self.folder(key)):
                stopped = self._eliminated(key) or (self.scheduler.finished and key not in wanted)
                self.progress[key] = "stopped" if stopped else "paused"

    def folder(self, key: TrialKey) -> Folder:
        """Return the folder of the trial's run."""
        return run_folder(self.store, key.configuration, key.seed)

    def update(self, key: TrialKey) -> None:
        """Tell the scheduler the best value so far at every rung that a trial has reached."""
        if not self.compared(key):
            return
        curve, complete = self.curves.of(self.folder(key)), self.done(key)
        if complete and not curve:
            self.on_error(
                key,
                f"the history has no {self.curves.metric}: choose a metric that the task validates",
            )
        for rung, validations in enumerate(self.rungs):
            reached = complete or (validations is not None and len(curve) >= validations)
            if reached and curve and (key, rung) not in self._reported:
                self._reported.add((key, rung))
                value = self._best(curve[:validations])
                paid = net(value, self.price(key.configuration), self.scheduler.mode)
                self.scheduler.tell(key.configuration, key.seed, rung, paid)
        self._collect_decisions()

    @property
    def stopping(self) -> bool:
        """Whether running trials must end: the deadline has passed, nothing can be written, or a
        trial failed under `fail_fast`."""
        late = self.limits.deadline is not None and time.monotonic() > self.limits.deadline
        return late or self.outage is not None or (self.limits.fail_fast and bool(self.errors))

    @property
    def full(self) -> bool:
        """Whether no further trial may start; paused trials may still resume."""
        return self.stopping or (
            self.limits.trials is not None
            and sum(map(self.compared, self.started)) >= self.limits.trials
        )

    @property
    def finished(self) -> bool:
        """Whether no trial is to continue."""
        return self.stopping or self.scheduler.finished

    def wanted(self) -> list[TrialKey]:
        """Return the trials that the scheduler wants to continue, most urgent first.

        In place of one that has to wait come the trials that it waits for.
        """
        if last := self._closing_trials():
            return last
        work = [] if self.stopping else self.scheduler.work()
        keys = dict.fromkeys(TrialKey(item.configuration, item.seed) for item in work)
        if self.inputs is None:
            return list(keys)
        wanted: dict[TrialKey, None] = {}
        for key in keys:
            if (error := self.inputs.error(key)) is not None and key not in self.errors:
                self.on_error(key, error)
            else:
                wanted |= dict.fromkeys(self.inputs.trials_for(key))
        return list(wanted)

    def _closing_trials(self) -> list[TrialKey]:
        """Return the trials to finish in place of all others before the budget ends."""
        if self.closing is None or self.stopping:
            return []
        closing, compared = self.closing, [*filter(self.compared, self.progress)]
        finished = [key for key in compared if self.progress[key] == "finished"]
        if any(key.configuration != closing.reference for key in finished):
            self.closing = None  # there is something to compare
            return []
        active = [key for key in compared if self.progress[key] in ("waiting", "running", "paused")]
        active = [key for key in active if not self._eliminated(key)]

        def look() -> None:
            known = {key: self.curves.of(self.folder(key)) for key in (*active, *finished)}
            curves = {key: curve for key, curve in known.items() if curve}
            self._last_trials = closing.trials(curves, finished, self.limits.at_once)

        self._closing_throttle.run(look)
        return [key for key in self._last_trials if key in active]

    def next_trial(self, paused: Collection[TrialKey] = (), standby: int = 0) -> TrialKey | None:
        """Return the most urgent trial that may run now, one of the paused or a new one, or None.

        `standby` is how many more are started than run at once.
        """
        active = sum(
            self.progress.get(key, "waiting") in ("waiting", "running") for key in self.started
        )
        full = self.full
        if active >= self.limits.at_once + standby or (full and not paused):
            return None
        for key in self.wanted():
            if key in paused:
                return key
            if full or key in self.started:
                continue
            if self.done(key):  # the study has just suggested a point again
                self.progress[key] = "finished"
                self.update(key)
                continue
            self.started.append(key)
            self.progress[key] = "waiting"
            return key
        return None

    def next_to_resume(self, paused: Collection[TrialKey], active: int) -> TrialKey | None:
        """Return the paused trial to resume while `active` others run or are about to, or None."""
        if active >= self.limits.at_once:
            return None
        return next((key for key in self.wanted() if key in paused), None)

    def dropped(self, inactive: Iterable[TrialKey]) -> list[TrialKey]:
        """Return those of the paused and queued trials that will not continue."""
        wanted = set(self.wanted())
        return [
            key
            for key in inactive
            if key not in wanted and (self.finished or self._eliminated(key))
        ]

    def on_report(self, key: TrialKey, report: Mapping[str, Any]) -> Action:
        """Return the decision on a running trial that has reported a validation or a failure."""
        if outage := report.get(OUTAGE):  # the trial may go on later
            self.progress[key], self.outage = "paused", outage
            return "STOP"
        if error := report.get(ERROR):
            self.on_error(key, error)
            return "STOP"
        return self.on_result(key, report)

    def on_result(self, key: TrialKey, metrics: Iterable[str] = ()) -> Action:
        """Return the decision on a running trial after a validation that reported these metrics."""
        self.update(key)
        if self.compared(key) and not self.curves.of(self.folder(key)):
            validated = ", ".join(sorted(name for name in metrics if name.startswith("valid/")))
            self.on_error(
                key,
                f"the space's metric {self.curves.metric} is not validated: set 'metric' to one of "
                f"{validated}",
            )
            return "STOP"
        if self.stopping:
            self.progress[key] = "paused"
            return "STOP"
        if key in self.wanted():
            return "CONTINUE"
        stopped = self._eliminated(key) or self.scheduler.finished
        self.progress[key] = "stopped" if stopped else "paused"
        return "STOP" if stopped else "PAUSE"

    def on_complete(self, key: TrialKey) -> None:
        """Record that the trial's function has returned."""
        if self.done(key):
            self.progress[key] = "finished"
            self.update(key)
        elif self.progress.get(key) == "running":
            self.on_error(key, "the trial ended without a result")

    def on_error(self, key: TrialKey, error: str) -> None:
        """Record that the trial failed permanently."""
        self.progress[key] = "failed"
        self.errors[key] = error
        if self.inputs is not None:
            self.inputs.fail(key, error)
        if self.compared(key):
            self.scheduler.fail(key.configuration, key.seed)
            self._collect_decisions()

    def running(self) -> list[str]:
        """Return the folders of the runs that are trained now."""
        running = [key for key, state in dict(self.progress).items() if state == "running"]
        return [self.folder(key).name for key in running]

    def describe_retry(self, key: TrialKey) -> str:
        """Return a message on a trial whose process has died, and from where it goes on."""
        folder = self.folder(key)
        curve = self.curves.of(folder)
        place = f"validation {curve[-1].validation}" if curve else "its beginning"
        return f"the process of {folder.name} has died: it goes on from {place} or later"

    def on_remove(self, key: TrialKey) -> None:
        """Record that a paused trial will not be resumed."""
        if self.progress.get(key) == "paused" and (
            self._eliminated(key) or self.scheduler.finished
        ):
            self.progress[key] = "stopped"

    def _eliminated(self, key: TrialKey) -> bool:
        return key.configuration in self.scheduler.eliminated

    def _best(self, curve: Sequence[Point]) -> float:
        values = [point.value for point in curve if math.isfinite(point.value)]
        if not values:
            return math.nan
        return max(values) if self.scheduler.mode == "max" else min(values)

    def _collect_decisions(self) -> None:
        """Take over new decisions, in values of the metric: the cut is the configuration's own."""
        for decision in self.scheduler.decisions[len(self.decisions) :]:
            price, mode = self.price(decision.configuration), self.scheduler.mode
            interval = (decision.mean, decision.low, decision.high, decision.cut)
            mean, low, high, cut = (net(value, -price, mode) for value in interval)
            self.decisions.append(
                Decision(
                    time=time.time(),
                    rung=decision.rung + 1,
                    validations=self.rungs[decision.rung],
                    address=decision.configuration,
                    action=decision.action,
                    seeds=decision.seeds,
                    mean=mean,
                    low=low,
                    high=high,
                    cut=cut,
                )
            )
