"""The command line `augury VERB`, with one module per verb.

A verb's module defines `HELP` (one line), `EXAMPLE`, `configure(parser, argv)` and `run(arguments)
-> int`, and is listed in `verbs.GROUPS`. One whose output is text of the user's says `WRITES_TEXT`;
of others, passwords and keys are removed. `augury --help` imports all of them, so slow imports
belong into `run`. Exit codes: 0 success, 1 failure, 2 invalid input, 130 interrupted by Ctrl-C, 143
by SIGTERM.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import FrameType

from augury import __version__
from augury.cli import verbs
from augury.core import agreed_code, messages
from augury.core.errors import UserError, unknown
from augury.core.messages import logger
from augury.core.naming import command
from augury.core.progress import duration
from augury.core.secrets import RedactedStream

PLUGIN_FLAGS = ("--task", "--operator", "--which", "--metrics")
"""Flags that take plug-ins by path, of which one may be a directory."""
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


# Spinning threads make training ten times slower if another process is busy.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Those of OpenBLAS, started with NumPy, spin 30 ms each for their first work: now a million cycles.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
# Looking for plug-ins of pydantic reads the metadata of every installed package.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    An error is printed as a message on standard error, with `--debug` as a traceback.
    """
    argv = sys.argv[1:] if arguments is None else list(arguments)
    try:
        match argv:
            case [] | ["-h" | "--help" | "help", *_]:
                print(verbs.overview())
                code = 0
            case ["--version", *_]:
                print(f"augury {__version__}")
                code = 0
            case [verb, *rest]:
                code = 2 if _say_fault(argv) else _run(verb, rest)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _say_fault(argv: Sequence[str]) -> bool:
    """Print what keeps words from being a command; return whether there is something."""
    fault = next((ascii(word) for word in argv if "\0" in word or not _is_utf8(word)), None)
    if fault:
        fault = f"the argument {fault} is not UTF-8, or has a NUL: write, or rename, it in UTF-8"
    elif argv[0] not in verbs.VERBS:
        fault = f"{unknown('verb', argv[0], verbs.VERBS)} (see `augury --help`)"
    if fault:
        print(f"augury: {fault}", file=sys.stderr)
    return fault is not None


def _is_utf8(word: str) -> bool:
    """Return whether a word of the command line is text: bytes that are none become surrogates."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run(verb: str, argv: Sequence[str]) -> int:
    _allow_plugins(argv)
    try:
        arguments = verbs.parse(verb, argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    if arguments.allow_code:
        agreed_code.allow_any()
    with messages.shown(arguments.verbosity, arguments.log_format):
        start = time.monotonic()
        with _interrupted_by_sigterm() as received:
            code = _execute(arguments, verb, argv)
        logger.debug("%s took %s", verb, duration(time.monotonic() - start))
        return TERMINATED if received and code == INTERRUPTED else code


@contextmanager
def _interrupted_by_sigterm() -> Iterator[list[int]]:
    """Answer SIGTERM, by which schedulers and Kubernetes announce the end of a job, like Ctrl-C
    while the block runs; yield a list of those received."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


def _allow_plugins(argv: Sequence[str]) -> None:
    """Allow the plug-in files that the words of a command are, or are given to its flags."""
    words = [
        word.rpartition("=")[2].partition(":")[0]
        for flag, word in pairwise(["", *argv])
        if flag in PLUGIN_FLAGS or ".py" in word
    ]
    files = [
        word for word in words if word.endswith(".py") or os.path.isfile(Path(word, "__init__.py"))
    ]
    if files:
        from augury.core import plugin_files

        plugin_files.allow(files)


def _execute(arguments: argparse.Namespace, verb: str, argv: Sequence[str]) -> int:
    """Run a verb and return the exit code; exceptions become messages."""
    module = verbs.module(verb)
    try:
        os.getcwd()
    except FileNotFoundError:
        logger.error("the working directory has been deleted: change to another one")
        return 2
    arguments.typed = command("augury", verb, *argv)
    try:
        if getattr(module, "WRITES_TEXT", False):
            return int(module.run(arguments))
        with redirect_stdout(RedactedStream(sys.stdout)):
            return int(module.run(arguments))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as interrupt:
        if arguments.debug:
            raise
        logger.error(
            f"{str(interrupt) or 'stopped'}. Finished work is kept; continue with: "
            f"{arguments.typed}"
        )
        return INTERRUPTED
    except Exception as error:
        if arguments.debug:
            raise
        from augury.core import ray_connection
        from augury.core.errors import Outage, machine_error

        refusal = machine_error(error)
        outage = refusal if isinstance(refusal, Outage) else ray_connection.failure_of(error)
        if outage:
            logger.error(f"{outage}. Finished work is kept; continue with: {arguments.typed}")
            return 1
        if refusal or isinstance(error, UserError):
            logger.error(error if isinstance(error, UserError) else refusal)
            return 2
        from augury.core.plugin_files import describe_error

        logger.error(f"{describe_error(error)}\n(--debug shows the traceback)")
        return 1
