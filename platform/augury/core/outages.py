"""What to say where files cannot be written or read: a full disk, a storage that is read-only, that
is not allowed or that has gone.

Libraries wrap the error of the operating system in their own, or keep its message alone.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from augury.core.errors import UserError
from augury.core.retries import is_denied
from augury.core.roots import TEMPORARY, in_opened

FULL = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY = (errno.EROFS,)
FORBIDDEN = (errno.EACCES, errno.EPERM)
UNUSABLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
GONE = (errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ENODEV)
_WORDS = {os.strerror(number).lower(): number for number in (*FULL, *READ_ONLY, *GONE)} | {
    "database or disk is full": errno.ENOSPC,
    "attempt to write a readonly database": errno.EROFS,
}
"""Parts of messages, for errors that do not say their number."""
SHOWN = 100
"""Characters of a path that cannot be one in a message."""
_PATH = re.compile(r"['\"](/[^'\"]+)['\"]")


class Outage(UserError):
    """Files cannot be written or read, whatever the command: its same words continue later."""


def outage_of(error: BaseException) -> Outage | None:
    """Return what is wrong with the place of the files where that has caused an error, else
    None.

    A full or lost disk is an outage wherever it is. Files that this user may not write or read are
    one in a storage or the directory for temporary files: elsewhere another path helps.
    """
    for cause in _causes(error):
        if isinstance(cause, Outage):
            return cause
        if is_denied(cause):
            return Outage(_denial(cause))
        number, path = _number(cause), _path(cause)
        if number in (*FULL, *GONE) or (number in READ_ONLY and path is None):
            return Outage(_sentence(number, path))
        if number is not None and path and (_is_temporary(path) or in_opened(Path(path))):
            return Outage(_sentence(number, path))
    return None


def refusal_of(error: BaseException) -> UserError | None:
    """Return which file may or can not be written or read where that has caused an error, else
    None."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in UNUSABLE and cause.filename:
            name = os.fsdecode(cause.filename)
            shown = f"{name[:SHOWN]}…" if len(name) > SHOWN else name
            return UserError(f"{shown}: {os.strerror(cause.errno).lower()}: give another path")
        number, path = _number(cause), _path(cause)
        if number is not None and path:
            return UserError(_sentence(number, path))
    return None


def is_read_only(error: OSError) -> bool:
    """Return whether a file cannot be written because its filesystem, or its owner, refuses."""
    return error.errno in (*READ_ONLY, *FORBIDDEN) or is_denied(error)


def _number(error: BaseException) -> int | None:
    """Return the number of an error of the operating system that is an outage."""
    if isinstance(error, OSError) and error.errno in (*FULL, *READ_ONLY, *FORBIDDEN, *GONE):
        return error.errno
    if isinstance(error, UserError):  # it says already what to do
        return None
    text = str(error).lower()
    return next((number for words, number in _WORDS.items() if words in text), None)


def _path(error: BaseException) -> str | None:
    # The last of a copy is its target.
    names = [error.filename2, error.filename] if isinstance(error, OSError) else []
    quoted = _PATH.findall(str(error))
    path = next((os.fsdecode(name) for name in (*names, *quoted[-1:]) if name), None)
    return path and path.partition(f"/{TEMPORARY}")[0]  # the folder of a file that is being written


def _sentence(number: int, path: str | None) -> str:
    where = path or f"the storage or {tempfile.gettempdir()}"
    if number in GONE:
        return f"{where} does not answer ({os.strerror(number)}): see that its disk is mounted"
    others = ["storage"] if path is None or in_opened(Path(path)) else []
    others += ["TMPDIR for temporary files"] if path is None or _is_temporary(path) else []
    another = f"give another {', or '.join(others)}" if others else "give another path"
    if number in FULL:
        return f"no space is left for {where}{_free(path)}: free some, or {another}"
    if number in FORBIDDEN:
        return (
            f"{where} may not be written or read by this user: change its permissions, or {another}"
        )
    if "storage" in others:
        return (
            f"{where} is on a read-only storage, where what is finished can be read: {another} "
            "to make something, or mount it so that it can be written"
        )
    return f"{where} is on a read-only disk: {another}, or mount it so that it can be written"


def _denial(error: BaseException) -> str:
    return (
        f"the storage may not be written or read with these credentials "
        f"({str(error).splitlines()[0]}): change the permissions of its bucket, or give another "
        "storage"
    )


def _is_temporary(path: str) -> bool:
    return Path(path).is_relative_to(tempfile.gettempdir())


def _free(path: str | None) -> str:
    """Return how much is left on the disk of a path, if that can be told."""
    parents = Path(path).parents if path else ()
    directory = next((parent for parent in parents if parent.is_dir()), None)
    if directory is None:
        return ""
    usage = shutil.disk_usage(directory)
    return f" ({usage.free / 1e6:,.0f} of {usage.total / 1e6:,.0f} MB)"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that have led to it, those of Ray's workers and of copied
    directories too."""
    waiting, seen = [error], set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, UserError):  # its message is about the error that it comes from
            continue
        workers = getattr(cause, "worker_failures", None) or {}
        context = None if cause.__suppress_context__ else cause.__context__
        further = [cause.__cause__, context, getattr(cause, "cause", None)]
        waiting += [
            other for other in (*further, *workers.values()) if isinstance(other, BaseException)
        ]
