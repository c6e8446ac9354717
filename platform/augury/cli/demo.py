"""`augury demo`: find out which augmentation helps on a built-in synthetic text."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib.resources import files

from augury.cli import sweep, verbs
from augury.cli.common import add_overrides
from augury.core.errors import unknown
from augury.core.messages import say
from augury.core.naming import command

EXAMPLE = "augury demo --storage demo"
ROWS = {"nmt": ("R-Drop", "ROT-1", "BPE-dropout", "WordDrop"), "nli": ("EDA", "reordered")}
"""The rows that are compared with the baseline, by task."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    add("--task", default="nmt", help="nmt or nli (default: nmt)")
    add("--storage", default="demo", metavar="URI", help="for all output (default: demo)")
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    words = sweep_of(arguments.task, arguments.storage, arguments.assignments)
    say(
        "The demo compares systems on synthetic text: it shows how a question is answered, and "
        f"does not evaluate a method. It is this command:\n  {command('augury', 'sweep', *words)}"
    )
    compared = verbs.parser("sweep", words).parse_args(words)
    compared.json, compared.typed = arguments.json, arguments.typed
    status = sweep.run(compared)
    if not arguments.json:
        own = ["train.de", "train.en"] if arguments.task == "nmt" else ["train.tsv"]
        print(f"yours    {command('augury', 'init', 'my.yaml', '--train', *own)}")
        print(
            f"         {command('augury', 'sweep', 'augmentations', 'my.yaml', '--budget', '8h')}"
        )
    return status


def sweep_of(task: str, storage: str, assignments: Sequence[str] = ()) -> list[str]:
    """Return the arguments of `augury sweep` that the demo of a task consists of; UserError for a
    task without one."""
    if task not in ROWS:
        raise unknown("demo task", task, ROWS)
    experiment = str(files("search_spaces").joinpath("experiments", f"demo_{task}.yaml"))
    if experiment.startswith(os.getcwd() + os.sep):  # of a clone: as one would type it
        experiment = os.path.relpath(experiment)
    words = ["augmentations", experiment, "--rows", *ROWS[task], "--scheduler", "all"]
    for assignment in assignments:
        words += ["--set", assignment]
    return [*words, "--storage", storage]
