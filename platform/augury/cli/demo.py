"""`augury demo`: train and compare systems on the built-in synthetic corpora."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from augury.cli.common import add_overrides

HELP = (
    "Train and compare several systems on built-in synthetic text: translation, or NLI with "
    "--task nli."
)
EXAMPLE = "augury demo --storage demo"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument("--task", default="nmt", help="task to run: nmt or nli (default: nmt)")
    parser.add_argument(
        "--storage", default="demo", help="directory or URI for all output (default: demo)"
    )
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    from importlib.resources import files

    from augury.cli.train import compare
    from augury.core.errors import unknown
    from augury.core.progress import say
    from augury.experiments.systems import load

    shipped = files("search_spaces").joinpath("experiments")
    tasks = [
        file.name.removeprefix("demo_").removesuffix(".yaml")
        for file in shipped.iterdir()
        if file.name.startswith("demo_")
    ]
    if arguments.task not in tasks:
        raise unknown("demo task", arguments.task, tasks)
    say(
        "The demo trains one seed on synthetic text: it demonstrates the workflow and does not "
        "evaluate a method."
    )
    path = str(shipped.joinpath(f"demo_{arguments.task}.yaml"))
    return compare(
        load(path, [f"storage={arguments.storage}", *arguments.assignments]),
        arguments.json,
    )
