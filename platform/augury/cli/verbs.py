"""The verbs of the command line in groups, their parsers, and the overview of `augury --help`."""

from __future__ import annotations

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from augury.core.errors import UserError, nearest, unknown

GROUPS = {
    "start": {
        "demo": "Find out which augmentation helps on built-in synthetic text, in minutes.",
        "init": "Write an experiment file for your own texts and check it.",
        "config": "Check an experiment before training: settings, texts, excluded rows and cost.",
        "list": "List operators, regimes, presets, metrics, spaces, tables and more.",
    },
    "run experiments": {
        "train": "Train every system of an experiment with every seed, score and compare them.",
        "sweep": "Train the configurations of a search space and answer its question.",
        "reproduce": "Reproduce a table of a paper: published and measured values side by side.",
    },
    "inspect results": {
        "runs": "List the runs of a storage; delete them; clean and verify the storage.",
        "compare": "Score systems, and test which differences to the first one are real.",
        "analyze": "Analyse trained runs: hallucinations, rare subwords, encoder states and more.",
        "track": "Send the runs of a storage to MLflow, for example after an outage of its server.",
    },
    "use a trained run": {
        "translate": "Translate, or label, standard input: a line is a sentence, or a pair.",
        "export": "Export a run's model for transformers or CTranslate2, with a model card.",
    },
    "work on text": {
        "augment": "Augment a corpus: an experiment file, or two aligned files and an operator."
    },
}
VERBS = {verb: text for group in GROUPS.values() for verb, text in group.items()}
FIRST_STEPS = {
    "augury demo": "find out which augmentation helps on a built-in text, in minutes",
    "augury init": "write an experiment file for your own text; augury config checks it",
    "augury sweep augmentations FILE --budget 8h": "find out which augmentation helps on it, by "
    "how much and at what cost",
}
WIDTH = 100


def module(verb: str) -> ModuleType:
    """Return the module of a verb, with EXAMPLE, configure and run."""
    # `list` would hide the built-in class.
    return importlib.import_module(f"augury.cli.{'listing' if verb == 'list' else verb}")


def parser(verb: str, argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a verb for `argv`, on which the flags of some verbs depend."""
    of_verb, width = module(verb), min(shutil.get_terminal_size().columns, WIDTH)
    result = argparse.ArgumentParser(
        prog=f"augury {verb}",
        description=textwrap.fill(VERBS[verb], width),
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
    ]
    result.usage = " ".join(["%(prog)s", *places, "[flags]"])
    add, verbosity = result.add_argument, result.add_mutually_exclusive_group().add_argument
    level: dict[str, Any] = {"action": "store_const", "dest": "verbosity"}
    verbosity("-v", "--verbose", **level, const=1, default=0, help="more messages")
    verbosity("-q", "--quiet", **level, const=-1, help="only warnings and errors")
    add("--json", action="store_true", help="print the result as JSON on standard output")
    add("--allow-code", action="store_true", help="run plug-in files that stored runs name")
    add("--debug", action="store_true", help="show the traceback of errors")
    add("-h", "--help", action="help", help="show this page")
    return result


def all_verbs() -> argparse.ArgumentParser:
    """Return the parsers of all verbs as one, of which `shtab` makes completion for shells."""
    result = argparse.ArgumentParser(prog="augury")
    of_verbs = result.add_subparsers()
    for verb, text in VERBS.items():
        of_verbs.add_parser(verb, parents=[parser(verb, [])], add_help=False, help=text)
    return result


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command, with its verb as `verb`; UserError for an unknown verb,
    SystemExit with a usage message for other unknown arguments."""
    verb, *words = argv
    if verb not in VERBS:
        raise UserError(f"{unknown('verb', verb, VERBS)} (see `augury --help`)")
    of_verb = parser(verb, words)
    # Intermixed: `augury sweep agreement --budget 2h my.yaml` names a file behind an option.
    # It would take words behind `--` for options.
    intermixed = "--" not in words
    read = of_verb.parse_known_intermixed_args if intermixed else of_verb.parse_known_args
    arguments, rest = read(words)
    if rest:
        flags = [flag for action in of_verb._actions for flag in action.option_strings]
        of_verb.error(f"unknown argument '{rest[0]}': {nearest(rest[0], flags)}")
    arguments.verb = verb
    return arguments


def overview() -> str:
    """Return the overview: first steps, then every verb in its group with its one-line help."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    lines = ["Which text augmentation helps on my data, by how much, and what did it cost?"]
    for title, rows in {"first steps": FIRST_STEPS, **GROUPS}.items():
        lines += ["", title]
        indent = max(map(len, [*rows, "reproduce"])) + 4
        for name, text in rows.items():
            first, below = f"  {name}".ljust(indent), " " * indent
            lines += [textwrap.fill(text, width, initial_indent=first, subsequent_indent=below)]
    return "\n".join([*lines, "", "`augury VERB --help` lists the flags of a verb."])
