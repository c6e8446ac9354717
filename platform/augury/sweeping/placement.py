"""The resources of a trial and the number that fit a Ray cluster, decided before anything starts.

A trial that cannot be placed is refused here instead of waiting for ever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from augury.core.cluster import largest, name_of
from augury.core.errors import UserError
from augury.experiments.spec import Experiment
from augury.sweeping.executors import Placement

DRIVER = "trial_driver"


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
    only the custom resource `trial_driver`; otherwise drivers would occupy the CPUs that their
    workers wait for. By default as many as fit run at once, or as the first experiment sets.
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
    if launcher == "ray":
        needed[DRIVER] = 1
    # A worker must fit on one node, whatever the nodes add up to.
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    worker_slots = 0
    for node in nodes:
        worker_slots += min(_times(node, kind, amount) for kind, amount in worker.items())
    limit = worker_slots // workers
    if launcher == "ray":
        limit = min(limit, _times(cluster, DRIVER, 1))
    table = "\n".join(
        f"  {kind}: a trial needs {amount:g}, the cluster has {cluster.get(kind, 0):g}"
        for kind, amount in needed.items()
    )
    table += f"\n  in total there is room for {worker_slots} workers with {_format(worker)} each"
    if (node := largest(ray.nodes())) is not None:
        table += f"\n  the largest is {name_of(node)}"
    if not limit:
        raise UserError(f"not a single trial fits:\n{table}\n{_remedy(needed, cluster)}")
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
        resources={DRIVER: 1} if launcher == "ray" else worker,
        standby=concurrent if concurrent == limit and launcher == "direct" else 0,
    )


def _times(resources: Mapping[str, float], kind: str, amount: float) -> int:
    return math.floor(resources.get(kind, 0) / amount + 1e-9)


def _format(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{amount:g} {kind}" for kind, amount in resources.items())


def _remedy(needed: Mapping[str, float], cluster: Mapping[str, Any]) -> str:
    if needed.get(DRIVER, 0) > cluster.get(DRIVER, 0):
        return "start the head with: ray start --head --resources='{\"trial_driver\": 4}'"
    return (
        "lower training.workers, execution.cpus_per_worker or execution.gpus_per_worker, or use a "
        "larger cluster"
    )
