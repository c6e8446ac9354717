"""The command line: `augury VERB`; one module per verb.

A verb's module has `HELP` (one line), `EXAMPLE`, `configure(parser, words)` and `run(arguments) -> int`; what takes
long to import is imported in `run`. Exit codes: 0 done, 1 the work failed or was stopped, 2 what was
given cannot be used.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from augury import __version__
from augury.commands import command
from augury.errors import UserError, nearest

# Threads that wait for a core without spinning: beside another busy process, spinning costs ten times the time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

VERBS = (
    "demo", "train", "sweep", "reproduce", "watch", "augment", "encipher", "align", "translate", "score", "compare",
    "export", "init", "config", "track",
)  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    """Run one command; errors are one message on standard error, with a traceback under `--debug`."""
    words = sys.argv[1:] if given is None else list(given)
    arguments, rest = _parser(words).parse_known_args(words)
    if rest:
        known = [flag for action in arguments.parser._actions for flag in action.option_strings]
        arguments.parser.error(f"unknown argument '{rest[0]}': {nearest(rest[0], known)}")
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        return 0
    except KeyboardInterrupt as stopped:
        if arguments.debug:
            raise
        print(f"augury: {str(stopped) or 'stopped'}. {_how_to_resume(words)}", file=sys.stderr)
        return 1
    except UserError as error:
        if arguments.debug:
            raise
        print(f"augury: {error}", file=sys.stderr)
        return 2
    except Exception as error:
        if arguments.debug:
            raise
        print(f"augury: {type(error).__name__}: {error}\n(--debug shows where)", file=sys.stderr)
        return 1


def _how_to_resume(words: Sequence[str]) -> str:
    return f"What was finished is kept; continue with: {command('augury', *words)}"


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="augury", description="Which text augmentation helps on my data, by how much, and what did it cost?",
        epilog="`augury VERB --help` has an example of each.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"augury {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name in VERBS:
        module = importlib.import_module(f"augury.cli.{name}")
        verb = verbs.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.configure(verb, words)
        verb.add_argument("--json", action="store_true", help="print the result as JSON on standard output")
        verb.add_argument("--debug", action="store_true", help="show where an error comes from")
        verb.set_defaults(run=module.run, parser=verb)
    return parser
