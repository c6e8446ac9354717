"""Executors: the same tasks in this process or on Ray Data, results in the order of the items.

A task is coarse (a shard, a batch file) and pure, so that where it runs and how often it is retried cannot change what
comes out.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar

import cloudpickle
from pydantic import Field

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.progress import Stage, say_once

T = TypeVar("T")
R = TypeVar("R")

ExecutorName = Literal["auto", "local", "ray"]
"""The executors that can be asked for."""
RAY_PAYS_SECONDS = 20.0  # of one core's work, below which Ray's start-up takes longer than it saves


class Executor(Protocol):
    """Runs a task over items; `make` is called once in every process that takes part.

    `cpus` and `gpus` are what a process reserves whose task holds a model; on Ray there are at most as many of them as
    the cluster has room for. Tasks without either are cheap to make, in as many processes as Ray sees fit.
    """

    name: str

    def map(
        self,
        make: Callable[[], Callable[[T], R]],
        items: Sequence[T],
        stage: Stage,
        *,
        size: Callable[[R], int] = lambda result: 1,
        cpus: float = 0,
        gpus: float = 0,
    ) -> list[R]: ...


class LocalExecutor:
    """Runs the tasks one after the other in this process."""

    name = "local"

    def map(
        self,
        make: Callable[[], Callable[[T], R]],
        items: Sequence[T],
        stage: Stage,
        *,
        size: Callable[[R], int] = lambda result: 1,
        cpus: float = 0,
        gpus: float = 0,
    ) -> list[R]:
        task, results = make(), []
        for item in items:
            results.append(task(item))
            stage.advance(size(results[-1]))
        return results


class RayExecutor:
    """Runs the tasks on Ray Data, a row and a block for every item; what holds models, on a pool of actors."""

    name = "ray"

    def __init__(self, address: str | None = None):
        self.address = address

    def map(
        self,
        make: Callable[[], Callable[[T], R]],
        items: Sequence[T],
        stage: Stage,
        *,
        size: Callable[[R], int] = lambda result: 1,
        cpus: float = 0,
        gpus: float = 0,
    ) -> list[R]:
        connect(self.address)
        import ray

        rows = [{"index": index, "item": pickle.dumps(item)} for index, item in enumerate(items)]
        dataset = ray.data.from_items(rows, override_num_blocks=max(1, len(rows)))
        maker = cloudpickle.dumps(make)
        reserved = {name: number for name, number in (("CPU", cpus), ("GPU", gpus)) if number}
        if reserved:
            room = min(int(ray.cluster_resources().get(name, 0) / number) for name, number in reserved.items())
            pool = ray.data.ActorPoolStrategy(min_size=1, max_size=max(1, min(len(items), room)))
            done = dataset.map(
                _Task, fn_constructor_args=(maker,), compute=pool, num_cpus=cpus or None, num_gpus=gpus or None
            )
        else:
            done = dataset.map(_run, fn_args=(maker,))
        results: list[Any] = [None] * len(items)
        for row in done.iter_rows():
            results[row["index"]] = pickle.loads(row["result"])
            if isinstance(results[row["index"]], UserError):
                raise results[row["index"]]
            stage.advance(size(results[row["index"]]))
        return results


_made: dict[bytes, Callable[[Any], Any]] = {}  # the task that this process has made last


def _run(row: dict[str, Any], maker: bytes) -> dict[str, Any]:
    try:
        if maker not in _made:
            _made.clear()  # one model in memory at a time
            _made[maker] = pickle.loads(maker)()
        result = _made[maker](pickle.loads(row["item"]))
    except UserError as error:  # Ray would wrap it in the traceback of a remote process
        result = error
    return {"index": row["index"], "result": pickle.dumps(result)}


class _Task:
    def __init__(self, maker: bytes):
        self.maker = maker

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return _run(row, self.maker)


class Execution(Section):
    """Where things run, which is no part of an address.

    Nothing here changes a result but by rounding: sums over other numbers of threads, or on a GPU, end in other bits.
    """

    executor: ExecutorName = "auto"
    """Augmentation and decoding: Ray, this process, or whichever the estimated work favours."""
    launcher: Literal["auto", "direct", "ray"] = "auto"
    """Training: Ray Train, this process, or (auto) this process where one CPU worker suffices."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    at_once: int = Field(1, ge=1)
    """Runs of an experiment that train side by side, by launcher ray, where the resources allow it."""
    threads: int | None = Field(None, ge=1)
    """CPU threads per worker; none: the cores divided by the workers."""
    cpus_per_worker: float = Field(1.0, gt=0)
    """CPUs that Ray reserves for one training worker."""
    gpus_per_worker: float = Field(1.0, gt=0)
    """GPUs that Ray reserves for one training worker where the device is CUDA."""
    address: str | None = None
    """Ray cluster to join; none: RAY_ADDRESS, or a Ray of this machine."""
    max_failures: int = Field(2, ge=0)
    """Restarts of a failed worker group before a run fails."""

    def choose(self, seconds: float, what: str, executor: ExecutorName | None = None) -> Executor:
        """Return the executor for work that takes one core `seconds`; `executor` overrides the setting."""
        return choose(executor or self.executor, seconds, what, self.address)

    @property
    def joins_cluster(self) -> bool:
        """Return whether work runs on the machines of a cluster that is there already."""
        return bool(self.address or os.environ.get("RAY_ADDRESS"))

    @property
    def cuda(self) -> bool:
        """Return whether models run on GPUs: those of the cluster where one is joined, else those of this machine."""
        if self.device == "cpu":
            return False
        if self.joins_cluster:
            connect(self.address)
            import ray

            return self.device == "cuda" or ray.cluster_resources().get("GPU", 0) > 0
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise UserError("device cuda, but torch sees no GPU here: take execution.device=cpu, or join a cluster")
        return torch.cuda.is_available()

    @property
    def local_device(self) -> str:
        """Return the device of this process: a GPU where one is allowed and seen."""
        import torch

        return "cuda" if self.device != "cpu" and torch.cuda.is_available() else "cpu"

    def reserved(self, executor: Executor) -> dict[str, float]:
        """Return the CPUs and GPUs that every process of an executor holds whose task has a model."""
        gpus = self.gpus_per_worker if executor.name == "ray" and self.cuda else 0.0
        return {"cpus": self.cpus_per_worker, "gpus": gpus}

    def map_rows(
        self,
        make: Callable[[], Callable[[Sequence[T]], Sequence[R]]],
        rows: Sequence[T],
        *,
        name: str,
        unit: str,
        per_second: float,
        chunk: int,
        executor: ExecutorName | None = None,
    ) -> list[R]:
        """Return the results of rows, in their order, by a task that holds a model and takes `chunk` rows at once.

        One core takes `per_second` rows; `executor` overrides the setting.
        """
        chosen = self.choose(len(rows) / per_second, name, executor)
        chunks = [rows[start : start + chunk] for start in range(0, len(rows), chunk)]
        with Stage(name, len(rows), unit) as stage:
            parts = chosen.map(make, chunks, stage, size=len, **self.reserved(chosen))
        return [result for part in parts for result in part]


def choose(executor: ExecutorName, seconds: float, what: str, address: str | None = None) -> Executor:
    """Return the executor asked for; `auto` takes Ray where `seconds` of one core's work outweigh its start-up.

    A worker of Ray with CPUs of its own, as a trial of a sweep is, works locally whatever is asked: trials may hold all
    CPUs there are, and tasks would wait for them for ever while the trials wait for the tasks.
    """
    if executor != "local" and _holds_cpus():
        say_once(f"{what}: executor local (this worker of Ray holds its CPUs already)")
        executor = "local"
    if executor == "auto":
        ray_runs = bool(address or os.environ.get("RAY_ADDRESS"))
        chosen = "ray" if ray_runs or (seconds > RAY_PAYS_SECONDS and (os.cpu_count() or 1) >= 4) else "local"
        why = "a cluster is given" if ray_runs else f"about {seconds:.1f} s of one core's work"
        say_once(f"{what}: executor {chosen} ({why})")
        executor = "ray" if chosen == "ray" else "local"
    return RayExecutor(address) if executor == "ray" else LocalExecutor()


def _holds_cpus() -> bool:
    """Whether this process is a worker of Ray for which CPUs are reserved."""
    ray = sys.modules.get("ray")  # where it is not imported, this process is no worker
    if ray is None or not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return bool(context.worker.mode == ray.WORKER_MODE and context.get_assigned_resources().get("CPU"))


_connecting = threading.Lock()


def connect(address: str | None = None) -> None:
    """Join the cluster at `address` or RAY_ADDRESS, or start Ray on this machine; once per process."""
    with _connecting:
        _connect(address)


def _connect(address: str | None) -> None:
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    if ray.is_initialized():
        return
    address = address or os.environ.get("RAY_ADDRESS")
    # Threads that wait for a core without spinning: next to another busy process, spinning costs ten times the time.
    environment = {"env_vars": {"OMP_WAIT_POLICY": "PASSIVE"}}
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": environment}
    if address:
        ray.init(address=address, **options)
    else:
        ray.init(address="local", resources={"trial_driver": os.cpu_count() or 1}, include_dashboard=False, **options)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
