"""The command line `augury VERB`, with one module per verb.

A verb is listed in `verbs.GROUPS`; its module defines `EXAMPLE`, `configure(parser, argv)` and
`run(arguments) -> int`. One whose output is text of the user's says `WRITES_TEXT`; of others,
passwords and keys are removed. `--help` imports the module, so that slow imports belong into `run`.
Exit codes: 0 success, 1 failure, 2 invalid input, 130 interrupted by Ctrl-C, 143 by SIGTERM.
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
from types import FrameType

from augury import __version__
from augury.cli import verbs
from augury.core import messages
from augury.core.errors import UserError
from augury.core.messages import logger
from augury.core.naming import command
from augury.core.progress import duration
from augury.core.secrets import RedactedStream

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
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _run(argv: Sequence[str]) -> int:
    """Run a verb and return the exit code; exceptions become messages."""
    try:
        _check_words(argv)
        arguments = verbs.parse(argv)
    except UserError as error:
        print(f"augury: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    if arguments.allow_code:
        from augury.core import plugin_files

        plugin_files.allow_any()
    arguments.typed = command("augury", *argv)
    module, start = verbs.module(arguments.verb), time.monotonic()
    writes_text = getattr(module, "WRITES_TEXT", False)
    output = nullcontext() if writes_text else redirect_stdout(RedactedStream(sys.stdout))
    with messages.shown(arguments.verbosity), _interrupted_by_sigterm() as received:
        try:
            with output:
                code = int(module.run(arguments))
        except BrokenPipeError:
            raise
        except (Exception, KeyboardInterrupt) as error:
            if arguments.debug:
                raise
            code = _report(error, arguments)
        logger.debug("%s took %s", arguments.verb, duration(time.monotonic() - start))
    return TERMINATED if received and code == INTERRUPTED else code


def _report(error: BaseException, arguments: argparse.Namespace) -> int:
    """Log what went wrong and what to do next; return the exit code."""
    continued = f"Finished work is kept; continue with: {arguments.typed}"
    if isinstance(error, KeyboardInterrupt):
        logger.error(f"{str(error) or 'stopped'}. {continued}")
        return INTERRUPTED
    from augury.core import ray_connection
    from augury.core.errors import Outage, machine_error
    from augury.core.plugin_files import describe_error

    refusal = machine_error(error)
    if outage := refusal if isinstance(refusal, Outage) else ray_connection.failure_of(error):
        logger.error(f"{outage}. {continued}")
        return 1
    if isinstance(error, UserError) or refusal:
        logger.error(error if isinstance(error, UserError) else refusal)
        return 2
    logger.error(f"{describe_error(error)}\n(--debug shows the traceback)")
    return 1


def _check_words(argv: Sequence[str]) -> None:
    """Raise UserError for a word that is no text, or where there is no working directory; allow the
    plug-in files that words name."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UserError("the working directory is deleted: change to another one") from None
    for word in argv:
        # Bytes of the command line that are no UTF-8 become surrogates.
        if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
            raise UserError(
                f"the argument {word!a} is not UTF-8, or has a NUL: write, or rename, it in UTF-8"
            )
    files = []
    for word in argv[1:]:
        path = word.rpartition("=")[2].partition(":")[0]
        if path.endswith(".py"):
            files.append(path)
    if files:
        from augury.core import plugin_files

        plugin_files.allow(files)


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
