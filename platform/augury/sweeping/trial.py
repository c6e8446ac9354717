"""A trial, one configuration with one seed, as the function that executors run in a process.

All state is in the run's folder, the same as for `augury train`: a trial that was paused, killed or
started by another command continues from its last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

from augury.core.errors import UserError
from augury.core.locks import locked
from augury.core.memory import release_memory
from augury.core.outages import outage_of
from augury.core.store import Folder, Store
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.dispatcher import ERROR, OUTAGE
from augury.sweeping.state import KIND, Curves, TrialKey
from augury.training.trained import FAILURE

Report = Callable[[dict[str, Any]], None]
"""Reports a validation or a failure; raises no Exception, but something else, to end the call."""


@dataclass(frozen=True)
class TrialSettings:
    """The settings shared by all trials of a sweep."""

    storage: str
    sweep: str
    metric: str
    rungs: tuple[int | None, ...]
    """Validations at which the scheduler decides; None: the end of training."""
    launcher: Literal["direct", "ray"]
    """`direct`: the training loop runs in the trial's actor; `ray`: the actor starts Ray Train
    workers."""
    device: Literal["cpu", "cuda"]
    threads: int
    deadline: float | None = None
    """Unix time after which a trial ends at its next validation."""
    fail_fast: bool = False
    """Whether a trial ends at its next validation after another has failed."""

    @property
    def folder(self) -> Folder:
        """The sweep's folder."""
        return Store(self.storage).folder(KIND, self.sweep)

    @property
    def execution(self) -> dict[str, Any]:
        """The execution settings that override the experiment's own."""
        return {"launcher": self.launcher, "device": self.device, "threads": self.threads}


def run(key: TrialKey, settings: TrialSettings, report: Report) -> None:
    """Train and score a configuration with a seed.

    Every validation is reported, and `report` may end the call there.

    Exceptions are reported and not raised because a retry would only repeat them; executors retry
    processes that die.
    """
    release_memory()  # of the trial that this process has run before
    runs, seed = ConfigurationRuns.read(settings.folder, key.configuration), key.seed
    with ExitStack() as lock:
        lock.enter_context(locked(runs.folder(seed)))
        if runs.done(seed):
            return
        runs.folder(seed).remove(FAILURE)
        try:
            _train(runs, seed, settings, report, lock)
            runs.finish(seed)
        except Exception as error:
            if outage := outage_of(error):  # no fault of this configuration, and others have it too
                report({OUTAGE: str(outage)})
            else:
                report({ERROR: runs.fail(seed, error)})


class _Overtaken(Exception):
    """Another driver has trained the run further while this trial waited for a decision."""


def _train(
    runs: ConfigurationRuns, seed: int, settings: TrialSettings, report: Report, lock: ExitStack
) -> None:
    from augury.training.checkpoint import Checkpoints  # torch, which the command does not need

    folder = runs.folder(seed)

    def report_unlocked(metrics: dict[str, Any]) -> None:
        if metrics["validation"] not in settings.rungs:
            report(metrics)
            return
        lock.close()  # the trial may be paused here, and a paused one must not hold the lock
        report(metrics)
        lock.enter_context(locked(folder))
        if folder.complete or Checkpoints(folder, keep=1).updates()[-1] != metrics["update"]:
            raise _Overtaken

    if seed in runs.unscored:  # a model of an operator may not have the metric of the sweep
        runs.train(seed, settings.execution, report)
        return
    if settings.launcher == "direct":
        while True:
            try:
                runs.train(seed, settings.execution, report_unlocked)
                return
            except _Overtaken:
                continue
    curves = Curves(settings.metric)
    ended = False
    while not ended:
        before = curves.of(folder)
        ended = runs.train(seed, settings.execution, deadline=settings.deadline)
        reached = curves.of(folder)[len(before) :]
        if not (ended or reached):
            raise UserError(
                f"the history has no {settings.metric}: choose a metric that the task validates"
            )
        for point in reached:
            try:
                report_unlocked(
                    {
                        settings.metric: point.value,
                        "validation": point.validation,
                        "update": point.update,
                    }
                )
            except _Overtaken:
                break
