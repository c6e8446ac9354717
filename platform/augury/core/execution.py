"""The settings of where work runs, and the choice of an executor by them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.executors import HOLDS_CPUS, Executor, LocalExecutor, RayExecutor
from augury.core.machine import available_cores
from augury.core.progress import Stage, say_once
from augury.core.ray_connection import connect

T = TypeVar("T")
R = TypeVar("R")

ExecutorName = Literal["auto", "local", "ray"]
# Seconds of work on one core below which Ray costs more than it saves: its start-up, or that of
# tasks on a cluster, where fitting a cipher on 1,000 rows took 11 s.
RAY_MIN_SECONDS, CLUSTER_MIN_SECONDS = 20.0, 5.0
PROCESSES_MIN_SECONDS = 2.0
"""The same of processes of this machine, which import for a second."""


class Execution(Section):
    """Where work runs; not part of any address.

    These settings change results by rounding only, as sums depend on the number of threads and on
    the device; but `compile`, as GPUs do, draws other dropout masks.
    """

    executor: ExecutorName = "auto"
    """Executor of augmentation, decoding and the trials of sweeps: local, processes of this
    machine, for work on text one for each core; ray; or auto: on a cluster ray where the estimated
    work outweighs its start, and without one local, but on four cores or more ray for long work of
    models and for reading millions of rows, and for trials that need a GPU or several workers."""
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
        if self.device == "cuda":
            self._check_gpus(workers)

    def _check_gpus(self, workers: int) -> None:
        """Raise UserError where the cluster, or else this machine, lacks the GPUs of a training."""
        if not self.joins_cluster:
            self._require_cuda()
            return
        connect(self.address)
        import ray

        gpus = [node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]
        if sum(int(of_node / self.gpus_per_worker) for of_node in gpus) < workers:
            raise UserError(
                f"device is cuda, and {workers} workers with {self.gpus_per_worker:g} GPUs each do "
                f"not fit the cluster, whose nodes have {', '.join(map('{:g}'.format, gpus))}: set "
                "execution.device=cpu, or lower training.workers or execution.gpus_per_worker"
            )

    def choose(
        self,
        seconds: float,
        what: str,
        executor: ExecutorName | None = None,
        *,
        threads: bool = False,
    ) -> Executor:
        """Return the executor for work of `seconds` on one core; `executor` overrides the setting.

        With `threads`, a local executor uses the cores by threads of the task, as models and the
        reading of text do, and has one process; other work has one for each core that this process
        may use. `auto` is Ray if the work outweighs the start-up of tasks on a cluster, or with
        `threads`, as models may have several GPUs, that of Ray. In a process with
        CPUs of its own, such as a trial of a sweep, it is always the local one: trials may reserve
        all CPUs of the cluster, and would deadlock waiting for tasks that wait for CPUs.
        """
        name = executor or self.executor
        if _holds_cpus():
            if name != "local":
                say_once(f"{what}: in this process, which has its own CPUs")
            return LocalExecutor()
        on_ray = name == "ray"
        if name == "auto" and self.joins_cluster:
            on_ray = seconds > CLUSTER_MIN_SECONDS or self.device == "cuda"
        elif name == "auto":
            on_ray = threads and seconds > RAY_MIN_SECONDS and available_cores() >= 4
        processes = available_cores() if seconds > PROCESSES_MIN_SECONDS and not threads else 1
        if name == "auto" or (not on_ray and processes > 1):
            here = "in this process" if processes == 1 else f"in {processes} processes"
            say_once(f"{what}: {'on Ray' if on_ray else here}, about {seconds:.1f} s of one core")
        return RayExecutor(self.address) if on_ray else LocalExecutor(processes)

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
        """Map a task with a model over rows, `chunk` rows at a time, and return the results in
        order.

        `per_second` is the estimated speed of one core in rows; `executor` overrides the setting.
        """
        backend = self.choose(len(rows) / per_second, name, executor, threads=True)
        chunks = [rows[start : start + chunk] for start in range(0, len(rows), chunk)]
        with Stage(name, len(rows), unit) as stage:
            results = backend.map(make, chunks, stage, size=len, **self.reserved(backend))
        return [result for chunk_results in results for result in chunk_results]


def _holds_cpus() -> bool:
    """Return whether this process has CPUs of its own among others: of a sweep, or reserved by
    Ray."""
    if HOLDS_CPUS in os.environ:
        return True
    if "ray" not in sys.modules:  # every Ray worker has imported it
        return False
    import ray  # waits where another thread is in the middle of importing it

    if not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return bool(
        context.worker.mode == ray.WORKER_MODE and context.get_assigned_resources().get("CPU")
    )
