"""What runs the trials of a sweep: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.progress import say
from augury.experiments.spec import Experiment
from augury.sweeping.declarations import SchedulerName
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.trial import TrialSettings

GPUS = ("nvidia[0-9]*", "kfd")
"""Devices of NVIDIA and AMD: torch, which knows as well, takes seconds to import."""


class Placement(NamedTuple):
    """The placement of trials on cores, GPUs and machines."""

    launcher: Literal["direct", "ray"]
    device: Literal["cpu", "cuda"]
    threads: int
    at_once: int
    """Maximum number of concurrent trials."""
    needed: str
    """What a trial needs, in words."""

    def __str__(self) -> str:
        return f"{self.at_once} trials at once, each with {self.needed}"


class TrialExecutor(AbstractContextManager["TrialExecutor"], Protocol):
    """Runs trials: starts, pauses, resumes and stops them as a dispatcher decides.

    A trial is `trial.run` in another process; its reports go to `Dispatcher.on_report`, whose
    answer ends the call or lets it go on. One whose process dies goes on from its last checkpoint,
    up to `execution.max_failures` times. All that it has made and started ends with the context.
    """

    placement: Placement

    def warm_up(self) -> None:
        """Start what trials run in, where that takes long, before the first is known."""

    def run(self, dispatcher: Dispatcher, settings: TrialSettings) -> None:
        """Run trials until everything is decided or a limit is reached; Outage where files cannot
        be read or written."""


def choose(experiments: Sequence[Experiment], scheduler: SchedulerName) -> Literal["local", "ray"]:
    """Return where the trials of a sweep run, and say why; UserError where `execution.executor` is
    local and Ray is needed."""
    execution = experiments[0].execution
    reason = next(_needs_ray(execution, experiments, scheduler), None)
    if execution.executor == "local" and reason:
        raise UserError(
            f"executor local runs trials in processes of this machine, and {reason}: leave it out, "
            "or take --executor ray"
        )
    if execution.executor == "ray" or reason:
        say(f"trials run on Ray: {reason or 'execution.executor is ray'}")
        return "ray"
    say("trials run in processes of this machine, without Ray: each trains on one CPU worker")
    return "local"


def _needs_ray(
    execution: Execution, experiments: Iterable[Experiment], scheduler: SchedulerName
) -> Iterator[str]:
    """Yield the reasons why trials need Ray."""
    if execution.joins_cluster:
        name = "execution.address" if execution.address else "RAY_ADDRESS"
        yield f"{name} is that of a cluster"
    if scheduler == "pbt":
        yield "scheduler pbt is that of Ray Tune"
    if execution.launcher == "ray":
        yield "execution.launcher is ray"
    workers = max(experiment.training.workers for experiment in experiments)
    if workers > 1:
        yield f"training.workers is {workers}"
    if execution.device == "cuda":
        yield "execution.device is cuda"
    if execution.device == "auto" and any(any(Path("/dev").glob(name)) for name in GPUS):
        yield "this machine has a GPU, which it places"
