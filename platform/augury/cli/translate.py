"""`augury translate`: free text through a trained run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

from augury.cli.common import add_executor, add_run, lines_of, open_run, print_json
from augury.core.errors import UserError

HELP = "Put standard input through a trained run: a sentence a line, or premise<TAB>hypothesis for a label."
EXAMPLE = """augury translate results/runs/ADDRESS/seed-1 < text.de > text.en
  augury translate ADDRESS --views plain rot-1 rot-2 --combine average < text.de > text.en"""


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    from augury.decoding.settings import Combination, Utility

    add_run(parser)
    parser.add_argument("--beam", type=int, default=None, help="hypotheses kept (default: the experiment's)")
    parser.add_argument("--length-penalty", type=float, default=None, help="default: the experiment's")
    parser.add_argument(
        "--views", nargs="+", metavar="VIEW", help="read the text as these views of the run: plain, rot-1, ..."
    )
    parser.add_argument(
        "--combine", choices=get_args(Combination), help="one beam over the mean of the views, or minimum Bayes risk"
    )
    parser.add_argument(
        "--n-best", type=int, help="of mbr: hypotheses of every view to choose from (default: the beam)"
    )
    parser.add_argument("--utility", choices=get_args(Utility), help="of mbr: what agreement is (default: chrf)")
    add_executor(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.core import config
    from augury.experiments import trainable
    from augury.experiments.rendering import view_named
    from augury.experiments.run import Run

    _, folder = open_run(arguments.trained, arguments.storage)
    trained = Run.read(folder)
    task = trained.experiment.task
    settings = ("beam", "length_penalty", "views", "combine", "n_best", "utility")
    chosen = {key: value for key in settings if (value := getattr(arguments, key)) is not None}
    own = getattr(trained.experiment, "decoding", None)
    if own is None and chosen:
        raise UserError(f"a run of task {task} has no beam: leave out {', '.join(map(_flag, chosen))}")
    options = {"decoding": config.validate(type(own), {**own.to_dict(), **chosen}, "decoding")} if own else {}
    for view in chosen.get("views", ()):
        view_named(trained, view)
    of_mbr = [key for key in ("n_best", "utility") if key in chosen]
    if of_mbr and getattr(options["decoding"], "combine", None) != "mbr":
        raise UserError(f"{_flag(of_mbr[0])} is a setting of --combine mbr: add that, or leave it out")
    lines = lines_of(sys.stdin)
    translations = trainable.find(task).translate(trained, lines, executor=arguments.executor, **options)
    if arguments.json:
        print_json({"run": folder.uri, "translations": translations})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in translations))
    return 0


def _flag(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"
