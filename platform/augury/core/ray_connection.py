"""The connection of this process to a Ray cluster, or to a Ray of its own."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from augury.core import cluster, local_ray
from augury.core.errors import UserError
from augury.core.listening import check_listens
from augury.core.machine import available_cores
from augury.core.messages import logger
from augury.core.parallel import run_on_lasting_thread
from augury.core.progress import say, say_once

AUTH_MODE = "RAY_AUTH_MODE"

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
