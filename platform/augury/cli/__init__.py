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
from contextlib import contextmanager, nullcontext, redirect_stdout
from itertools import pairwise
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
            case _:
                code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _run(argv: Sequence[str]) -> int:
    verb, *rest = argv
    for word in argv:
        # Bytes of the command line that are no UTF-8 become surrogates.
        if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
            print(
                f"augury: the argument {word!a} is not UTF-8, or has a NUL: write, or rename, it "
                "in UTF-8",
                file=sys.stderr,
            )
            return 2
    if verb not in verbs.VERBS:
        print(
            f"augury: {unknown('verb', verb, verbs.VERBS)} (see `augury --help`)", file=sys.stderr
        )
        return 2
    _allow_plugins(rest)
    try:
        arguments = verbs.parse(verb, rest)
    except KeyboardInterrupt:
        return INTERRUPTED
    if arguments.allow_code:
        agreed_code.allow_any()
    arguments.typed = command("augury", *argv)
    with messages.shown(arguments.verbosity, arguments.log_format):
        start = time.monotonic()
        with _interrupted_by_sigterm() as received:
            code = _execute(arguments, verb)
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
        signal.raise_signal(signal.SIGINT)  # training answers it at the end of an update

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


def _allow_plugins(argv: Sequence[str]) -> None:
    """Allow the plug-in files that the words of a command are, or are given to its flags."""
    files = []
    for flag, word in pairwise(["", *argv]):
        path = word.rpartition("=")[2].partition(":")[0]
        package = flag in PLUGIN_FLAGS and os.path.isfile(os.path.join(path, "__init__.py"))
        if path.endswith(".py") or package:
            files.append(path)
    if files:
        from augury.core import plugin_files

        plugin_files.allow(files)


def _execute(arguments: argparse.Namespace, verb: str) -> int:
    """Run a verb and return the exit code; exceptions become messages."""
    module = verbs.module(verb)
    try:
        os.getcwd()
    except FileNotFoundError:
        logger.error("the working directory has been deleted: change to another one")
        return 2
    text = getattr(module, "WRITES_TEXT", False)
    try:
        with nullcontext() if text else redirect_stdout(RedactedStream(sys.stdout)):
            return int(module.run(arguments))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as interrupt:
        if arguments.debug:
            raise
        reason = str(interrupt) or "stopped"
        logger.error(f"{reason}. Finished work is kept; continue with: {arguments.typed}")
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
