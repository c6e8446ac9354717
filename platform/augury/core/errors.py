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
    folded, spelt = _folded(word), {_folded(option): option for option in reversed(known)}
    longer = [option for letters, option in spelt.items() if letters.startswith(folded)]
    near = difflib.get_close_matches(folded, spelt, n=1, cutoff=0.6)
    close = [spelt[letters] for letters in near] or longer
    if folded and close:
        return f"did you mean '{close[0]}'?"
    return f"allowed: {', '.join(known)}" if known else "nothing is allowed here"


def _folded(name: str) -> str:
    """Return the letters and digits of a name: `rdrop` of R-Drop."""
    return "".join(filter(str.isalnum, name.casefold()))


def unknown(kind: str, word: str, options: Iterable[str]) -> UserError:
    """Return the error for a name that is not among `options`."""
    return UserError(f"unknown {kind} '{word}': {nearest(word, options)}")


FULL = (errno.ENOSPC, errno.EDQUOT)
GONE = (errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ENODEV)
FORBIDDEN = (errno.EACCES, errno.EPERM)
UNUSABLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
ADVICE = {
    **dict.fromkeys(FULL, "free some, or "),
    **dict.fromkeys(GONE, "see that its disk is mounted, or "),
    **dict.fromkeys(FORBIDDEN, "change its permissions, or "),
    **dict.fromkeys(UNUSABLE, ""),
    errno.EROFS: "mount it so that it can be written, or ",
}
"""What to do about errors of the operating system, beside giving another path."""
_WORDS = {os.strerror(number).lower(): number for number in (*FULL, *GONE, errno.EROFS)} | {
    "database or disk is full": errno.ENOSPC,
    "attempt to write a readonly database": errno.EROFS,
    "aws error access_denied": errno.EACCES,
    "permission_denied": errno.EACCES,
}
"""Parts of messages, for errors of libraries that do not say their number; of object stores as
pyarrow words them."""
_PATH = re.compile(r"['\"](/[^'\"]+)['\"]")
_BEING_WRITTEN = re.compile(r"/\.tmp-.*")

_storages: set[str] = set()


def note_storage(root: str) -> None:
    """Note the directory of a storage, in which errors of files concern everything."""
    _storages.add(root)


def is_read_only(error: OSError) -> bool:
    """Return whether a file cannot be written because its filesystem, or its owner, refuses."""
    return _number(error) in (errno.EROFS, *FORBIDDEN)


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
        if "AF_UNIX path" in first:
            return UserError(f"{first}: set TMPDIR to a directory with a shorter path")
        number, path = _number(cause), _path(cause)
        forbids = getattr(cause, "errno", None) in (*FORBIDDEN, *UNUSABLE)
        if number is None or (path is None and forbids):  # such as a signal that may not be sent
            continue
        shown = f"{path[:100]}…" if path and len(path) > 100 else path
        where = f"{shown}: {os.strerror(number).lower()}" if shown else f"a file ({first})"
        remedy, everywhere = _remedy(path)
        everywhere = number not in UNUSABLE and (everywhere or number in (*FULL, *GONE))
        return (Outage if everywhere else UserError)(f"{where}: {ADVICE[number]}{remedy}")
    return None


def _remedy(path: str | None) -> tuple[str, bool]:
    """Return what to give in place of a path, and whether nothing goes on without it."""
    if path is None:
        return "give another storage, or another TMPDIR", True
    places = [(root, "give another storage", True) for root in _storages]
    places.append((tempfile.gettempdir(), "set TMPDIR to another directory", True))
    home = os.path.expanduser("~")
    places.append((home, "set HOME to a directory that can be written", False))
    for root, remedy, is_everywhere in places:
        if Path(path).is_relative_to(root):
            return remedy, is_everywhere
    return "give another path", False


def _number(error: BaseException) -> int | None:
    """Return the number of an error of the operating system, from its message if need be."""
    if isinstance(error, OSError) and error.errno in ADVICE:
        return error.errno
    text = str(error).lower()
    return next((number for words, number in _WORDS.items() if words in text), None)


def _path(error: BaseException) -> str | None:
    # The last of a copy is its target.
    names = [error.filename2, error.filename] if isinstance(error, OSError) else []
    quoted = _PATH.findall(str(error))
    path = next((os.fsdecode(name) for name in (*names, *quoted[-1:]) if name), None)
    return path and _BEING_WRITTEN.sub("", path)


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
