"""Executors, which map a task over items in processes of this machine or on Ray Data and return
results in order.

Tasks are coarse (a shard, a batch file) and pure, so that results depend neither on where they run
nor on retries.
"""

from __future__ import annotations

import functools
import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeVar

import cloudpickle
from pydantic import BeforeValidator, Field

from augury.core import cluster, local_ray
from augury.core.config import Section
from augury.core.cores import available_cores
from augury.core.errors import UserError
from augury.core.listening import check_listens
from augury.core.messages import collected, logger
from augury.core.parallel import run_on_lasting_thread
from augury.core.processes import ProcessesFailed, call_in_processes
from augury.core.progress import Stage, say, say_once
from augury.core.working_directory import in_this_directory

T = TypeVar("T")
R = TypeVar("R")

ExecutorName = Literal["auto", "local", "ray"]
# Seconds of work on one core below which Ray costs more than it saves: its start-up, or that of
# tasks on a cluster, where fitting a cipher on 1,000 rows took 11 s.
RAY_MIN_SECONDS, CLUSTER_MIN_SECONDS = 20.0, 5.0
PROCESSES_MIN_SECONDS = 4.0
"""The same of processes of this machine, which import for a second."""

# A block costs the driver about 10 ms: more of them than these are joined, on large clusters to a
# few for every CPU.
MIN_BLOCKS, BLOCKS_PER_CPU = 1_000, 2

AUTH_MODE = "RAY_AUTH_MODE"
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
        if name == "auto" and self.joins_cluster:
            enough = seconds > CLUSTER_MIN_SECONDS or self.device == "cuda"
        else:
            enough = threads and seconds > RAY_MIN_SECONDS and available_cores() >= 4
        processes = available_cores() if seconds > PROCESSES_MIN_SECONDS and not threads else 1
        on_ray = name == "ray" or (name == "auto" and enough)
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


_connecting = threading.Lock()


def connect(address: str | None = None) -> None:
    """Join the cluster at `address` or RAY_ADDRESS, or start a local Ray; nothing if connected."""
    with _connecting:
        _connect(address)


def _connect(address: str | None) -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)
    if "ray" in sys.modules:
        import ray

        if ray.is_initialized():
            return
    # Ray's processes end with the thread that starts them, which may be that of one of several
    # runs. And Ctrl-C, which the main thread answers, would be lost or late in Ray's calls.
    run_on_lasting_thread(functools.partial(_start_ray, address or os.environ.get("RAY_ADDRESS")))


def _start_ray(address: str | None) -> None:
    import ray
    from ray._common.utils import env_bool
    from ray._private import ray_constants, worker

    if not address:
        # Ray's servers then listen on the loopback interface, as on macOS, and not on all: nobody
        # else can reach what runs on this machine alone. Ray's processes read the variable.
        os.environ.setdefault(ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR, "0")
        # This process may have done so before, when it imported ray.
        ray_constants.ENABLE_RAY_CLUSTER = env_bool(
            ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR, False
        )

    # What Ray reports of dead processes, with dumps of its state, it would print among results, and
    # for every SIGTERM, which this process answers, a dump of its own.
    worker.print_to_stdstream = _log_report
    ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER = True
    # Idle OpenMP threads must sleep: if they spin next to another busy process, work takes ten
    # times as long.
    environment = {"env_vars": {"OMP_WAIT_POLICY": "PASSIVE"}}
    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "runtime_env": environment,
    }
    if address:
        _check_answers(address)
        if warning := exposed(ray.init(address=address, **options).dashboard_url or ""):
            say_once(warning)
        if "://" not in address:  # a client has no Ray of its own
            cluster.watch()
    else:
        cores = available_cores()
        say(f"starting Ray on {cores} cores")
        options |= {
            "num_cpus": cores,
            "resources": {"trial_driver": cores},
            "include_dashboard": False,
        }
        local_ray.start(options)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _log_report(report: Mapping[str, Any], *_: Any, **__: Any) -> None:
    """Log a report of Ray, which `--verbose` shows."""
    for line in report["lines"]:
        logger.debug(line)


def exposed(dashboard: str) -> str:
    """Return a warning where the dashboard of a cluster, HOST:PORT, can be reached from elsewhere
    and asks for no token; empty where it cannot or does."""
    host = dashboard.rpartition(":")[0]
    if host in ("", "127.0.0.1", "localhost", "[::1]") or os.environ.get(AUTH_MODE) == "token":
        return ""
    return (
        f"warning: everyone who reaches {dashboard} can run code on this Ray cluster, unless it "
        f"asks for a token: start it, and this command, with {AUTH_MODE}=token, or keep its ports "
        "inside a private network"
    )


def _check_answers(address: str) -> None:
    """Raise UserError where nothing answers at HOST:PORT: Ray would try for a minute."""
    host, _, port = address.rpartition(":")
    if not port.isdigit() or "/" in host:
        return  # such as auto, or ray://host:port
    try:
        check_listens(host, int(port))
    except OSError as error:
        raise UserError(
            f"no Ray cluster answers at {address} ({error.strerror or error}): check "
            "execution.address and RAY_ADDRESS; `ray start --head` prints the address of a new one"
        ) from error
