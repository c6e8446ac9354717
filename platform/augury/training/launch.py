"""Launchers of the loop: in this process, or on Ray Train workers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import torch

from augury.core.errors import Outage, UserError, outage_of
from augury.core.execution import Execution
from augury.core.machine import available_cores, in_this_directory
from augury.core.ray_connection import connect, is_alive
from augury.core.store import Folder
from augury.training.distributed import connect_by
from augury.training.extend import take_over
from augury.training.settings import Training
from augury.training.trained import FAILURE, OUTCOME, Crashed, Diverged, OnValidation, TrainingRun

if TYPE_CHECKING:
    from ray.train import UserCallback
    from ray.train.torch import TorchConfig

RAY = ".ray"
"""Where Ray Train keeps its state in a storage."""
Train = Callable[[Any, torch.device, OnValidation, float | None], None]
"""Trains a run on a worker, to its end or the first validation after a deadline."""


def launch(
    train: Train,
    run: TrainingRun,
    training: Training,
    execution: Execution,
    *,
    name: str,
    on_validation: OnValidation,
    deadline: float | None,
    warn: Callable[[str], None],
) -> bool:
    """Call `train` on the workers of the settings; return whether training has an outcome.

    Otherwise it has ended at the first validation after `deadline`, in Unix time, to be continued.
    A run that has an outcome is not repeated; a new one continues the longest shorter run of its
    prefix. `warn` takes a line on workers that died, of the training called `name`. Raises
    Diverged, Crashed, and UserError where the cluster is too small.
    """
    folder = run.folder
    if folder.exists(OUTCOME):
        return True
    if run.prefix is not None:
        take_over(run, training)
    cuda = execution.cuda
    here = execution.executor == "local" or (
        execution.executor == "auto" and not execution.joins_cluster
    )
    if here and training.workers == 1:
        torch.set_num_threads(execution.threads or available_cores())
        train(run, torch.device("cuda" if cuda else "cpu"), on_validation, deadline)
    else:
        _on_ray(train, run, training, execution, name, on_validation, deadline, warn)
    return folder.exists(OUTCOME)


def _on_ray(
    train: Train,
    run: TrainingRun,
    training: Training,
    execution: Execution,
    name: str,
    on_validation: OnValidation,
    deadline: float | None,
    warn: Callable[[str], None],
) -> None:
    """Train on workers of Ray Train; Crashed where they, or the actor that looks after them, failed
    too often, KeyboardInterrupt after Ctrl-C."""
    # Every report waits for this poll.
    os.environ.setdefault("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.5")
    from ray.exceptions import RayActorError
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchTrainer

    cuda = execution.cuda
    resources = execution.worker_resources(cuda)
    connect()
    if execution.joins_cluster:
        # Machines may be started for them, which takes minutes.
        os.environ.setdefault("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "300")
        _warn_of_small_nodes(resources, warn)
    folder, threads = run.folder, execution.threads or max(1, available_cores() // training.workers)

    def worker() -> None:
        import ray.train

        torch.set_num_threads(threads)
        device = ray.train.torch.get_device() if cuda else torch.device("cpu")
        try:
            train(run, device, lambda metrics: ray.train.report(metrics), deadline)
        except (Diverged, UserError) as error:  # trying again would only repeat it
            folder.write_record(FAILURE, {"kind": type(error).__name__, "error": str(error)})

    handler = signal.getsignal(signal.SIGINT)
    try:
        with _events(name, on_validation, warn, execution.max_failures) as events:
            TorchTrainer(
                in_this_directory(worker),
                torch_config=_torch_config(),
                scaling_config=ScalingConfig(
                    num_workers=training.workers, use_gpu=cuda, resources_per_worker=resources
                ),
                run_config=RunConfig(
                    name=folder.name.replace("/", "-"),
                    storage_path=Folder(folder.root, RAY).uri,
                    failure_config=FailureConfig(
                        max_failures=execution.max_failures, controller_failure_limit=3
                    ),
                    callbacks=[events],
                ),
            ).fit()
    except SystemExit as stopped:  # how Ray Train answers Ctrl-C
        raise KeyboardInterrupt("stopped; training continues from its last checkpoint") from stopped
    except (TrainingFailedError, RayActorError) as error:
        if not is_alive():  # a further call of Ray would end this process without a word
            raise Outage("Ray has died") from error
        if outage := outage_of(error):
            raise outage from error
        who = "controller" if isinstance(error, RayActorError) else "workers"
        times = f"{execution.max_failures + 1} times" if who == "workers" else "once"
        raise Crashed(
            f"the {who} of {name} died {times} ({_cause(error)}): the same command "
            "continues it from its last checkpoint"
        ) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)  # Ray Train leaves its own behind
    if folder.exists(FAILURE):
        failure = folder.read_record(FAILURE)
        raise (Diverged if failure["kind"] == "Diverged" else UserError)(failure["error"])


def _warn_of_small_nodes(resources: Mapping[str, float], warn: Callable[[str], None]) -> None:
    """Warn where no node has what a worker needs."""
    import ray

    fitting = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    for kind, amount in resources.items():
        fitting = [node for node in fitting if node.get(kind, 0) >= amount]
    if not fitting:
        asked = ", ".join(f"{kind} {amount:g}" for kind, amount in resources.items())
        warn(
            f"warning: no node has the {asked} of a worker: waiting for a larger one; or stop, "
            "and lower execution.threads or execution.gpus_per_worker"
        )


def _torch_config() -> TorchConfig:
    """Return the settings of Ray Train by which workers connect by the addresses of their nodes."""
    import ray
    from ray.train.torch import TorchConfig

    backend: Any = TorchConfig().backend_cls

    class Backend(backend):
        def on_start(self, worker_group: Any, backend_config: Any) -> None:
            worker_group.execute(lambda: connect_by(ray.util.get_node_ip_address()))
            super().on_start(worker_group, backend_config)

    class OfNodes(TorchConfig):
        backend_cls = Backend

    return OfNodes()


@contextmanager
def _events(
    name: str, on_validation: OnValidation, warn: Callable[[str], None], max_failures: int
) -> Iterator[UserCallback]:
    """Yield a callback that brings what Ray Train's controller, another process, sees to
    `on_validation` and `warn` in this one."""
    import ray
    from ray.exceptions import RayError
    from ray.train import UserCallback
    from ray.util.queue import Queue
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # On this node, as the controller is: the loss of another ends neither.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    queue = Queue(actor_options={"num_cpus": 0, "scheduling_strategy": here})

    class Events(UserCallback):
        def after_report(self, run_context: Any, metrics: Any, checkpoint: Any) -> None:
            queue.put(metrics[0])

        def after_exception(self, run_context: Any, worker_exceptions: Any) -> None:
            rank = min(worker_exceptions)
            queue.put(f"worker {rank} of {name} died ({_cause(worker_exceptions[rank])})")

    def listen() -> None:
        failures = 0
        with suppress(RayError):  # Ray itself has died, which ends the command
            while (event := queue.get()) is not None:
                if not isinstance(event, str):
                    on_validation(event)
                elif (failures := failures + 1) <= max_failures:
                    warn(
                        f"warning: {event}: all start again from its last checkpoint, attempt "
                        f"{failures + 1} of {max_failures + 1}"
                    )

    thread = threading.Thread(target=listen, name="events of workers", daemon=True)
    thread.start()
    try:
        yield Events()
    finally:
        with suppress(RayError):
            queue.put(None)
            thread.join()
            queue.shutdown()


def _cause(error: Exception) -> str:
    failures = getattr(error, "worker_failures", None) or {}
    first = next(iter(failures.values()), error)
    return f"{type(first).__name__}: {first}".strip().splitlines()[-1]
