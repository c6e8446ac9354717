"""Ray Jobs: connect to a cluster, submit a command with its code, follow and stop it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from augury.cli import versions
from augury.cli.common import CLIENT
from augury.core.errors import UserError
from augury.core.progress import say
from augury.core.ray_connection import check_listens

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

API, ADDRESS = "RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"
"""Ray's variables for the address of a cluster, the first before the second."""
LEFT_OUT = ("*.db", "mlartifacts")
"""What is not sent besides what `.gitignore` and `.rayignore` name: records of MLflow."""
AGENT_SECONDS = 60
"""How long a cluster that has just started may take to accept jobs."""
CHATTY = (
    "ray.dashboard.modules.dashboard_sdk",
    "ray.dashboard.modules.job.sdk",
    "ray._private.runtime_env.packaging",
)
"""Loggers of what is uploaded and of connections that end."""
SUCCEEDED, FAILED = "SUCCEEDED", "FAILED"
ENDED = (SUCCEEDED, FAILED, "STOPPED")
"""Ray's names of the states of a job."""
LOST_SECONDS = 60.0
"""How long a cluster may not answer while the output of a job is followed."""


@dataclass(frozen=True)
class Job:
    """What is submitted: a command of Augury, and what it needs."""

    name: str
    """Ray's submission ID."""
    command: Sequence[str]
    """A verb and its arguments."""
    directory: Path
    """The directory that is sent, in which the command runs."""
    variables: Mapping[str, str] = field(default_factory=dict)
    excludes: Sequence[str] = ()
    """Patterns of files of the directory that are not sent, as in `.gitignore`."""

    @property
    def entrypoint(self) -> str:
        """The command line on the cluster."""
        return shlex.join(["python", "-m", "augury.cli", *self.command])

    def environment(self) -> dict[str, Any]:
        """Return Ray's runtime environment, but the directory: the code of this client, which goes
        before that of the cluster, and the variables.

        The patterns of `excludes` are not in it: Ray applies them to the code too.
        """
        client = json.dumps(dict(versions.versions()))
        return {
            "py_modules": [str(package) for package in versions.packages()],
            "excludes": [*LEFT_OUT],
            "env_vars": {**self.variables, CLIENT: client},
        }

    def plain(self, address: str) -> str:
        """Return the command of Ray alone that submits the same job, with all files of the
        directory."""
        environment = json.dumps(self.environment())
        words = ["ray", "job", "submit", "--address", address]
        words += ["--working-dir", str(self.directory), "--runtime-env-json", environment]
        return f"{shlex.join(words)} -- {self.entrypoint}"


def connect(address: str | None) -> JobSubmissionClient:
    """Return a client of a cluster: `auto`, `ray://HOST:PORT`, `http://DASHBOARD` or HOST:PORT.

    By default that of Ray's variables, or a running one on this machine. UserError where none
    answers.
    """
    if address:
        os.environ[API] = address  # the client prefers the variable to its argument
    where = os.environ.get(API) or os.environ.get(ADDRESS) or "auto"
    _require_answer(where)
    from ray.exceptions import AuthenticationError, RayError

    logging.getLogger("ray").setLevel(logging.WARNING)
    try:
        client = _client(where)
    except AuthenticationError as error:
        raise UserError(
            f"the cluster at {where} asks for a token: set RAY_AUTH_MODE=token, with the head's "
            "~/.ray/auth_token on this machine"
        ) from error
    except (ConnectionError, RuntimeError, ValueError, OSError, RayError) as error:
        raise _no_cluster(where, error) from error
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    return client


def _client(where: str) -> JobSubmissionClient:
    from ray.job_submission import JobSubmissionClient

    try:
        return JobSubmissionClient(where)
    except ConnectionAbortedError as error:
        # The head of ray:// starts a server for every client, and waits 30 s for it, which is too
        # short where it has much to do.
        say(f"{where}: {_reason(error)}; trying once more")
        return JobSubmissionClient(where)


def _require_answer(where: str) -> None:
    """Raise UserError where nothing listens at an address: Ray would try for a minute."""
    parts = urlsplit(where if "://" in where else f"//{where}")
    if parts.hostname is None or where == "auto":
        return
    try:
        port = parts.port or {"https": 443}.get(parts.scheme, 80)
        check_listens(parts.hostname, port)
    except (OSError, ValueError) as error:
        raise _no_cluster(where, error) from error


def _reason(error: Exception) -> str:
    first, *others = str(error).splitlines() or [type(error).__name__]
    return f"{first.removesuffix(':')}: {others[-1]}" if others else first  # of a traceback


def _no_cluster(where: str, error: Exception) -> UserError:
    return UserError(
        f"no Ray cluster answers at {where} ({_reason(error)}): give --address auto, "
        "ray://HOST:10001 or http://HOST:8265; `ray start --head` starts one here, `ray dashboard "
        "cluster.yaml` forwards the port of another"
    )


def submit(client: JobSubmissionClient, job: Job) -> None:
    """Send the directory, the code and the command of a job; UserError where Ray refuses."""
    environment = {"working_dir": str(job.directory), **job.environment()}
    deadline = time.monotonic() + AGENT_SECONDS
    while True:
        try:
            client._upload_py_modules_if_needed(environment)  # which become URIs in it
            environment["excludes"] = [*LEFT_OUT, *job.excludes]
            client.submit_job(
                entrypoint=job.entrypoint, submission_id=job.name, runtime_env=environment
            )
            return
        except (RuntimeError, ValueError) as error:
            if "No available agent" not in str(error) or time.monotonic() > deadline:
                raise _refused(job, str(error)) from error
        time.sleep(2)


def _refused(job: Job, reason: str) -> UserError:
    if "exceeds the maximum size" in reason or "status code 413" in reason or "body size" in reason:
        return UserError(
            f"'{job.directory}' is too large to be sent, Ray takes 100 MB: leave results and "
            "corpora out by --exclude or .rayignore, or send a smaller --directory"
        )
    return UserError(f"the cluster refuses the job: {reason.strip().splitlines()[-1]}")


def follow(client: JobSubmissionClient, name: str, write: Callable[[str], object]) -> str:
    """Write the output of a job until it ends; return Ray's name of its state then.

    Lost connections are made anew; UserError where the cluster does not answer for a minute.
    """
    import aiohttp
    from requests import RequestException

    written = 0
    failing: float | None = None

    async def read() -> None:
        nonlocal written
        position = 0  # every connection begins with the first character
        async for text in client.tail_job_logs(name):
            write(text[max(0, written - position) :])
            position += len(text)
            written = max(written, position)

    _state(client, name)
    while True:
        with suppress(RuntimeError, TimeoutError, aiohttp.ClientError):
            asyncio.run(read())
        try:
            if (state := _state(client, name)) in ENDED:
                return state
            failing = None
        except (RuntimeError, RequestException) as error:
            failing = failing or time.monotonic()
            if time.monotonic() - failing > LOST_SECONDS:
                raise UserError(
                    f"the cluster does not answer ({str(error).splitlines()[0]}), and {name} may "
                    f"go on: augury submit --address {client.get_address()} --follow {name}"
                ) from error
        time.sleep(1)


def failure(client: JobSubmissionClient, name: str) -> str:
    """Return why a job has failed, without its output."""
    message = client.get_job_info(name).message or "Ray does not say why"
    return message.partition(", last available logs")[0].strip()


def exit_code(client: JobSubmissionClient, name: str) -> int:
    """Return the exit code of a command that has not succeeded; 1 where it has none of its own, as
    it was stopped or killed."""
    code = client.get_job_info(name).driver_exit_code
    return code if code and code > 0 else 1


def _state(client: JobSubmissionClient, name: str) -> str:
    """Return Ray's name of the state of a job; UserError where there is none of this name."""
    try:
        return str(client.get_job_status(name).value)
    except RuntimeError as error:
        if "status code 404" not in str(error):
            raise
        raise UserError(f"no job '{name}' on the cluster: `ray job list` lists them") from error


def stop(client: JobSubmissionClient, name: str) -> bool:
    """Ask a job to stop; return whether it was running."""
    return _state(client, name) not in ENDED and bool(client.stop_job(name))
