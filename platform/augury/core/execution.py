"""Where work runs: its settings, and executors, which map a function over items in this process or
on Ray Data and return the results in order.

An item is a mapping of names to plain values (numbers, text, lists and arrays of them), a row of a
dataset of Ray: what to work on, such as a shard and the range of its records. Functions are coarse
and pure, so that results depend neither on where they run nor on retries; what is large they read
and write themselves, as files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import Field

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.machine import available_cores, in_this_directory
from augury.core.messages import collected, say_once
from augury.core.progress import ProgressLine
from augury.core.ray_connection import connect, is_worker

T = TypeVar("T")
R = TypeVar("R")
Item = Mapping[str, Any]
ItemFunction = Callable[[Item], Item]
"""The result has `rows`, its units of progress, among what else the function returns."""

# A block costs the driver about 10 ms: more of them than these are joined, on large clusters to a
# few for every CPU.
MIN_BLOCKS, BLOCKS_PER_CPU = 1_000, 2

ExecutorName = Literal["auto", "local", "ray"]
LITTLE_SECONDS = 30.0
"""Work of so many seconds on one core is done in this process before Ray has started."""


class LocalExecutor:
    """Maps a function over items in this process, one after the other; `make` creates it."""

    name = "local"

    def map(
        self, make: Callable[[], ItemFunction], items: Sequence[Item], progress: ProgressLine
    ) -> list[Item]:
        function, results = make(), []
        for item in items:
            results.append(function(item))
            progress.advance(results[-1]["rows"])
        return results


class RayExecutor:
    """Maps a function over items on Ray Data, in a pool of actors for each of which `make` creates
    it.

    Each reserves a CPU and `gpus`, which limit their number.
    """

    name = "ray"

    def __init__(self, gpus: float = 0.0):
        self.gpus = gpus

    def map(
        self, make: Callable[[], ItemFunction], items: Sequence[Item], progress: ProgressLine
    ) -> list[Item]:
        if not items:
            return []
        connect()
        import ray

        has = ray.cluster_resources()
        fitting = int(has.get("GPU", 0) / self.gpus) if self.gpus else len(items)
        workers = max(1, min(len(items), fitting, int(has.get("CPU", 0))))
        blocks = min(len(items), max(MIN_BLOCKS, int(BLOCKS_PER_CPU * has.get("CPU", 0))))
        dataset = ray.data.from_items(
            [{INDEX: index, **item} for index, item in enumerate(items)], override_num_blocks=blocks
        ).map(
            _Worker,
            fn_constructor_args=(in_this_directory(make),),
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
            num_cpus=1,
            num_gpus=self.gpus or None,
        )
        dataset.set_name(progress.name)
        results: list[Item] = [{}] * len(items)
        for result in dataset.iter_rows():
            for message in result.pop(MESSAGES):
                say_once(message)
            # Raised in a worker, it would end the dataset, wrapped in the traceback of Ray's code.
            if error := result.pop(ERROR):
                raise UserError(error)
            results[result.pop(INDEX)] = result
            progress.advance(result["rows"])
        return results


Executor: TypeAlias = LocalExecutor | RayExecutor

INDEX, MESSAGES, ERROR = "index", "messages", "error"
"""Columns beside those of a result: its place, what the function has said, its UserError."""


class _Worker:
    """Holds a function in an actor of Ray Data."""

    def __init__(self, make: Callable[[], ItemFunction]):
        self.make = make
        self.function: ItemFunction | None = None

    def __call__(self, item: Item) -> dict[str, Any]:
        result: Item = {"rows": 0}
        error = ""
        with collected() as messages:
            try:
                if self.function is None:  # not in the constructor, whose errors Ray would wrap
                    self.function = self.make()
                result = self.function(item)
            except UserError as raised:
                error = str(raised)
        return {**result, INDEX: item[INDEX], MESSAGES: messages, ERROR: error}


class Execution(Section):
    """Where work runs; not part of any address.

    These settings change results by rounding only, as sums depend on the number of threads and on
    the device; but `compile`, as GPUs do, draws other dropout masks.
    """

    executor: ExecutorName = "auto"
    """Executor of augmentation, decoding and training: local, this process, one after the other;
    ray; or auto: this process where there is one training and little text, else ray."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """auto: GPUs if the cluster, or else this machine, has any at the start."""
    threads: int | None = Field(None, ge=1, le=10_000)
    """CPU threads per worker, for which Ray reserves CPUs; by default one in a trial of Ray, else
    the number of cores divided by the number of workers."""
    gpus_per_worker: float = Field(1.0, gt=0)
    """GPUs that Ray reserves for each training worker if the device is CUDA."""
    compile: bool = False
    """Whether `torch.compile` fuses the kernels of each layer in training, for GPUs: on a CPU it
    takes minutes, and steps are no faster. Its dropout masks are other ones."""
    max_failures: int = Field(2, ge=0)
    """Number of times a failed worker group is restarted before the run fails."""

    def check(self, workers: int) -> None:
        """Raise UserError for several training workers in this process, or if this machine has no
        room for so many; a cluster may start machines for them."""
        if workers > 1 and self.executor == "local":
            raise UserError(
                f"training.workers={workers} are workers of Ray, and execution.executor is local: "
                "set training.workers=1, or execution.executor=ray"
            )
        if self.joins_cluster or (workers == 1 and self.device != "cuda"):
            return
        here = {"CPU": float(available_cores())}
        if self.cuda:
            import torch

            here["GPU"] = float(torch.cuda.device_count())
        for kind, amount in self.worker_resources(self.cuda).items():
            if workers > 1 and workers * amount > here[kind] + 1e-9:
                key = "threads" if kind == "CPU" else "gpus_per_worker"
                raise UserError(
                    f"{workers} workers with {amount:g} {kind}s each do not fit this machine, "
                    f"which has {here[kind]:g}: lower training.workers or execution.{key}"
                )

    def choose(
        self, seconds: float, what: str, executor: ExecutorName | None = None, *, gpus: bool = False
    ) -> Executor:
        """Return the executor for work of `seconds` on one core; `executor` overrides the setting.

        `auto` is this process for little work, else Ray, whose workers have a CPU each and, where
        `gpus` help them, what a training worker has of GPUs. In a process with CPUs of its own,
        such as a trial of a sweep, it is always this process: trials may reserve all CPUs of the
        cluster, and would deadlock waiting for tasks that wait for CPUs.
        """
        name = executor or self.executor
        if is_worker():
            import ray

            if ray.get_runtime_context().get_assigned_resources().get("CPU"):
                return LocalExecutor()
        if name == "auto":
            # A process that joins a cluster may lack the GPUs of its workers.
            elsewhere = self.device == "cuda" and self.joins_cluster
            name = "ray" if seconds > LITTLE_SECONDS or elsewhere else "local"
            where = "on Ray" if name == "ray" else "in this process"
            say_once(f"{what}: {where}, about {seconds:.1f} s of one core")
        if name == "local":
            return LocalExecutor()
        return RayExecutor(gpus=self.gpus_per_worker if gpus and self.cuda else 0.0)

    @property
    def joins_cluster(self) -> bool:
        """Whether work runs on an existing cluster, that of RAY_ADDRESS."""
        return bool(os.environ.get("RAY_ADDRESS"))

    @property
    def cuda(self) -> bool:
        """Whether models run on GPUs of the cluster to join, or else of this machine."""
        if self.device == "cpu":
            return False
        if self.joins_cluster:
            connect()
            import ray

            return self.device == "cuda" or ray.cluster_resources().get("GPU", 0) > 0
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise UserError(
                "device is cuda, but torch sees no GPU: set execution.device=cpu, or join a cluster"
            )
        return torch.cuda.is_available()

    @property
    def local_device(self) -> str:
        """The device of this process: `cuda` if that is allowed and available."""
        import torch

        return "cuda" if self.device != "cpu" and torch.cuda.is_available() else "cpu"

    def worker_resources(self, cuda: bool) -> dict[str, float]:
        """Return the resources of a training worker in Ray's names."""
        cpus = {"CPU": float(self.threads or 1)}
        return {**cpus, "GPU": self.gpus_per_worker} if cuda else cpus


def map_texts(
    executor: Executor,
    make: Callable[[], Callable[[list[T]], list[R]]],
    texts: Sequence[T],
    *,
    name: str,
    unit: str,
    chunk: int,
) -> list[R]:
    """Map a function with a model over texts, or lists of texts, `chunk` at a time, and return a
    result for each, in order."""

    def of_items() -> ItemFunction:
        function = make()

        def apply(item: Item) -> Item:
            results = function(list(item["texts"]))
            return {"rows": len(results), "results": results}

        return apply

    items = [{"texts": [*texts[start : start + chunk]]} for start in range(0, len(texts), chunk)]
    with ProgressLine(name, len(texts), unit) as progress:
        chunks = executor.map(of_items, items, progress)
    return [result for done in chunks for result in done["results"]]
