"""Which plug-in files may run: those that a user names, and all of them with `--allow-code`.

Stored runs and sweeps name plug-in files too, and a storage may come from someone else. A file runs
where a user has named its path in a command, an experiment file or a search space; what lies in a
storage is stored, whoever names it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from augury.core.errors import UserError

ENVIRONMENT = "AUGURY_ALLOW_CODE"
"""Hashes of the files that this process and those it starts may run; `any` for all."""
ANY = "any"
STORED = ("_COMPLETE", "run.json", "sweep.json")
"""Files that only the folders of a storage have."""
_named = ContextVar("named", default=False)


@contextmanager
def named_by_user(*files: str | Path) -> Iterator[None]:
    """Allow the plug-in files that are named within the context, unless one of the `files` that
    name them is stored."""
    token = _named.set(not any(map(is_stored, files)))
    try:
        yield
    finally:
        _named.reset(token)


def is_stored(file: str | Path) -> bool:
    """Return whether a file lies in a folder of a storage, such as that of a run or a sweep."""
    if "://" in str(file):
        return True
    paths = [folder / name for folder in Path(file).resolve().parents for name in STORED]
    return any(path.exists() for path in paths)


def allow_any() -> None:
    """Allow every file that this process and its children load (`--allow-code`)."""
    os.environ[ENVIRONMENT] = ANY


def allow_if_named(content: str, path: Path) -> None:
    """Allow a file with this hash where what is looked up now comes from the user."""
    if _named.get() and content not in _allowed() and not is_stored(path):
        os.environ[ENVIRONMENT] = " ".join([*_allowed(), content])


def check(content: str, path: Path) -> None:
    """Raise UserError unless the file with this hash may run.

    Ray's workers run what their driver, which has checked, sends them.
    """
    if not ({content, ANY} & set(_allowed()) or _is_ray_worker()):
        raise UserError(
            f"'{path}' is code that a stored run or sweep, or a file in a storage, names: read it, "
            "then repeat the command with --allow-code"
        )


def _allowed() -> list[str]:
    return os.environ.get(ENVIRONMENT, "").split()


def _is_ray_worker() -> bool:
    """Return whether this is a process in which Ray runs tasks and actors of a driver."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    return bool(ray.get_runtime_context().worker.mode == ray.WORKER_MODE)
