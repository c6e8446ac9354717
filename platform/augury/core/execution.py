"""The settings of where work runs, and the choice of an executor by them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.executors import Executor, LocalExecutor, RayExecutor, Row, Task
from augury.core.machine import available_cores
from augury.core.progress import Stage, say_once
from augury.core.ray_connection import connect

T = TypeVar("T")
R = TypeVar("R")

ExecutorName = Literal["auto", "local", "ray"]
LITTLE_SECONDS = 30.0
"""Work of so many seconds on one core is done in this process before Ray has started."""


class Execution(Section):
    """Where work runs; not part of any address.

    These settings change results by rounding only, as sums depend on the number of threads and on
    the device; but `compile`, as GPUs do, draws other dropout masks.
    """

    executor: ExecutorName = "auto"
    """Executor of augmentation, decoding and trials: local, this process, one after the other; ray;
    or auto: this process where there is one training and little text, else ray."""
    launcher: Literal["auto", "direct", "ray"] = "auto"
    """Launcher of training: ray (Ray Train), direct (this process), or auto: direct if one CPU
    worker suffices."""
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        BeforeValidator(lambda name: "cuda" if name == "gpu" else name),
    ] = "auto"
    """auto: GPUs if the cluster, or else this machine, has any at the start; gpu means cuda."""
    at_once: int = Field(1, ge=1, le=100_000)
    """Number of runs of an experiment that train concurrently, with launcher ray, if resources
    allow."""
    threads: int | None = Field(None, ge=1, le=10_000)
    """CPU threads per worker; by default the number of cores divided by the number of workers."""
    cpus_per_worker: float = Field(1.0, gt=0)
    """CPUs that Ray reserves for each training worker."""
    gpus_per_worker: float = Field(1.0, gt=0)
    """GPUs that Ray reserves for each training worker if the device is CUDA."""
    compile: bool = False
    """Whether `torch.compile` fuses the kernels of each layer in training, for GPUs: on a CPU it
    takes minutes, and steps are no faster. Its dropout masks are other ones."""
    address: str | None = None
    """Address of the Ray cluster to join; by default RAY_ADDRESS, or a local Ray instance."""
    max_failures: int = Field(2, ge=0)
    """Number of times a failed worker group is restarted before the run fails."""

    @property
    def most_at_once(self) -> int | None:
        """The maximum number of runs that train concurrently, where it is set."""
        return self.at_once if "at_once" in self.model_fields_set else None

    def check(self, workers: int) -> None:
        """Raise UserError if runs with so many training workers cannot be launched in this way."""
        if self.at_once > 1 and self.launcher != "ray":
            raise UserError(
                f"execution.at_once={self.at_once} trains runs side by side on Ray's workers: set "
                "execution.launcher=ray, or at_once=1"
            )
        if self.launcher == "direct" and workers > 1:
            raise UserError(
                f"execution.launcher=direct has one worker, training.workers is {workers}: set "
                "execution.launcher=ray"
            )
        # A cluster may start machines for more CPUs, but GPUs are asked for where they are known.
        if self.device == "cuda" and self.joins_cluster:
            connect(self.address)
            import ray

            nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            self._check_fits(workers, "GPU", nodes, "the cluster")
        elif self.device == "cuda":
            self._require_cuda()
        if not self.joins_cluster and (workers > 1 or self.launcher == "ray"):
            here = {"CPU": float(available_cores())}
            if self.cuda:
                import torch

                here["GPU"] = float(torch.cuda.device_count())
            for kind in here:
                self._check_fits(workers, kind, [here], "this machine")

    def _check_fits(
        self, workers: int, kind: str, nodes: Sequence[Mapping[str, float]], where: str
    ) -> None:
        amount = self.cpus_per_worker if kind == "CPU" else self.gpus_per_worker
        have = [node.get(kind, 0.0) for node in nodes]
        if sum(int(of_node / amount + 1e-9) for of_node in have) < workers:
            raise UserError(
                f"{workers} workers with {amount:g} {kind}s each do not fit {where}, which has "
                f"{' + '.join(map('{:g}'.format, have))} {kind}s: lower training.workers or "
                f"execution.{kind.lower()}s_per_worker"
            )

    def choose(self, seconds: float, what: str, executor: ExecutorName | None = None) -> Executor:
        """Return the executor for work of `seconds` on one core; `executor` overrides the setting.

        `auto` is this process for little work, else Ray. In a process with CPUs of its own, such
        as a trial of a sweep, it is always this process: trials may reserve all CPUs of the
        cluster, and would deadlock waiting for tasks that wait for CPUs.
        """
        name = executor or self.executor
        if _holds_cpus():
            return LocalExecutor()
        if name == "auto":
            # A process that joins a cluster may lack the GPUs of its workers.
            elsewhere = self.device == "cuda" and self.joins_cluster
            name = "ray" if seconds > LITTLE_SECONDS or elsewhere else "local"
            where = "on Ray" if name == "ray" else "in this process"
            say_once(f"{what}: {where}, about {seconds:.1f} s of one core")
        return RayExecutor(self.address) if name == "ray" else LocalExecutor()

    @property
    def joins_cluster(self) -> bool:
        """Whether work runs on an existing cluster."""
        return bool(self.address or os.environ.get("RAY_ADDRESS"))

    @property
    def cuda(self) -> bool:
        """Whether models run on GPUs of the cluster to join, or else of this machine."""
        if self.device == "cpu":
            return False
        if self.joins_cluster:
            connect(self.address)
            import ray

            return self.device == "cuda" or ray.cluster_resources().get("GPU", 0) > 0
        if self.device == "cuda":
            self._require_cuda()
        import torch

        return torch.cuda.is_available()

    @staticmethod
    def _require_cuda() -> None:
        import torch

        if not torch.cuda.is_available():
            raise UserError(
                "device is cuda, but torch sees no GPU: set execution.device=cpu, or join a cluster"
            )

    @property
    def local_device(self) -> str:
        """The device of this process: `cuda` if that is allowed and available."""
        import torch

        return "cuda" if self.device != "cpu" and torch.cuda.is_available() else "cpu"

    def worker_resources(self, cuda: bool) -> dict[str, float]:
        """Return the resources of a training worker in Ray's names."""
        return {"CPU": self.cpus_per_worker} | ({"GPU": self.gpus_per_worker} if cuda else {})

    def reserved(self, executor: Executor) -> dict[str, float]:
        """Return the CPUs and GPUs to reserve for each worker of an executor whose task holds a
        model."""
        gpus = self.gpus_per_worker if executor.name == "ray" and self.cuda else 0.0
        return {"cpus": self.cpus_per_worker, "gpus": gpus}

    def map_texts(
        self,
        make: Callable[[], Callable[[list[T]], list[R]]],
        texts: Sequence[T],
        *,
        name: str,
        unit: str,
        per_second: float,
        chunk: int,
        executor: ExecutorName | None = None,
        gpu: bool = True,
    ) -> list[R]:
        """Map a task with a model over texts, or lists of texts, `chunk` at a time, and return a
        result for each, in order.

        `per_second` is the estimated speed of one core in texts; `executor` overrides the setting;
        `gpu` says whether the model runs on a GPU where there is one.
        """
        backend = self.choose(len(texts) / per_second, name, executor)
        rows = [{TEXTS: [*texts[start : start + chunk]]} for start in range(0, len(texts), chunk)]
        with Stage(name, len(texts), unit) as stage:
            reserved = self.reserved(backend) if gpu else {}
            chunks = backend.map(partial(_of_texts, make), rows, stage, **reserved)
        return [result for row in chunks for result in row[RESULTS]]


TEXTS, RESULTS = "texts", "results"


def _of_texts(make: Callable[[], Callable[[list[T]], list[R]]]) -> Task:
    """Return the task that maps a list of texts to a list of results."""
    function = make()

    def task(row: Row) -> Row:
        results = function(list(row[TEXTS]))
        return {"rows": len(results), RESULTS: results}

    return task


def _holds_cpus() -> bool:
    """Return whether Ray has reserved CPUs for this process, as for a trial of a sweep."""
    if "ray" not in sys.modules:  # every Ray worker has imported it
        return False
    import ray  # waits where another thread is in the middle of importing it

    if not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return bool(
        context.worker.mode == ray.WORKER_MODE and context.get_assigned_resources().get("CPU")
    )
