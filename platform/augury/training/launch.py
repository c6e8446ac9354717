"""Launchers of the loop: in this process, or on Ray Train workers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import torch

from augury.core import cluster
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.machine import available_cores, in_this_directory
from augury.core.outages import outage_of
from augury.core.progress import say
from augury.core.ray_connection import connect
from augury.core.roots import located
from augury.core.store import Folder
from augury.training.extend import take_over
from augury.training.loop import Report
from augury.training.run import FAILURE, Crashed, Diverged, TrainingRun
from augury.training.settings import Training
from augury.training.trained import OUTCOME

if TYPE_CHECKING:
    from ray.train.torch import TorchTrainer


RAY = ".ray"
"""Where Ray Train keeps its state in a storage."""


class Train(Protocol):
    """Trains a run on a worker, to its end or the first validation after `deadline`."""

    def __call__(
        self, run: Any, device: torch.device, report: Report, deadline: float | None
    ) -> None: ...


def launch(
    train: Train,
    run: TrainingRun,
    training: Training,
    execution: Execution,
    report: Report | None = None,
    deadline: float | None = None,
) -> bool:
    """Call `train` on the workers of the settings; return whether training has an outcome.

    Otherwise it has ended at the first validation after `deadline`, in Unix time, to be continued.
    A run that has an outcome is not repeated; a new one continues the longest shorter run of its
    prefix, or of its beginning.
    `report` is called in this process, where training runs in it. Raises Diverged, Crashed, and
    UserError where the cluster is too small.
    """
    folder = run.folder
    if folder.exists(OUTCOME):
        return True
    folder.remove(FAILURE)
    taken = None
    if run.prefix is not None:
        taken = take_over(folder, run.prefix, run.address, run.seed, training, run.beginning)
    cuda = execution.cuda
    direct = execution.launcher == "direct" or (
        execution.launcher == "auto"
        and training.workers == 1
        and not cuda
        and not execution.joins_cluster
    )
    assert not direct or training.workers == 1, "the preflight has checked the launcher"
    if direct:
        torch.set_num_threads(execution.threads or available_cores())
        if report and taken and taken.scores:  # as this run would have after its last validation
            report({"validation": taken.validations, "update": max(taken.scores)})
        device = torch.device("cuda" if cuda else "cpu")
        train(run, device, report or (lambda metrics: None), deadline)
    else:
        _on_ray(train, run, training, execution, cuda, deadline)
    return folder.exists(OUTCOME)


def _on_ray(
    train: Train,
    run: TrainingRun,
    training: Training,
    execution: Execution,
    cuda: bool,
    deadline: float | None,
) -> None:
    # Every report waits for this poll.
    os.environ.setdefault("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.5")
    connect(execution.address)
    import ray
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    resources = execution.worker_resources(cuda)
    if execution.joins_cluster:
        # Machines may be started for them, which takes minutes.
        os.environ.setdefault("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "300")
        say(
            f"workers ask for {training.workers} × {resources}; a cluster that grows may start "
            "machines for them"
        )
    else:
        _fits(training.workers, resources, ray.cluster_resources())
    folder, threads = run.folder, execution.threads or max(1, available_cores() // training.workers)

    def worker() -> None:
        import ray.train

        torch.set_num_threads(threads)
        device = ray.train.torch.get_device() if cuda else torch.device("cpu")
        try:
            train(run, device, lambda metrics: ray.train.report(metrics), deadline)
        except (Diverged, UserError) as error:  # trying again would only repeat it
            folder.write_record(FAILURE, {"kind": type(error).__name__, "error": str(error)})

    def trainer() -> TorchTrainer:
        return TorchTrainer(
            in_this_directory(worker),
            scaling_config=ScalingConfig(
                num_workers=training.workers, use_gpu=cuda, resources_per_worker=resources
            ),
            run_config=RunConfig(
                name=folder.name.replace("/", "-"),
                storage_path=located(folder.root, RAY),
                failure_config=FailureConfig(
                    max_failures=execution.max_failures, controller_failure_limit=3
                ),
            ),
        )

    with cluster.training(folder.name, resources):
        _fit(trainer, folder, execution)
    if folder.exists(FAILURE):
        failure = folder.read_json(FAILURE)
        raise (Diverged if failure["kind"] == "Diverged" else UserError)(failure["error"])


def _fit(make: Callable[[], TorchTrainer], folder: Folder, execution: Execution) -> None:
    """Run a trainer; KeyboardInterrupt after Ctrl-C, Crashed where its workers, or the actor that
    looks after them, failed too often.

    Ray starts workers again. Where their actor dies, with its machine or for lack of memory, a new
    trainer continues from the last checkpoint.
    """
    from ray.exceptions import RayActorError
    from ray.train.v2.api.exceptions import TrainingFailedError

    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        for failures in range(1, execution.max_failures + 2):
            try:
                make().fit()
                return
            except RayActorError as error:
                if lost := cluster.outage():
                    raise lost from error
                say(f"the controller of {folder.uri} died ({failures} times): {_cause(error)}")
        raise Crashed(f"the controller of {folder.uri} died {failures} times")
    except (
        SystemExit
    ) as stopped:  # how Ray Train answers Ctrl-C, with a handler that it leaves behind
        raise KeyboardInterrupt("stopped; training continues from its last checkpoint") from stopped
    except TrainingFailedError as error:
        if outage := outage_of(error):
            raise outage from error
        raise Crashed(
            f"the workers of {folder.uri} failed {execution.max_failures + 1} times: "
            f"{_cause(error)}"
        ) from error
    finally:
        if main:
            signal.signal(signal.SIGINT, before)


def _fits(workers: int, resources: dict[str, float], cluster: dict[str, float]) -> None:
    for kind, amount in resources.items():
        if workers * amount > cluster.get(kind, 0):
            raise UserError(
                f"{workers} workers × {amount:g} {kind} do not fit the cluster's "
                f"{cluster.get(kind, 0):g} {kind}: lower training.workers or "
                f"execution.{kind.lower()}s_per_worker"
            )


def _cause(error: Exception) -> str:
    failures = getattr(error, "worker_failures", None) or {}
    first = next(iter(failures.values()), error)
    return f"{type(first).__name__}: {first}".strip().splitlines()[-1]
