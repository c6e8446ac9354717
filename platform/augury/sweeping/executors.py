"""What runs the trials of a sweep, processes of this machine or a Ray cluster, and how many fit.

A trial that cannot be placed is refused here instead of waiting for ever.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.progress import say
from augury.experiments.spec import Experiment
from augury.sweeping.declarations import SchedulerName
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.trial import TrialSettings

DRIVER = {"memory": 100 * 2.0**20}
"""What a trial with workers of its own takes in place of a CPU, in bytes."""
REMEDY = (
    "lower training.workers, execution.cpus_per_worker or execution.gpus_per_worker, or use a "
    "larger cluster"
)
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


class TrialExecutor(AbstractContextManager["TrialExecutor"], ABC):
    """Runs trials: starts, pauses, resumes and stops them as a dispatcher decides.

    A trial is `trial.run` in another process; its reports go to `Dispatcher.on_report`, whose
    answer ends the call or lets it go on. One whose process dies goes on from its last checkpoint,
    up to `execution.max_failures` times. All that it has made and started ends with the context.
    """

    placement: Placement

    def warm_up(self) -> None:
        """Start what trials run in, where that takes long, before the first is known."""
        return

    def __exit__(self, *error: object) -> None:
        """End what was started; nothing, by default."""
        return

    @abstractmethod
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


class RayPlacement(NamedTuple):
    """How trials are placed on a cluster."""

    placement: Placement
    resources: dict[str, float]
    """Resources of the actor that Tune starts for a trial."""
    standby: int
    """Further trials to queue with Tune, which starts their actors as soon as resources are
    free."""


def place(experiments: Sequence[Experiment], at_once: int | None = None) -> RayPlacement:
    """Return the placement of these experiments' trials on the connected Ray cluster.

    A trial with one worker trains in its own actor. One with more workers requests no CPU itself,
    only some memory; otherwise drivers would occupy the CPUs that their workers wait for. By
    default as many as fit run at once, or as the first experiment sets.
    Raises UserError if not a single trial fits, or fewer than `at_once`.
    """
    import ray

    cluster: Mapping[str, float] = ray.cluster_resources()
    workers = max(experiment.training.workers for experiment in experiments)
    execution = experiments[0].execution
    launcher: Literal["direct", "ray"] = (
        "ray" if workers > 1 or execution.launcher == "ray" else "direct"
    )
    cuda = execution.device == "cuda" or (execution.device == "auto" and cluster.get("GPU", 0) > 0)
    worker = execution.worker_resources(cuda)
    needed = {kind: workers * amount for kind, amount in worker.items()}
    # A worker must fit on one node, whatever the nodes add up to.
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    worker_slots = 0
    for node in nodes:
        worker_slots += min(_times(node, kind, amount) for kind, amount in worker.items())
    limit = worker_slots // workers
    table = "\n".join(
        f"  {kind}: a trial needs {amount:g}, the cluster has {cluster.get(kind, 0):g}"
        for kind, amount in needed.items()
    )
    table += f"\n  in total there is room for {worker_slots} workers with {_format(worker)} each"
    if not limit:
        raise UserError(f"not a single trial fits:\n{table}\n{REMEDY}")
    if at_once is not None and at_once > limit:
        raise UserError(
            f"--at-once {at_once}: only {limit} trials fit at once; give {limit} or fewer:\n{table}"
        )
    concurrent = at_once or min(limit, execution.most_at_once or limit)
    return RayPlacement(
        Placement(
            launcher=launcher,
            device="cuda" if cuda else "cpu",
            threads=execution.threads or max(1, int(execution.cpus_per_worker)),
            at_once=concurrent,
            needed=_format(needed),
        ),
        resources=DRIVER if launcher == "ray" else worker,
        standby=concurrent if concurrent == limit and launcher == "direct" else 0,
    )


def _times(resources: Mapping[str, float], kind: str, amount: float) -> int:
    return math.floor(resources.get(kind, 0) / amount + 1e-9)


def _format(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{amount:g} {kind}" for kind, amount in resources.items())
