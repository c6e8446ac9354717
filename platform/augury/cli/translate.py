"""`augury translate`: translate or label standard input with a trained run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from augury.cli.common import add_executor, add_run, flag_of, integer, print_json, read_lines
from augury.core import config
from augury.core.errors import UserError, unknown
from augury.core.messages import say
from augury.experiments.record import RunName
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.reporting.find import find

WRITES_TEXT = True
EXAMPLE = """augury translate my/CipherDAug/1 < text.de > text.en
  augury translate my/CipherDAug --beam 10 < text.de > text.en
  augury translate noisy/tuned --tag '<MTNT_s>' < comments.fr > comments.en"""
NO_TAG = "none"
"""The value of --tag for no symbol."""
DECODING = ("beam", "length_penalty")
"""The flags that are settings of decoding."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_run(parser)
    add = parser.add_argument
    add("--beam", type=integer, metavar="N", help="beam size (default: the experiment's)")
    add("--length-penalty", type=float, metavar="X", help="default: the experiment's")
    add("--tag", help="symbol before every source, of a run trained on tagged texts, or none")
    add_executor(parser, default="local")


def run(arguments: argparse.Namespace) -> int:
    folder = find(arguments.trained, arguments.storage)[0]
    trained = Run.read(folder)
    say(f"by {RunName.read(folder)}")
    experiment = trained.experiment
    overrides = {key: value for key in DECODING if (value := getattr(arguments, key)) is not None}
    decoding = getattr(experiment, "decoding", None)
    if decoding is None and overrides:
        flags = ", ".join(map(flag_of, overrides))
        raise UserError(f"runs of task {experiment.task} have no decoding: leave out {flags}")
    options: dict[str, Any] = {}
    if arguments.tag is not None:
        allowed = (*experiment.tags, NO_TAG)
        if not experiment.tags:
            raise UserError(
                "--tag is for runs that are trained on tagged texts, and this one is not: leave it "
                "out"
            )
        if arguments.tag not in allowed:
            raise unknown("tag of this run", arguments.tag, allowed)
        options["tag"] = "" if arguments.tag == NO_TAG else arguments.tag
    if decoding is not None:
        settings = {**decoding.to_dict(), **overrides}
        options["decoding"] = config.validate(type(decoding), settings, "decoding")
    task, lines = find_task(experiment.task), read_lines(sys.stdin)
    translations = task.translate(trained, lines, executor=arguments.executor, **options)
    if arguments.json:
        outputs = "translations" if decoding is not None else "labels"
        print_json({"run": folder.uri, outputs: translations})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in translations))
    return 0
