"""Files of plug-ins, by path: references that pin their content, and their import.

A path (`./mine.py`) is imported as a submodule of this module whose name encodes the path and a
hash of the content, so that its classes can be pickled to other processes and a changed file is a
different module.

Stored runs and sweeps name plug-in files too, and a storage may come from someone else. A file runs
where a user has named its path in a command, an experiment file or a search space, and with
`--allow-code`; what lies in a storage is stored, whoever names it.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from traceback import walk_tb
from types import CodeType, ModuleType

from augury.core.errors import UserError
from augury.core.paths import absolute
from augury.core.ray_connection import is_worker

__path__: list[str] = []
"""Makes this module a package: plug-in files are imported as its submodules."""
_MODULE = re.compile(rf"{re.escape(__name__)}\.\w*?__([0-9a-f]{{16}})__([0-9a-f]+)")
_REFERENCE = re.compile(r"(.+)@([0-9a-f]{16})")
ENVIRONMENT = "AUGURY_ALLOW_CODE"
"""Hashes of the files that this process and those it starts may run; `any` for all."""
ANY = "any"
STORED = ("storage.json", "run.json", "sweep.json")
"""Files that only a storage and its folders have."""
_named = ContextVar("named", default=False)


def is_path(name: str) -> bool:
    """Return whether a name is written as a path, with or without a content hash."""
    begins = name.startswith((".", "/", "~"))
    return begins or name.endswith(".py") or _REFERENCE.fullmatch(name) is not None


def file_of(name: str) -> Path:
    """Return the absolute path named by a path or a reference."""
    match = _REFERENCE.fullmatch(name)
    return Path(absolute(match[1] if match else name))


def reference(name: str) -> str:
    """Return the absolute path of a file with the hash of its content: `/home/me/mine.py@1a2b...`.

    The file may run from then on where what is looked up now comes from the user. Raises
    FileNotFoundError if there is no such file, and UserError if `name` has a hash that the content
    does not match.
    """
    path, pinned = file_of(name), _REFERENCE.fullmatch(name)
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "no such file", str(path))
    content = _content_hash(path)
    if pinned and pinned[2] != content:
        raise _changed_error(path)
    if _named.get() and content not in _allowed() and not is_stored(path):
        os.environ[ENVIRONMENT] = " ".join([*_allowed(), content])
    return f"{path}@{content}"


def allow(paths: Iterable[str]) -> None:
    """Allow the plug-in files at these paths to run; those that do not exist are left out."""
    with named_by_user():
        for path in paths:
            with suppress(FileNotFoundError):
                reference(path)


def _changed_error(path: Path) -> UserError:
    return UserError(
        f"'{path}' has changed since the experiment began: restore it to continue, or give "
        "the path without its hash to start a new experiment"
    )


def reference_of(module: str) -> str | None:
    """Return the reference of the file that a module was imported from; None for other modules."""
    match = _MODULE.match(module)
    return f"{_decode_path(match[2])}@{match[1]}" if match else None


def load(reference: str) -> ModuleType:
    """Import the file of a reference; raise UserError if that fails."""
    path, _, content = reference.rpartition("@")
    stem = re.sub(r"\W", "_", Path(path).stem)
    try:
        return importlib.import_module(f"{__name__}.{stem}__{content}__{path.encode().hex()}")
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:  # such as SystemExit, of a script
        raise UserError(f"'{path}' cannot be imported: {describe_error(error)}") from error


def describe_error(error: BaseException) -> str:
    """Return the type and message of an error, with the line of the plug-in file that raised it,
    if any."""
    location = ""
    for frame, line in walk_tb(error.__traceback__):
        if _MODULE.match(str(frame.f_globals.get("__name__"))):
            location = f" ({frame.f_code.co_filename}, line {line})"
    message = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{message}{location}"


def _decode_path(encoded: str) -> Path:
    return Path(bytes.fromhex(encoded).decode())


def _content_hash(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.blake2b(f"\0{len(content)}\0".encode() + content, digest_size=8).hexdigest()


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
    """Return whether a file lies in a storage, or in the folder of a run or sweep."""
    if "://" in str(file):
        return True
    paths = [folder / name for folder in Path(file).resolve().parents for name in STORED]
    return any(path.exists() for path in paths)


def allowing(settings: bytes) -> list[str]:
    """Return the flag that a command on a stored file of settings needs; empty where the file
    names no code."""
    return ["--allow-code"] if re.search(rb"@[0-9a-f]{16}\b", settings) else []


def allow_any() -> None:
    """Allow every file that this process and its children load (`--allow-code`)."""
    os.environ[ENVIRONMENT] = ANY


def _allowed() -> list[str]:
    return os.environ.get(ENVIRONMENT, "").split()


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compile the current source: bytecode caches compare size and time only, and could be
        stale."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Finder:
    """Finds the modules whose names encode the path and content hash of a plug-in file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        match = _MODULE.fullmatch(fullname)
        if match is None:
            return None
        file = _decode_path(match[2])
        if not file.exists():
            raise UserError(
                f"there is no file '{file}': every machine of the cluster needs it at the same path"
            )
        if _content_hash(file) != match[1]:
            raise _changed_error(file)
        # Ray's workers run what their driver, which has checked, sends them.
        if not ({match[1], ANY} & set(_allowed()) or is_worker()):
            raise UserError(
                f"'{file}' is code that a stored run or sweep, or a file in a storage, names: read "
                "it, then repeat the command with --allow-code"
            )
        return spec_from_file_location(fullname, file, loader=_Loader(fullname, str(file)))


sys.meta_path.append(_Finder())
