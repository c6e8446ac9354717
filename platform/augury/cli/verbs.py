"""The verbs in groups, and the map of them that `augury --help` prints."""

from __future__ import annotations

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Sequence
from types import ModuleType

GROUPS = {
    "start": ("demo", "init", "config"),
    "run experiments": ("train", "sweep", "reproduce"),
    "inspect results": ("watch", "compare", "score", "analyze", "track"),
    "use a trained run": ("translate", "export"),
    "work on text": ("augment", "encipher", "align"),
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
BEGINNING = (
    ("augury demo", "three systems on built-in text, from raw text to the table, in minutes"),
    ("augury init", "write an experiment file for text of your own, which augury config checks"),
    ("augury train FILE", "train its systems, score them, say which difference is real"),
)
"""What to type first, and what it does."""
WIDTH = 100


def module(verb: str) -> ModuleType:
    """Return the module of a verb: HELP, EXAMPLE, configure and run."""
    return importlib.import_module(f"augury.cli.{verb}")


def parser(verb: str, words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a verb; `words` are what it will parse, on which the flags of some verbs depend."""
    of_verb = module(verb)
    result = argparse.ArgumentParser(
        prog=f"augury {verb}",
        description=of_verb.HELP,
        epilog=f"example:\n  {of_verb.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    of_verb.configure(result, words)
    loud = result.add_mutually_exclusive_group()
    loud.add_argument(
        "-v", "--verbose", action="store_const", const=1, default=0, dest="verbosity", help="say more, with times"
    )
    loud.add_argument(
        "-q", "--quiet", action="store_const", const=-1, dest="verbosity", help="warnings and errors alone"
    )
    result.add_argument("--log-format", choices=["text", "json"], default="text", help="of messages on standard error")
    result.add_argument("--json", action="store_true", help="print the result as JSON on standard output")
    result.add_argument("--debug", action="store_true", help="show where an error comes from")
    return result


def overview() -> str:
    """Return the map: three commands to begin with, then every verb in its group with its line of help."""
    groups = [_table(group, [(verb, module(verb).HELP) for verb in verbs]) for group, verbs in GROUPS.items()]
    return "\n\n".join(
        [
            "Which text augmentation helps on my data, by how much, and what did it cost?",
            _table("begin with", BEGINNING),
            *groups,
            "`augury VERB --help` lists the flags of a verb, with an example.",
        ]
    )


def _table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    width = min(shutil.get_terminal_size().columns, WIDTH)
    indent = max(map(len, [*VERBS, *(name for name, _ in rows)])) + 4
    lines = [
        textwrap.fill(text, width, initial_indent=f"  {name}".ljust(indent), subsequent_indent=" " * indent)
        for name, text in rows
    ]
    return "\n".join([title, *lines])
