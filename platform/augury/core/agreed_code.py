"""Which plug-in files may run: those that a user named, here or earlier on this machine.

Stored runs name plug-in files too, and a storage may come from someone else. A file therefore runs
only if its content was agreed to: by naming its path in a command, an experiment file or a search
space, or by `--allow-code`. What was agreed to is remembered by its hash.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from augury.core.errors import UserError
from augury.core.home import state_directory

ENVIRONMENT = "AUGURY_AGREED_CODE"
"""Hashes that processes started from this one may run, separated by spaces; `any` for all."""
ANY = "any"
_named = ContextVar("named", default=False)


@contextmanager
def named_by_user() -> Iterator[None]:
    """Agree to every plug-in file that is named within the context."""
    token = _named.set(True)
    try:
        yield
    finally:
        _named.reset(token)


def allow_any() -> None:
    """Agree to every file that this process and its children load (`--allow-code`)."""
    os.environ[ENVIRONMENT] = ANY


def is_being_named() -> bool:
    """Return whether what is looked up now comes from the user, and not from a storage."""
    return _named.get()


def agree(content: str, path: Path) -> None:
    """Remember that a file with this hash may run on this machine."""
    if content in _remembered():
        return
    os.environ[ENVIRONMENT] = " ".join([*_of_process(), content])
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{content} {path}\n")
    except OSError:  # a home that cannot be written: this process remembers
        return


def check(content: str, path: Path) -> None:
    """Raise UserError unless the file with this hash may run.

    Ray's workers run what their driver, which has checked, sends them.
    """
    if _is_ray_worker() or content in _of_process():
        return
    if ANY in _of_process():
        agree(content, path)
    elif content not in _remembered():
        raise UserError(
            f"'{path}' (hash {content}) is code that a stored run or sweep names, and nobody has "
            "agreed to run it on this machine: read it, then repeat the command with --allow-code, "
            "which is remembered until the file changes"
        )


def _of_process() -> list[str]:
    return os.environ.get(ENVIRONMENT, "").split()


def _remembered() -> set[str]:
    file = _file()
    if not file.is_file():
        return set()
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line.partition(" ")[0] for line in lines}


def _file() -> Path:
    return state_directory() / "agreed-code"


def _is_ray_worker() -> bool:
    """Return whether this is a process in which Ray runs tasks and actors of a driver."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    return bool(ray.get_runtime_context().worker.mode == ray.WORKER_MODE)
