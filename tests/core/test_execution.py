from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import psutil
import pytest

from augury.augment import operator
from augury.core import executors, local_ray, messages, processes, ray_connection
from augury.core.errors import UserError
from augury.core.execution import Execution, ExecutorName
from augury.core.executors import LocalExecutor, RayExecutor
from augury.core.progress import Stage, say_once


def squares() -> Any:
    return lambda number: number * number


Anywhere = LocalExecutor | RayExecutor


@pytest.fixture(params=["processes", pytest.param("ray", marks=pytest.mark.slow)])
def elsewhere(request: pytest.FixtureRequest) -> Anywhere:
    """An executor whose tasks run in other processes."""
    if request.param == "processes":
        return LocalExecutor(processes=2)
    request.getfixturevalue("local_ray")
    return RayExecutor()


def test_results_are_in_the_order_of_the_items(elsewhere: Anywhere) -> None:
    items = list(range(23))
    for executor in (elsewhere, LocalExecutor()):
        with Stage("squares", len(items)) as stage:
            assert executor.map(squares, items, stage) == [item * item for item in items]
        assert stage.done == 23


def own_process() -> Any:
    return lambda item: (os.getpid(), os.environ.get("OMP_NUM_THREADS"))


def test_processes_have_a_core_each_and_last() -> None:
    places = set()
    for _ in range(2):
        with Stage("processes", 8) as stage:
            places |= set(LocalExecutor(processes=2).map(own_process, range(8), stage))
    assert os.getpid() not in {process for process, _ in places}
    assert len(places) <= 2
    assert {threads for _, threads in places} == {"1"}


def test_what_holds_a_model_stays_in_this_process() -> None:
    with Stage("models", 2) as stage:
        places = LocalExecutor(processes=2).map(own_process, range(2), stage, cpus=1)
    assert {process for process, _ in places} == {os.getpid()}


def dying() -> Any:
    here, parent = os.getpid(), os.environ["PARENT"]

    def task(number: int) -> int:
        if number == 3:
            if str(here) != parent:
                os.kill(here, signal.SIGKILL)
            say_once("warning: three is odd")
        return number

    return task


def test_what_a_killed_process_leaves_is_done_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PARENT", str(os.getpid()))
    monkeypatch.setattr(messages, "_logged", set())
    processes.end_processes()  # those of other tests have another PARENT
    caplog.set_level("INFO", "augury")
    executor = LocalExecutor(processes=2)
    with Stage("numbers", 6) as stage:
        assert executor.map(dying, range(6), stage) == list(range(6))
    assert stage.done == 6
    assert sum("SIGKILL" in message for message in caplog.messages) == 1
    assert sum("three is odd" in message for message in caplog.messages) == 1
    with Stage("squares", 4) as stage:  # in new processes
        assert executor.map(squares, range(4), stage) == [0, 1, 4, 9]


@dataclass(frozen=True)
class _Unreadable:
    """An item that no other process can load."""

    number: int

    def __reduce__(self) -> Any:
        return _require, (os.getpid(), self.number)


def _require(process: int, number: int) -> Any:
    if os.getpid() != process:
        raise ModuleNotFoundError("No module named 'plugin'")
    return _Unreadable(number)


def test_what_cannot_be_sent_is_done_here(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "augury")
    items = [_Unreadable(number) for number in range(3)]
    with Stage("numbers", 3) as stage:
        results = LocalExecutor(processes=2).map(lambda: lambda item: item.number, items, stage)
    assert results == [0, 1, 2]
    assert any("cannot be sent" in message for message in caplog.messages)


def test_threads_share_the_processes() -> None:
    places: list[set[int]] = []

    def work() -> None:
        with Stage("processes", 8) as stage:
            found = LocalExecutor(processes=2).map(own_process, range(8), stage)
        places.append({process for process, _ in found})

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(places) == 3
    assert len(set().union(*places)) <= 2


def talking() -> Any:
    def task(number: int) -> int:
        say_once("warning: no synonyms are known")
        return number

    return task


def test_what_tasks_say_elsewhere_is_said_here_once(
    elsewhere: Anywhere,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "_logged", set())
    caplog.set_level("INFO", "augury")
    with Stage("numbers", 4) as stage:
        elsewhere.map(talking, range(4), stage)
    said = [record for record in caplog.records if "synonyms" in record.getMessage()]
    assert [record.levelname for record in said] == ["WARNING"]


SLEEPING = """
import signal
import sys
import threading
import time
from contextlib import suppress

from augury.core.executors import LocalExecutor
from augury.core.progress import Stage
from augury.core.processes import end_processes


def sleeping():
    def task(number):
        print(number, flush=True)
        time.sleep(60)

    return task


def work():
    LocalExecutor(processes=2).map(sleeping, range(4), Stage("sleep", 4))


def work_quietly():
    with suppress(Exception):  # as run_concurrently, which keeps it
        work()


signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
print("begins", flush=True)
try:
    if sys.argv[1] == "thread":
        threading.Thread(target=work_quietly, daemon=True).start()
        while True:  # `signal.pause` sleeps on where Ctrl-C comes just before it
            time.sleep(1)
    work()
except KeyboardInterrupt:
    end_processes()  # as the command line does
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("number", "where", "lines"),  # a line before the processes start, one of each at work
    [
        (signal.SIGINT, "main", 1),
        (signal.SIGINT, "main", 3),
        (signal.SIGINT, "thread", 1),
        (signal.SIGINT, "thread", 3),
        (signal.SIGKILL, "main", 3),
    ],
)
def test_processes_end_with_the_command(
    number: int, where: str, lines: int, tmp_path: Path
) -> None:
    script = tmp_path / "sleeping.py"
    script.write_text(SLEEPING)
    command = subprocess.Popen(
        [sys.executable, script, where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert command.stdout is not None
    for _ in range(lines):
        assert command.stdout.readline()
    processes: list[psutil.Process] = []
    while len(processes) < 3:  # with one that clears up; the others import at first
        processes = psutil.Process(command.pid).children(recursive=True)
    # Ctrl-C reaches all processes of a terminal.
    (os.killpg if number == signal.SIGINT else os.kill)(command.pid, number)
    _, errors = command.communicate(timeout=20)
    assert command.returncode == (130 if number == signal.SIGINT else -number)
    _, alive = psutil.wait_procs(processes, timeout=20)
    assert not alive
    assert errors == ""


@pytest.mark.slow
def test_items_of_joined_blocks_keep_their_order(
    local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "MIN_BLOCKS", 5)
    monkeypatch.setattr(executors, "BLOCKS_PER_CPU", 0)
    items = list(range(23))
    with Stage("squares", len(items)) as stage:
        assert RayExecutor().map(squares, items, stage) == [item * item for item in items]
    assert stage.done == 23


@pytest.mark.slow
def test_gpus_are_asked_of_the_nodes_of_a_cluster(local_ray: Any) -> None:
    on_cluster = Execution.model_validate({"device": "gpu", "address": "auto", "launcher": "ray"})
    with pytest.raises(UserError, match="2 workers with 1 GPUs each do not fit"):
        on_cluster.check(workers=2)


def told_where() -> Any:
    import ray

    identifier = uuid.uuid4().hex
    context = ray.get_runtime_context()

    def task(number: int) -> tuple[int, str, str, float]:
        return (
            number,
            identifier,
            str(context.get_actor_id()),
            context.get_assigned_resources()["CPU"],
        )

    return task


@pytest.mark.slow
def test_models_are_loaded_by_no_more_processes_than_have_their_cpus(local_ray: Any) -> None:
    items = list(range(23))
    with Stage("models", len(items)) as stage:
        results = RayExecutor().map(told_where, items, stage, cpus=1)
    assert [number for number, *_ in results] == items
    identifiers, actors, cpus = (set(column) for column in list(zip(*results, strict=True))[1:])
    assert cpus == {1.0}
    assert len(identifiers) == len(actors) <= 2  # of a cluster of 2 CPUs
    assert "None" not in actors


def complaining() -> Any:
    def task(number: int) -> int:
        raise UserError("key 3 leaves the text unchanged")

    return task


def test_a_user_error_elsewhere_is_one_here(elsewhere: Anywhere) -> None:
    with pytest.raises(UserError, match="key 3 leaves"), Stage("tasks", 2) as stage:
        elsewhere.map(complaining, [1, 2], stage)


def test_auto_says_what_it_chose_and_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert Execution(executor="auto").choose(1.0, "augment").name == "local"
    assert "augment: in this process, about 1.0 s of one core" in capsys.readouterr().err
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert Execution(executor="auto").choose(1.0, "augment").name == "local"
    assert Execution(executor="auto").choose(10.0, "augment").name == "ray"


def test_auto_takes_ray_for_much_work_of_models_on_many_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("augury.core.execution.available_cores", lambda: 16)
    assert Execution(executor="auto").choose(300.0, "decode", threads=True).name == "ray"
    monkeypatch.setattr("augury.core.execution.available_cores", lambda: 2)
    assert Execution(executor="auto").choose(300.0, "decode", threads=True).name == "local"
    assert Execution(executor="ray").choose(0.0, "augment").name == "ray"


@pytest.mark.parametrize(
    ("seconds", "threads", "holds_cpus", "processes"),
    [
        (300.0, False, False, 16),
        (0.5, False, False, 1),
        (3.0, True, False, 1),
        (300.0, False, True, 1),
    ],
)
def test_text_is_worked_on_by_all_cores_of_a_machine(
    seconds: float,
    threads: bool,
    holds_cpus: bool,
    processes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("augury.core.execution.available_cores", lambda: 16)
    if holds_cpus:
        monkeypatch.setenv(executors.HOLDS_CPUS, "1")
    for name in get_args(ExecutorName)[:2]:
        chosen = Execution(executor=name).choose(seconds, "augment", threads=threads)
        assert isinstance(chosen, LocalExecutor)
        assert chosen.processes == processes


@pytest.mark.slow
def test_who_holds_cpus_of_ray_works_without_it(local_ray: Any) -> None:
    """A trial waits for what it starts, and other trials may hold all other CPUs.

    A driver of workers holds none.
    """

    def chosen_here(executor: ExecutorName) -> str:
        return Execution(executor=executor, address="auto").choose(300.0, "decode").name

    class Worker:
        def chooses(self) -> list[str]:
            return [
                Execution(executor=executor, address="auto").choose(300.0, "decode").name
                for executor in ("auto", "ray", "local")
            ]

    def chosen(**resources: Any) -> Any:
        return local_ray.get(
            local_ray.remote(Worker).options(**resources).remote().chooses.remote()
        )

    assert chosen(num_cpus=0.5) == ["local", "local", "local"]
    assert chosen(num_cpus=0, resources={"trial_driver": 1}) == ["ray", "ray", "local"]
    assert [
        Execution(executor=executor, address="auto").choose(300.0, "decode").name
        for executor in ("auto", "ray")
    ] == [
        "ray",
        "ray",
    ]


def test_ray_that_another_thread_is_importing_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems are prepared on threads, of which the first to train imports Ray."""
    (tmp_path / "ray.py").write_text(
        "import time\ntime.sleep(0.3)\ndef is_initialized():\n    return False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", sys)  # so that it is restored, or removed, afterwards
    monkeypatch.delitem(sys.modules, "ray")
    importing = threading.Thread(target=importlib.import_module, args=("ray",))
    importing.start()
    while "ray" not in sys.modules:
        time.sleep(0.001)
    try:
        assert Execution(executor="ray").choose(0.0, "decode").name == "ray"
    finally:
        importing.join()


@dataclass(frozen=True)
class _Times:
    """Makes the task that says what an operator's parameters are in a worker."""

    operator: Any

    def __call__(self) -> Any:
        return lambda number: self.operator.times * number


def test_a_class_that_is_given_by_its_path_reaches_other_processes(
    elsewhere: Anywhere,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "mine.py").write_text(
        "from augury.augment.operator import Operator\n"
        "class Mine(Operator):\n    operator: str = 'mine'\n    times: int = 2\n"
        "    def bind(self, fitted, store):\n        return None\nOPERATOR = Mine\n"
    )
    monkeypatch.chdir(tmp_path)
    mine = operator.parse({"operator": "./mine.py", "times": 3})
    with Stage("multiply", 2, "numbers") as stage:
        assert elsewhere.map(_Times(mine), [1, 2], stage) == [3, 6]


LISTENING = """
import json
import psutil
from ray import tune  # first, as in a sweep
from augury.core.ray_connection import connect

connect(None)
import ray

processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
listening = {
    connection.laddr.port: connection.laddr.ip
    for process in processes
    for connection in process.net_connections("tcp")
    if connection.status == psutil.CONN_LISTEN
}
print(json.dumps([ray.nodes()[0]["NodeManagerAddress"], listening]))
"""


@pytest.mark.slow
def test_a_local_ray_listens_on_the_loopback_interface_alone() -> None:
    command = [sys.executable, "-c", LISTENING]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    address, listening = json.loads(result.stdout)
    assert address == "127.0.0.1" and len(listening) >= 4
    assert set(listening.values()) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


@pytest.mark.parametrize(("late", "starts"), [(2, 3), (5, 5)])
def test_a_local_ray_that_starts_too_late_is_started_again(
    late: int, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first `late` nodes are not up in time, as on a busy machine."""
    import ray

    begun: list[str] = []

    def init(address: str, **options: Any) -> None:
        begun.append(address)
        if len(begun) <= late:
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError, match="busy") if late == starts else nullcontext():
        local_ray.start({})
    assert len(begun) == starts


SIGTERM = """
import signal
from ray import tune  # first, as in a sweep
from augury.core.ray_connection import connect

signal.signal(signal.SIGTERM, lambda *_: print("answered"))
connect(None)
signal.raise_signal(signal.SIGTERM)
"""


@pytest.mark.slow
def test_a_signal_to_end_is_answered_without_a_dump_of_ray() -> None:
    command = [sys.executable, "-c", SIGTERM]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout == "answered\n" and "SIGTERM" not in result.stderr


# Ray's GCS gets no time to say its port.
FAILING = """
import os, psutil
os.environ["RAY_gcs_server_port_wait_time_s"] = "0"
from augury.core import local_ray
from augury.core.errors import UserError
try:
    local_ray.start({})
except UserError as error:
    print(error, len(psutil.Process().children(recursive=True)))
"""


@pytest.mark.slow
def test_a_local_ray_that_does_not_start_leaves_no_process() -> None:
    command = [sys.executable, "-c", FAILING]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "busy" in result.stdout and result.stdout.split()[-1] == "0"


# Two that are dead before they are seen for the first time, the first of them of an earlier Ray.
DEAD_AT_ONCE = """
import shutil, subprocess, sys
from pathlib import Path
from augury.core import local_ray
died = []
local_ray.on_death(died.append)
program = Path(sys.argv[1], "gcs_server")
shutil.copy(shutil.which("sleep"), program)
directory = Path(sys.argv[1], "ray")
directory.mkdir()
earlier = subprocess.Popen([program, "60"])
earlier.kill()
watch = local_ray._Watch(directory)
watch.join(3 * local_ray.POLL_SECONDS)
print(*died, directory.exists())
subprocess.Popen([program, "60"]).kill()
watch.join(30)
print(*died, directory.exists())
"""


def test_a_gcs_that_dies_before_it_is_seen_is_a_dead_gcs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DEAD_AT_ONCE, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.splitlines() == ["True", "Ray's GCS False"]


# A raylet that dies while the first Ray starts, for which `ray.init` waits; the second starts.
RAYLET = """
import shutil, subprocess, sys, time
from pathlib import Path
import ray
from augury.core import local_ray
died, begun = [], []
local_ray.on_death(died.append)
program = Path(sys.argv[1], "raylet")
shutil.copy(shutil.which("sleep"), program)

def init(**options):
    begun.append(options)
    if len(begun) == 1:
        subprocess.Popen([program, "60"]).kill()
        time.sleep(3 * local_ray.POLL_SECONDS)
        raise Exception("The current node was not found")

ray.init = init
local_ray.start({})
print(len(begun), died)
"""


def test_a_raylet_that_dies_while_ray_starts_takes_an_attempt_and_no_restart(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", RAYLET, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "2 []\n"


# Three items, and one that alone is larger than the object store, go through it and back.
SPILLING = """
import os, tempfile
from pathlib import Path
os.environ["RAY_DEFAULT_OBJECT_STORE_MAX_MEMORY_BYTES"] = "80000000"
from augury.core.executors import RayExecutor
from augury.core.progress import Stage

items = [bytes([number]) * 10_000_000 for number in range(3)] + [bytes(90_000_000)]
task = lambda item: (item[:1], len(item), item)
results = RayExecutor().map(lambda: task, items, Stage("measure", len(items), "items"))
import ray
from ray._private.internal_api import memory_summary
address = ray.get_runtime_context().gcs_address
assert ray.cluster_resources()["object_store_memory"] == 80_000_000
spilled = "Spilled" in memory_summary(address, stats_only=True)
print(spilled, results == [task(item) for item in items])
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_items_that_do_not_fit_into_the_object_store_are_spilled() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="s") as directory:  # sockets: short names
        environment = {**os.environ, "TMPDIR": directory}
        command = [sys.executable, "-c", SPILLING]
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout.split() == ["True", "True"]
        assert not [*Path(directory).glob("augury-*")]  # spilled files too


@pytest.mark.parametrize(
    ("dashboard", "mode", "warns"),
    [("127.0.0.1:8265", "", False), ("", "", False), ("10.0.0.7:8265", "", True)]
    + [("0.0.0.0:8265", "disabled", True), ("10.0.0.7:8265", "token", False)],
)
def test_a_cluster_that_is_open_to_others_is_warned_of(
    dashboard: str, mode: str, warns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ray_connection.AUTH_MODE, mode)
    assert bool(ray_connection.exposed(dashboard)) == warns
