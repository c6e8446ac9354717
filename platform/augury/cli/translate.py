"""`augury translate`: free text through a trained run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from augury.cli.common import add_executor, add_run, lines_of, open_run, print_json
from augury.core.errors import UserError

HELP = "Put standard input through a trained run: a sentence a line, or premise<TAB>hypothesis for a label."
EXAMPLE = "augury translate results/runs/ADDRESS/seed-1 < text.de > text.en"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_run(parser)
    parser.add_argument("--beam", type=int, default=None, help="hypotheses kept (default: the experiment's)")
    parser.add_argument("--length-penalty", type=float, default=None, help="default: the experiment's")
    add_executor(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.core import config
    from augury.decoding.settings import Decoding
    from augury.experiments import trainable
    from augury.experiments.run import Run

    _, folder = open_run(arguments.trained, arguments.storage)
    trained = Run.read(folder)
    task = trained.experiment.task
    chosen = {"beam": arguments.beam, "length_penalty": arguments.length_penalty}
    chosen = {key: value for key, value in chosen.items() if value is not None}
    own = trained.experiment.plain().get("decoding")
    if own is None and chosen:
        raise UserError(f"a run of task {task} has no beam: leave out --beam and --length-penalty")
    options = {"decoding": config.validate(Decoding, {**own, **chosen}, "decoding")} if own else {}
    lines = lines_of(sys.stdin)
    translations = trainable.find(task).translate(trained, lines, executor=arguments.executor, **options)
    if arguments.json:
        print_json({"run": folder.uri, "translations": translations})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in translations))
    return 0
