"""Two launchers of one loop: in this process, or on Ray Train workers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import torch

from augury.errors import UserError
from augury.execution import connect
from augury.progress import say
from augury.store import Folder
from augury.training.extend import take_over
from augury.training.loop import Diverged, Report
from augury.training.settings import Execution, Training
from augury.training.trained import OUTCOME

FAILURE = "failure.json"


class Crashed(RuntimeError):
    """The workers of a run died more often than they may; what was trained until then is kept."""


Loop = Callable[[dict[str, Any], torch.device, Report], None]


def launch(
    loop: Loop,
    config: dict[str, Any],
    run: Folder,
    training: Training,
    execution: Execution,
    report: Report | None = None,
) -> bool:
    """Run `loop(config, device, report)` on the workers that are asked for; whether training has ended.

    It has not where `config` says `until`. A run whose outcome is there is not repeated; where `config` names its
    `trunk`, it begins with what a shorter run of the same trunk has. `report` is called in this
    process, where training runs in it too. Raises Diverged, Crashed, and UserError where the cluster is too small.
    """
    if run.exists(OUTCOME):
        return True
    run.remove(FAILURE)
    if "trunk" in config:
        take_over(run, config["trunk"], config["address"], config["seed"], training)
    cuda = uses_cuda(execution)
    direct = execution.launcher == "direct" or (
        execution.launcher == "auto" and training.workers == 1 and not cuda and not _joins_cluster(execution)
    )
    if direct and training.workers > 1:
        raise UserError(f"launcher direct has one worker and training.workers={training.workers}: use launcher ray")
    if direct:
        torch.set_num_threads(execution.threads or os.cpu_count() or 1)
        loop(config, torch.device("cuda" if cuda else "cpu"), report or (lambda metrics: None))
    else:
        _on_ray(loop, config, run, training, execution, cuda)
    return run.exists(OUTCOME)


def uses_cuda(execution: Execution) -> bool:
    """Whether models run on GPUs: those of the cluster where one is joined, else those of this machine."""
    if _joins_cluster(execution):
        connect(execution.address)
        import ray

        return execution.device == "cuda" or (execution.device == "auto" and ray.cluster_resources().get("GPU", 0) > 0)
    if execution.device == "cuda" and not torch.cuda.is_available():
        raise UserError("device cuda, but torch sees no GPU here: use --set execution.device=cpu, or join a cluster")
    return execution.device == "cuda" or (execution.device == "auto" and torch.cuda.is_available())


def _joins_cluster(execution: Execution) -> bool:
    return bool(execution.address or os.environ.get("RAY_ADDRESS"))


def _on_ray(
    loop: Loop, config: dict[str, Any], run: Folder, training: Training, execution: Execution, cuda: bool
) -> None:
    os.environ.setdefault("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.5")  # every report waits for this poll
    connect(execution.address)
    import ray
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer
    from ray.train.v2.api.exceptions import TrainingFailedError

    resources = {"CPU": execution.cpus_per_worker} | ({"GPU": execution.gpus_per_worker} if cuda else {})
    if _joins_cluster(execution):
        say(f"workers ask for {training.workers} × {resources}; a cluster that grows may start machines for them")
    else:
        _fits(training.workers, resources, ray.cluster_resources())
    threads = execution.threads or max(1, (os.cpu_count() or 1) // training.workers)

    def worker(config: dict[str, Any]) -> None:
        from ray import train

        torch.set_num_threads(threads)
        device = train.torch.get_device() if cuda else torch.device("cpu")
        try:
            loop(config, device, lambda metrics: train.report(metrics))
        except (Diverged, UserError) as error:  # trying again would only repeat it
            run.write_json(FAILURE, {"kind": type(error).__name__, "error": str(error)})

    trainer = TorchTrainer(
        worker,
        train_loop_config=config,
        scaling_config=ScalingConfig(num_workers=training.workers, use_gpu=cuda, resources_per_worker=resources),
        run_config=RunConfig(
            name=run.name.replace("/", "-"),
            storage_path=f"{run.root.rstrip('/')}/.ray",
            failure_config=FailureConfig(max_failures=execution.max_failures, controller_failure_limit=3),
        ),
    )
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit()
    except SystemExit as stopped:  # how Ray Train answers Ctrl-C, with a handler that it leaves behind
        raise KeyboardInterrupt("stopped; training continues from its last checkpoint") from stopped
    except TrainingFailedError as error:
        raise Crashed(f"the workers of {run.uri} failed {execution.max_failures + 1} times: {_cause(error)}") from error
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    if run.exists(FAILURE):
        failure = run.read_json(FAILURE)
        raise (Diverged if failure["kind"] == "Diverged" else UserError)(failure["error"])


def _fits(workers: int, resources: dict[str, float], cluster: dict[str, float]) -> None:
    for kind, amount in resources.items():
        if workers * amount > cluster.get(kind, 0):
            raise UserError(
                f"{workers} workers × {amount:g} {kind} do not fit the cluster's {cluster.get(kind, 0):g} {kind}: "
                f"lower training.workers or execution.{kind.lower()}s_per_worker"
            )


def _cause(error: Exception) -> str:
    failures = getattr(error, "worker_failures", None) or {}
    first = next(iter(failures.values()), error)
    return f"{type(first).__name__}: {first}".strip().splitlines()[-1]
