"""Executors: the same tasks in this process or on Ray Data, results in the order of the items.

A task is coarse (a shard, a batch file) and pure, so that where it runs and how often it is retried cannot change what
comes out.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar

from augury.progress import Stage, say

T = TypeVar("T")
R = TypeVar("R")

RAY_PAYS_SECONDS = 20.0  # of one core's work, below which Ray's start-up takes longer than it saves


class Executor(Protocol):
    """Runs a task over items; `make` is called once in every process that takes part."""

    name: str

    def map(
        self,
        make: Callable[[], Callable[[T], R]],
        items: Sequence[T],
        stage: Stage,
        *,
        size: Callable[[R], int] = lambda result: 1,
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
        gpus: float = 0,
    ) -> list[R]:
        task, results = make(), []
        for item in items:
            results.append(task(item))
            stage.advance(size(results[-1]))
        return results


class RayExecutor:
    """Runs the tasks on Ray Data: one row an item, one block a row, an actor pool where making the task is costly."""

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
        gpus: float = 0,
    ) -> list[R]:
        connect(self.address)
        import ray

        class Task:
            def __init__(self) -> None:
                self.task = make()

            def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
                return {"index": row["index"], "result": pickle.dumps(self.task(pickle.loads(row["item"])))}

        workers = max(1, min(len(items), int(ray.cluster_resources().get("GPU" if gpus else "CPU", 1) / (gpus or 1))))
        rows = [{"index": index, "item": pickle.dumps(item)} for index, item in enumerate(items)]
        # Half a CPU each leaves room for the tasks that read: on two cores, two whole ones would wait for each other.
        done = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
            Task, compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers), num_cpus=0.5, num_gpus=gpus or None
        )
        results: list[Any] = [None] * len(items)
        for row in done.iter_rows():
            results[row["index"]] = pickle.loads(row["result"])
            stage.advance(size(results[row["index"]]))
        return results


def choose(
    executor: Literal["auto", "local", "ray"], seconds: float, what: str, address: str | None = None
) -> Executor:
    """The executor asked for; `auto` takes Ray where `seconds` of one core's work outweigh its start-up."""
    if executor == "auto":
        ray_runs = bool(address or os.environ.get("RAY_ADDRESS"))
        chosen = "ray" if ray_runs or (seconds > RAY_PAYS_SECONDS and (os.cpu_count() or 1) >= 4) else "local"
        why = "a cluster is given" if ray_runs else f"about {seconds:.1f} s of one core's work"
        say(f"{what}: executor {chosen} ({why})")
        executor = "ray" if chosen == "ray" else "local"
    return RayExecutor(address) if executor == "ray" else LocalExecutor()


def connect(address: str | None = None) -> None:
    """Join the cluster at `address` or RAY_ADDRESS, or start Ray on this machine; once per process."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its notes to developers are not the user's
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    if ray.is_initialized():
        return
    address = address or os.environ.get("RAY_ADDRESS")
    # Threads that wait for a core without spinning: beside another busy process, spinning costs ten times the time.
    environment = {"env_vars": {"OMP_WAIT_POLICY": "PASSIVE"}}
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": environment}
    if address:
        ray.init(address=address, **options)
    else:
        ray.init(resources={"trial_driver": os.cpu_count() or 1}, include_dashboard=False, **options)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
