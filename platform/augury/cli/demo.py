"""`augury demo`: the main job on the built-in synthetic corpora."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from augury.cli.common import add_overrides

HELP = "Run the main job on built-in synthetic text, several systems side by side: translation, or NLI by --task nli."
EXAMPLE = "augury demo --storage demo"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("--task", default="nmt", help="which task to show: nmt or nli (default: nmt)")
    parser.add_argument("--storage", default="demo", help="directory or URI of everything that is made (default: demo)")
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    from importlib.resources import files

    from augury.cli.train import compare
    from augury.core.errors import unknown
    from augury.core.progress import say
    from augury.experiments import experiment

    shipped = files("search_spaces").joinpath("experiments")
    known = [
        file.name.removeprefix("demo_").removesuffix(".yaml")
        for file in shipped.iterdir()
        if file.name.startswith("demo_")
    ]
    if arguments.task not in known:
        raise unknown("demo task", arguments.task, known)
    say("The demo is one seed on synthetic text: it shows what the machinery does and is no verdict on a method.")
    path = str(shipped.joinpath(f"demo_{arguments.task}.yaml"))
    return compare(experiment.load(path, [f"storage={arguments.storage}", *arguments.assignments]), arguments.json)
