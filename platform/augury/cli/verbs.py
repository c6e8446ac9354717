"""The verbs of the command line in groups, their parsers, and the overview of `augury --help`."""

from __future__ import annotations

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from augury.core.errors import nearest

GROUPS = {
    "start": ("demo", "init", "config", "list"),
    "run experiments": ("train", "sweep", "reproduce"),
    "inspect results": ("runs", "compare", "analyze", "track"),
    "use a trained run": ("translate", "export"),
    "work on text": ("augment",),
}
MODULES = {"list": "listing"}
"""Verbs whose modules have other names, here as `list` would hide the built-in class."""
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
FIRST_STEPS = (
    ("augury demo", "find out which augmentation helps on a built-in text, in minutes"),
    ("augury init", "write an experiment file for your own text; augury config checks it"),
    (
        "augury sweep augmentations FILE --budget 8h",
        "find out which augmentation helps on it, by how much and at what cost",
    ),
)
"""Commands for new users with descriptions."""
WIDTH = 100


def module(verb: str) -> ModuleType:
    """Return the module of a verb, with HELP, EXAMPLE, configure and run."""
    return importlib.import_module(f"augury.cli.{MODULES.get(verb, verb)}")


def parser(verb: str, argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a verb for `argv`, on which the flags of some verbs depend."""
    of_verb = module(verb)
    width = min(shutil.get_terminal_size().columns, WIDTH)
    result = argparse.ArgumentParser(
        prog=f"augury {verb}",
        description=textwrap.fill(of_verb.HELP, width),
        epilog=f"example:\n  {of_verb.EXAMPLE}",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, max_help_position=28, width=width
        ),
        allow_abbrev=False,
        add_help=False,
    )
    of_verb.configure(result, argv)
    forms: dict[Any, str] = {None: "{}", "?": "[{}]", "+": "{} ...", "*": "[{} ...]"}
    places = [
        forms[action.nargs].format(action.metavar or action.dest.upper())
        for action in result._get_positional_actions()
        if action.help != argparse.SUPPRESS
    ]
    result.usage = " ".join(["%(prog)s", *places, "[flags]"])
    verbosity = result.add_mutually_exclusive_group()
    verbosity.add_argument(
        "-v",
        "--verbose",
        action="store_const",
        const=1,
        default=0,
        dest="verbosity",
        help="more messages, with times",
    )
    verbosity.add_argument(
        "-q",
        "--quiet",
        action="store_const",
        const=-1,
        dest="verbosity",
        help="only warnings and errors",
    )
    result.add_argument(
        "--log-format",
        choices=["text", "json"],
        default="text",
        help="format of messages on standard error",
    )
    result.add_argument(
        "--json", action="store_true", help="print the result as JSON on standard output"
    )
    result.add_argument(
        "--allow-code",
        action="store_true",
        help="run the plug-in files that stored runs and sweeps name",
    )
    result.add_argument("--debug", action="store_true", help="show the traceback of errors")
    result.add_argument("-h", "--help", action="help", help="show this page")
    return result


def parse(verb: str, argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a verb; SystemExit with a usage message for unknown ones."""
    of_verb = parser(verb, argv)
    # Intermixed: `augury sweep agreement --budget 2h my.yaml` names a file behind an option.
    # It would take words behind `--` for options.
    intermixed = "--" not in argv
    read = of_verb.parse_known_intermixed_args if intermixed else of_verb.parse_known_args
    arguments, rest = read(argv)
    if rest:
        flags = [flag for action in of_verb._actions for flag in action.option_strings]
        of_verb.error(f"unknown argument '{rest[0]}': {nearest(rest[0], flags)}")
    return arguments


def overview() -> str:
    """Return the overview: first steps, then every verb in its group with its one-line help."""
    tables: dict[str, Sequence[tuple[str, str]]] = {"first steps": FIRST_STEPS}
    tables |= {
        group: [(verb, module(verb).HELP) for verb in verbs] for group, verbs in GROUPS.items()
    }
    width = min(shutil.get_terminal_size().columns, WIDTH)
    lines = ["Which text augmentation helps on my data, by how much, and what did it cost?"]
    for title, rows in tables.items():
        lines += ["", title]
        indent = max(len(name) for name, _ in (*rows, ("reproduce", ""))) + 4
        for name, text in rows:
            first = f"  {name}".ljust(indent)
            lines.append(
                textwrap.fill(text, width, initial_indent=first, subsequent_indent=" " * indent)
            )
    lines += ["", "`augury VERB --help` lists the flags of a verb with an example."]
    return "\n".join(lines)
