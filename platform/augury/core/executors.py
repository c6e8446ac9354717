"""Executors, which map a task over items in processes of this machine or on Ray Data and return
results in order.

Tasks are coarse (a shard, a batch file) and pure, so that results depend neither on where they run
nor on retries.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import cloudpickle

from augury.core.errors import UserError
from augury.core.machine import in_this_directory
from augury.core.messages import collected
from augury.core.processes import ProcessesFailed, call_in_processes
from augury.core.progress import Stage, say, say_once
from augury.core.ray_connection import connect

T = TypeVar("T")
R = TypeVar("R")

# A block costs the driver about 10 ms: more of them than these are joined, on large clusters to a
# few for every CPU.
MIN_BLOCKS, BLOCKS_PER_CPU = 1_000, 2

HOLDS_CPUS = "AUGURY_HOLDS_CPUS"
"""The variable of processes that share the cores of a machine, such as those of a sweep."""


class Executor(Protocol):
    """Maps a task over items; `make` creates the task, once in every worker process.

    `size` counts the units of progress of a result. `cpus` and `gpus` are reserved for each worker
    whose task holds a model, and limit the number of such workers on Ray. Tasks that reserve
    nothing must be cheap to create.
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
    """Runs the task over the items in this process, one by one, or in several `processes` of this
    machine where it reserves nothing."""

    name = "local"

    def __init__(self, processes: int = 1):
        self.processes = processes

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
        if cpus or gpus or min(self.processes, len(items)) < 2:
            return self._map_here(make(), items, stage, size)
        call = functools.partial(_outcome, cloudpickle.dumps(in_this_directory(make)))
        # Processes beside each other have a core each.
        environment = {HOLDS_CPUS: "1", "OMP_NUM_THREADS": "1"}
        results: dict[int, R] = {}
        try:
            for index, outcome in call_in_processes(call, items, self.processes, environment):
                results[index] = outcome.received()
                stage.advance(size(results[index]))
        except ProcessesFailed as error:
            say(f"warning: {error}: this one does the rest")
            missing = [index for index in range(len(items)) if index not in results]
            rest = self._map_here(make(), [items[index] for index in missing], stage, size)
            results |= dict(zip(missing, rest, strict=True))
        return [results[index] for index in range(len(items))]

    def _map_here(
        self,
        task: Callable[[T], R],
        items: Sequence[T],
        stage: Stage,
        size: Callable[[R], int],
    ) -> list[R]:
        results = []
        for item in items:
            results.append(task(item))
            stage.advance(size(results[-1]))
        return results


class RayExecutor:
    """Runs the task on Ray Data, one block for each item, or of several where there are very many;
    tasks that reserve resources, in actor pools."""

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
        most = max(MIN_BLOCKS, int(BLOCKS_PER_CPU * ray.cluster_resources().get("CPU", 0)))
        dataset = ray.data.from_items(rows, override_num_blocks=max(1, min(len(rows), most)))
        factory = cloudpickle.dumps(in_this_directory(make))
        reserved = {name: number for name, number in (("CPU", cpus), ("GPU", gpus)) if number}
        if reserved:
            capacity = min(
                int(ray.cluster_resources().get(name, 0) / number)
                for name, number in reserved.items()
            )
            pool = ray.data.ActorPoolStrategy(
                min_size=1, max_size=max(1, min(len(items), capacity))
            )
            mapped = dataset.map(
                _Actor,
                fn_constructor_args=(factory,),
                compute=pool,
                num_cpus=cpus or None,
                num_gpus=gpus or None,
            )
        else:
            mapped = dataset.map(_run, fn_args=(factory,))
        results: list[Any] = [None] * len(items)
        for row in mapped.iter_rows():
            result = pickle.loads(row["outcome"]).received()
            results[row["index"]] = result
            stage.advance(size(result))
        return results


_task: dict[
    bytes, Callable[[Any], Any]
] = {}  # the last task created in this process, by its pickled factory


class _Outcome(NamedTuple):
    """What a task in another process has returned and said."""

    result: Any
    """An error of the user's where there was one: raised, it would arrive wrapped in the remote
    traceback."""
    messages: list[str]

    def received(self) -> Any:
        """Say what the task has said, and return its result or raise its error."""
        for message in self.messages:
            say_once(message)
        if isinstance(self.result, UserError):
            raise self.result
        return self.result


def _outcome(factory: bytes, item: Any) -> _Outcome:
    with collected() as messages:
        try:
            if factory not in _task:
                _task.clear()  # one model in memory at a time
                _task[factory] = pickle.loads(factory)()
            return _Outcome(_task[factory](item), messages)
        except UserError as error:
            return _Outcome(error, messages)


def _run(row: dict[str, Any], factory: bytes) -> dict[str, Any]:
    outcome = _outcome(factory, pickle.loads(row["item"]))
    return {"index": row["index"], "outcome": pickle.dumps(outcome)}


class _Actor:
    def __init__(self, factory: bytes):
        self.factory = factory

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return _run(row, self.factory)
