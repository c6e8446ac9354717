"""A trial: one configuration with one seed, as the function that Ray Tune runs in an actor.

Everything that lasts is in the run's folder, which is that of `augury train`: a trial that was paused, killed or begun
by another command continues from its last checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

from augury.core.errors import UserError
from augury.core.locks import alone
from augury.core.store import Folder, Store
from augury.experiments.evaluation import evaluate, evaluated
from augury.experiments.run import Run
from augury.experiments.training import train
from augury.sweeping.state import KIND, Curves, Point
from augury.training.checkpoint import Checkpoints
from augury.training.launch import FAILURE

CONFIGURATION, SEED = "configuration", "seed"
"""Keys of a trial's Tune configuration, beside the swept ones."""
ERROR = "error"
"""Reported by a trial that fails for a reason."""


@dataclass(frozen=True)
class Setting:
    """What the trials of a sweep have in common."""

    storage: str
    sweep: str
    metric: str
    rungs: tuple[int | None, ...]
    """Validations at which the race decides; None: the end of training."""
    launcher: Literal["direct", "ray"]
    """`direct`: the loop runs in the trial's actor; `ray`: the actor starts Ray Train workers."""
    device: Literal["cpu", "cuda"]
    threads: int
    deadline: float | None = None
    """Seconds since 1970 after which a trial ends at its next validation."""
    fail_fast: bool = False
    """Whether a trial ends at its next validation after another has failed."""


def keep(sweep: Folder, prepared: Run) -> None:
    """Write down what the trials of a configuration start from."""
    sweep.sub("configurations").write_json(f"{prepared.address}.json", prepared.to_dict())


def kept(sweep: Folder, address: str) -> Run:
    """Return what `keep` wrote."""
    return Run.from_dict(sweep.root, sweep.sub("configurations").read_json(f"{address}.json"))


def run(config: Mapping[str, Any], setting: Setting) -> None:
    """Train and score a configuration with a seed, reporting every validation to Tune, which may end the call there.

    What fails for a reason is reported and not raised: Tune would only try it again. What dies is tried again.
    """
    from ray import tune

    store = Store(setting.storage)
    trial = kept(store.folder(KIND, setting.sweep), config[CONFIGURATION]).at(config[SEED])
    folder = trial.folder
    with ExitStack() as lock:
        lock.enter_context(alone(folder))
        if folder.complete and evaluated(trial):
            return
        folder.remove(FAILURE)
        try:
            _train(trial, setting, lock)
            if not evaluated(trial):
                evaluate(trial)
            folder.finish({"address": trial.address, "seed": trial.seed})
        except Exception as error:
            folder.write_json(FAILURE, {"kind": type(error).__name__, "error": str(error)})
            tune.report({ERROR: f"{type(error).__name__}: {error}"})


class _Overtaken(Exception):
    """Another driver has trained the run further while this one waited for a decision."""


def _train(trial: Run, setting: Setting, lock: ExitStack) -> None:
    from ray import tune

    folder = trial.folder
    execution = trial.experiment.execution.model_copy(
        update={"launcher": setting.launcher, "device": setting.device, "threads": setting.threads}
    )

    def report(metrics: dict[str, Any]) -> None:
        if metrics["validation"] not in setting.rungs:
            tune.report(metrics)
            return
        lock.close()  # whoever waits for a decision holds nothing that others wait for
        tune.report(metrics)
        lock.enter_context(alone(folder))
        if folder.complete or Checkpoints(folder, keep=1).updates()[-1] != metrics["update"]:
            raise _Overtaken

    if setting.launcher == "direct":
        while True:
            try:
                train(trial, execution=execution, report=report)
                return
            except _Overtaken:
                continue
    curves = Curves(setting.metric)
    ended = False
    while not ended:  # workers end of themselves: what stops them from outside leaves them behind
        before = curves.of(folder)
        ended = train(trial, execution=execution, until=_until(setting, before))
        reached = curves.of(folder)[len(before) :]
        if not (ended or reached):
            raise UserError(f"its history has no {setting.metric}: the space's metric must be one that it validates")
        for point in reached:
            try:
                report({setting.metric: point.value, "validation": point.validation, "update": point.update})
            except _Overtaken:
                break


def _until(setting: Setting, before: Sequence[Point]) -> int | None:
    """The validation at which workers end to hear whether they may go on; None: the end of training.

    Other workers take long to start, so that a deadline is foreseen from the time that validations took so far.
    """
    rung = next(rung for rung in setting.rungs if rung is None or rung > len(before))
    if setting.deadline is None and not setting.fail_fast:
        return rung
    further = 1
    if before and setting.deadline is not None and not setting.fail_fast:
        further = max(1, math.ceil((setting.deadline - time.time()) * len(before) / before[-1].seconds))
    next_end = len(before) + further
    return next_end if rung is None else min(rung, next_end)
