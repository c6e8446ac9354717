"""The command line: `augury VERB`; one module per verb.

A verb's module has `HELP` (one line), `EXAMPLE`, `configure(parser, words)` and `run(arguments) -> int`, and a place in
`verbs.GROUPS`. What takes long to import is imported in `run`, for `augury --help` imports the modules of all verbs.
Exit codes: 0 done, 1 the work failed, 2 what was given cannot be used, 130 stopped by Ctrl-C, as shells have it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence

from augury import __version__
from augury.cli import verbs
from augury.core import messages
from augury.core.commands import command
from augury.core.errors import UserError, nearest, unknown
from augury.core.messages import logger
from augury.core.progress import duration

INTERRUPTED = 128 + signal.SIGINT

# Threads that wait for a core without spinning: next to another busy process, spinning costs ten times the time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors are one message on standard error, with a traceback under `--debug`."""
    try:
        code = _command(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        return 0
    return code


def _command(words: list[str]) -> int:
    match words:
        case [] | ["-h" | "--help" | "help", *_]:
            print(verbs.overview())
            return 0
        case ["--version", *_]:
            print(f"augury {__version__}")
            return 0
        case [verb, *rest] if verb in verbs.VERBS:
            return _run(verb, rest)
    print(f"augury: {unknown('verb', words[0], verbs.VERBS)} (`augury --help` explains them)", file=sys.stderr)
    return 2


def _run(verb: str, words: Sequence[str]) -> int:
    arguments = _parsed(verb, words)
    with messages.shown(arguments.verbosity, arguments.log_format):
        began = time.monotonic()
        code = _done(arguments, verb, words)
        logger.debug("%s took %s", verb, duration(time.monotonic() - began))
        return code


def _done(arguments: argparse.Namespace, verb: str, words: Sequence[str]) -> int:
    """Do what a verb says and return the exit code; what goes wrong is one message."""
    try:
        return int(verbs.module(verb).run(arguments))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as stopped:
        if arguments.debug:
            raise
        how_to_resume = f"What was finished is kept; continue with: {command('augury', verb, *words)}"
        logger.error(f"{str(stopped) or 'stopped'}. {how_to_resume}")
        return INTERRUPTED
    except UserError as error:
        if arguments.debug:
            raise
        logger.error(error)
        return 2
    except Exception as error:
        if arguments.debug:
            raise
        from augury.core.plugins import describe_error  # which loads pydantic

        logger.error(f"{describe_error(error)}\n(--debug shows where)")
        return 1


def _parsed(verb: str, words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a verb; SystemExit with a usage line for those it does not take."""
    parser = verbs.parser(verb, words)
    arguments, rest = parser.parse_known_args(words)
    if rest:
        flags = [flag for action in parser._actions for flag in action.option_strings]
        parser.error(f"unknown argument '{rest[0]}': {nearest(rest[0], flags)}")
    return arguments
