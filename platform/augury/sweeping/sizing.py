"""The resources of a trial, and how many fit: decided before anything starts, so that nothing waits for ever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from augury.core.errors import UserError
from augury.experiments.experiment import Experiment

DRIVER = "trial_driver"


class Size(NamedTuple):
    """How trials are placed."""

    launcher: Literal["direct", "ray"]
    device: Literal["cpu", "cuda"]
    threads: int
    resources: dict[str, float]
    """Of the actor that Tune starts for a trial."""
    at_once: int
    ahead: int
    """Trials to hold ready where the resources that Tune knows of limit what runs: Tune keeps as many actors."""
    summary: str
    """All of it in a line, for people."""


def of(experiments: Sequence[Experiment], at_once: int | None = None) -> Size:
    """Return the size of these experiments' trials on the Ray that is connected; UserError where not even one fits.

    A trial with one worker trains in its own actor. One with more holds no CPU itself, only the custom resource
    `trial_driver`, or drivers would take the CPUs that their workers wait for.
    """
    import ray

    cluster: Mapping[str, float] = ray.cluster_resources()
    workers = max(experiment.training.workers for experiment in experiments)
    execution = experiments[0].execution
    launcher: Literal["direct", "ray"] = "ray" if workers > 1 or execution.launcher == "ray" else "direct"
    cuda = execution.device == "cuda" or (execution.device == "auto" and cluster.get("GPU", 0) > 0)
    worker = {"CPU": execution.cpus_per_worker} | ({"GPU": execution.gpus_per_worker} if cuda else {})
    needed = {kind: workers * amount for kind, amount in worker.items()}
    if launcher == "ray":
        needed[DRIVER] = 1
    # A worker must fit on one machine, whatever the machines have together.
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    room = sum(min(_times(machine, kind, amount) for kind, amount in worker.items()) for machine in machines)
    most = room // workers
    if launcher == "ray":
        most = min(most, _times(cluster, DRIVER, 1))
    table = "\n".join(
        f"  {kind}: a trial needs {amount:g}, the cluster has {cluster.get(kind, 0):g}"
        for kind, amount in needed.items()
    )
    table += f"\n  in all there is room for {room} workers of {_described(worker)}"
    if not most:
        raise UserError(f"not one trial fits:\n{table}\n{_remedy(needed, cluster)}")
    if at_once is not None and at_once > most:
        raise UserError(f"--at-once {at_once} trials do not fit, {most} do:\n{table}")
    chosen = at_once or most
    return Size(
        launcher=launcher,
        device="cuda" if cuda else "cpu",
        threads=execution.threads or max(1, int(execution.cpus_per_worker)),
        ahead=chosen if chosen == most and launcher == "direct" else 0,
        resources={DRIVER: 1} if launcher == "ray" else worker,
        at_once=chosen,
        summary=f"{chosen} trials at once, each {_described(needed)}",
    )


def _times(resources: Mapping[str, float], kind: str, amount: float) -> int:
    return math.floor(resources.get(kind, 0) / amount + 1e-9)


def _described(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{amount:g} {kind}" for kind, amount in resources.items())


def _remedy(needed: Mapping[str, float], cluster: Mapping[str, Any]) -> str:
    if needed.get(DRIVER, 0) > cluster.get(DRIVER, 0):
        return "start the head with: ray start --head --resources='{\"trial_driver\": 4}'"
    return "lower training.workers, execution.cpus_per_worker or execution.gpus_per_worker, or join a larger cluster"
