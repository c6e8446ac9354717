"""Ray: the cluster that is there, or one of this machine alone that starts by itself."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from augury.core.errors import UserError
from augury.core.machine import available_cores
from augury.core.messages import logger, say, say_once
from augury.core.naming import is_whole

VARIABLES = {
    # Idle OpenMP threads must sleep: if they spin next to another busy process, work takes ten
    # times as long.
    "OMP_WAIT_POLICY": "PASSIVE",
    # Otherwise Ray prints a dump of its state for every SIGTERM, which the command answers,
    "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",
    # and keeps the page of trainings in its dashboard empty.
    "RAY_TRAIN_ENABLE_STATE_TRACKING": "1",
}
"""Read by Ray when it is imported, and by its processes."""
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Lets the servers of a Ray listen on the loopback interface, as on macOS, and not on all: nobody
else can reach what runs on this machine alone."""
POLL_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
"""How long the GCS may not answer: after a minute, Ray's own code ends the process."""

_lock = threading.Lock()
_started: Future[None] | None = None
_gcs = ""
"""HOST:PORT of the register (GCS) of the Ray that this module has connected to."""


def start_in_background() -> None:
    """Begin to join the cluster at RAY_ADDRESS, or to start a local Ray.

    To import and start Ray takes 12 s of one core: meanwhile, texts can be prepared. Called before
    Ray is imported, which reads variables that this sets.
    """
    global _started
    with _lock:
        if (_started is not None and not _started.done()) or _is_connected():
            return
        address = os.environ.get("RAY_ADDRESS", "")
        for name, value in {**VARIABLES, **({} if address else LOOPBACK)}.items():
            os.environ.setdefault(name, value)
        _started = Future()
        # Linux kills Ray's processes with the thread that has started them (PR_SET_PDEATHSIG).
        threading.Thread(target=_start, args=(address, _started), name="ray", daemon=True).start()


def connect() -> None:
    """Join the cluster at RAY_ADDRESS, or start a local Ray; nothing if connected.

    UserError where there is no such cluster, or Ray does not start.
    """
    start_in_background()
    # The main thread waits here, where Ctrl-C ends its waiting at once; in Ray's calls it is late.
    if _started is not None and not (_started.done() and _is_connected()):
        _started.result()


def _is_connected() -> bool:
    """Return whether this process has a Ray, whoever has connected it, such as that of a trial."""
    if "ray" not in sys.modules:
        return False
    import ray  # waits where another thread is in the middle of importing it

    return bool(ray.is_initialized())


def is_worker() -> bool:
    """Return whether this is a process in which Ray runs tasks and actors of a driver."""
    if not _is_connected():
        return False
    import ray

    return bool(ray.get_runtime_context().worker.mode == ray.WORKER_MODE)


def _start(address: str, started: Future[None]) -> None:
    """Connect, and then watch for the death of Ray as long as this process lives."""
    global _gcs
    try:
        import ray
        from ray._private.authentication.authentication_utils import is_token_auth_enabled

        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address:
            host, _, port = address.rpartition(":")
            # Ray would try for a minute; `auto` and ray://host:port it finds by itself.
            if is_whole(port) and "/" not in host and (why := _unreachable(address)):
                raise ConnectionError(why)
            workers = {"env_vars": {"OMP_WAIT_POLICY": VARIABLES["OMP_WAIT_POLICY"]}}
            ray.init(address=address, runtime_env=workers, **options)
        else:
            cores = available_cores()
            say(f"starting Ray on {cores} cores")
            # Without its dashboard, trials that are stopped early keep their place
            # (github.com/ray-project/ray/issues/54305).
            context = ray.init(address="local", num_cpus=cores, include_dashboard=True, **options)
            if context.dashboard_url:
                say(f"Ray's dashboard: http://{context.dashboard_url} (token: ray get-auth-token)")
        data = ray.data.DataContext.get_current()
        data.enable_progress_bars = data.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        if "://" not in address:  # a client has no Ray of its own
            _gcs = ray.get_runtime_context().gcs_address
        if warning := exposed(_gcs, is_token_auth_enabled()):
            say_once(warning)
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        what, remedy = "Ray does not start here", "repeat the command, which continues"
        if address:
            what = f"no Ray cluster can be joined at {address}"
            remedy = "check RAY_ADDRESS, start one by `ray start --head`"
        message = f"{what} ({reason[0]}): {remedy}, or work without Ray by --executor local"
        started.set_exception(UserError(message))
    else:
        started.set_result(None)
        if _gcs:
            _end_with_ray(_gcs)
    threading.Event().wait()


def _end_with_ray(gcs: str) -> None:
    """End this process, with a message, where Ray's GCS does not answer, or this machine is lost to
    it: calls of Ray would wait, cannot be interrupted, and end the process without a word."""
    import ray

    node, lived = ray.get_runtime_context().get_node_id(), time.monotonic()
    while _is_connected():
        time.sleep(POLL_SECONDS)
        dead = False
        if not _unreachable(gcs):
            lived = time.monotonic()
            with suppress(Exception):  # as this process disconnects
                dead = any(each["NodeID"] == node and not each["Alive"] for each in ray.nodes())
        if (dead or time.monotonic() - lived > PATIENCE_SECONDS) and _is_connected():
            logger.error(
                f"Ray at {gcs} has died: finished work is kept, and the same command continues"
            )
            os._exit(1)


def is_alive() -> bool:
    """Return whether the Ray that this process has connected to answers."""
    return not _gcs or not _unreachable(_gcs)


def failure_of(error: BaseException) -> str:
    """Return in words how Ray has failed, where that has caused an error; empty elsewhere."""
    ray = sys.modules.get("ray")
    if ray is None or not isinstance(error, ray.exceptions.RayError):
        return ""
    if isinstance(error, ray.exceptions.RayTaskError):  # the code that runs on Ray
        return ""
    reason = str(error).strip().splitlines() or [""]
    return f"Ray has failed ({type(error).__name__}: {reason[0]})"


def exposed(gcs: str, asks_for_token: bool) -> str:
    """Return a warning where a Ray whose GCS is at HOST:PORT can be reached from elsewhere and asks
    for no token, as after a plain `ray start --head`; empty where it cannot or does."""
    if asks_for_token or gcs.rpartition(":")[0] in ("", "127.0.0.1", "localhost", "[::1]"):
        return ""
    return (
        f"warning: everyone who reaches {gcs} can run code on this Ray cluster: start it, and this "
        "command, with RAY_AUTH_MODE=token, or keep its ports inside a private network"
    )


def _unreachable(address: str) -> str:
    """Return why nothing answers at HOST:PORT within ten seconds; empty where something does."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except (OSError, OverflowError) as error:  # a port above 65535
        return getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ""
