"""Errors whose message is one line: what was given, or what the machine refuses, and what to do."""

from __future__ import annotations

import difflib
import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path


class UserError(ValueError):
    """Invalid input; the command line prints the message without a traceback."""


class Outage(UserError):
    """Nothing can go on, for lack of files or of Ray: the same command continues later."""


def nearest(word: str, options: Iterable[str]) -> str:
    """Return a hint with the option closest to `word` (`did you mean 'beta'?`), or with all
    options."""
    known = sorted(set(options))
    longer = [option for option in known if option.casefold().startswith(word.casefold())]
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6) or longer
    if word and close:
        return f"did you mean '{close[0]}'?"
    return f"allowed: {', '.join(known)}" if known else "nothing is allowed here"


def unknown(kind: str, word: str, options: Iterable[str]) -> UserError:
    """Return the error for a name that is not among `options`."""
    return UserError(f"unknown {kind} '{word}': {nearest(word, options)}")


FULL = (errno.ENOSPC, errno.EDQUOT)
GONE = (errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ENODEV)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
UNUSABLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
_WORDS = {os.strerror(number).lower(): number for number in (*FULL, *GONE, errno.EROFS)} | {
    "database or disk is full": errno.ENOSPC,
    "attempt to write a readonly database": errno.EROFS,
}
"""Parts of messages, for errors of libraries that do not say their number."""
_DENIED = re.compile(r"AWS Error ACCESS_DENIED|\bPERMISSION_DENIED\b")
"""What object stores say, as pyarrow words it."""
_PATH = re.compile(r"['\"](/[^'\"]+)['\"]")
_BEING_WRITTEN = re.compile(r"/\.tmp-.*")

_storages: set[str] = set()


def note_storage(root: str) -> None:
    """Note the directory of a storage, in which errors of files concern everything."""
    _storages.add(root)


def is_denied(error: BaseException) -> bool:
    """Return whether a remote storage does not allow a request with the credentials here."""
    return isinstance(error, OSError) and bool(_DENIED.search(str(error)))


def is_read_only(error: OSError) -> bool:
    """Return whether a file cannot be written because its filesystem, or its owner, refuses."""
    return error.errno in REFUSED or is_denied(error)


def outage_of(error: BaseException) -> Outage | None:
    """Return what `machine_error` does where it concerns everything, and not one file alone."""
    found = machine_error(error)
    return found if isinstance(found, Outage) else None


def machine_error(error: BaseException) -> UserError | None:
    """Return what the machine refuses where that has caused an error, else None.

    A full or lost disk is an outage wherever it is. Files that this user may not write or read are
    one in a storage or the directory for temporary files: elsewhere another path helps.
    """
    for cause in _causes(error):
        if isinstance(cause, Outage):
            return cause
        if isinstance(cause, UserError):  # it says already what to do
            continue
        first = (str(cause).splitlines() or [""])[0]
        if is_denied(cause):
            return Outage(
                f"the storage may not be written or read with these credentials ({first}): change "
                "the permissions of its bucket, or give another storage"
            )
        if "AF_UNIX path" in first:
            return UserError(f"{first}: set TMPDIR to a directory with a shorter path")
        number, path = _number(cause), _path(cause)
        if number in UNUSABLE and path:
            shown = f"{path[:100]}…" if len(path) > 100 else path
            return UserError(f"{shown}: {os.strerror(number).lower()}: give another path")
        everywhere = path is None or _is_below(path, [*_storages, tempfile.gettempdir()])
        if number in (*FULL, *GONE) or (number in REFUSED and (path or number == errno.EROFS)):
            kind = Outage if everywhere or number in (*FULL, *GONE) else UserError
            return kind(_sentence(number or 0, path))
    return None


def _sentence(number: int, path: str | None) -> str:
    """Return what is wrong with a path, and what to do."""
    temporary = tempfile.gettempdir()
    where, remedy = path or f"the storage or {temporary}", "give another path"
    if path is None:
        remedy = "give another storage, or another TMPDIR"
    elif _is_below(path, _storages):
        remedy = "give another storage"
    elif _is_below(path, [temporary]):
        remedy = "set TMPDIR to another directory"
    elif _is_below(path, [os.path.expanduser("~")]):
        remedy = "set HOME to a directory that can be written"
    if number in GONE:
        return f"{where} does not answer ({os.strerror(number)}): see that its disk is mounted"
    if number in FULL:
        return f"no space is left for {where}: free some, or {remedy}"
    if number == errno.EROFS:
        return (
            f"{where} is on a read-only disk, where what is finished can be read: {remedy}, or "
            "mount it so that it can be written"
        )
    return f"{where} may not be written or read by this user: change its permissions, or {remedy}"


def _number(error: BaseException) -> int | None:
    """Return the number of an error of the operating system, from its message if need be."""
    if isinstance(error, OSError) and error.errno in (*FULL, *GONE, *REFUSED, *UNUSABLE):
        return error.errno
    text = str(error).lower()
    return next((number for words, number in _WORDS.items() if words in text), None)


def _path(error: BaseException) -> str | None:
    # The last of a copy is its target.
    names = [error.filename2, error.filename] if isinstance(error, OSError) else []
    quoted = _PATH.findall(str(error))
    path = next((os.fsdecode(name) for name in (*names, *quoted[-1:]) if name), None)
    return path and _BEING_WRITTEN.sub("", path)


def _is_below(path: str, roots: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(root) for root in roots)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that have led to it, those of Ray's workers too."""
    waiting, seen = [error], set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, UserError):  # its message is about the error that it comes from
            continue
        context = None if cause.__suppress_context__ else cause.__context__
        further = [cause.__cause__, context, getattr(cause, "cause", None)]
        further += (getattr(cause, "worker_failures", None) or {}).values()
        waiting += [other for other in further if isinstance(other, BaseException)]
