"""`augury translate`: translate or label standard input with a trained run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from augury.cli.common import add_run, flag_of, integer, open_run, print_json, read_lines
from augury.core.errors import UserError, unknown
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.experiments.run import Run

WRITES_TEXT = True
HELP = "Translate, or label, standard input with a trained run: a line is a sentence, or a pair."
EXAMPLE = """augury translate my/CipherDAug/1 < text.de > text.en
  augury translate my/CipherDAug --views plain rot-1 rot-2 --combine average < text.de > text.en
  augury translate noisy/tuned --tag '<MTNT_s>' < comments.fr > comments.en"""


NO_TAG = "none"
"""The value of --tag for no symbol."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    from augury.decoding.settings import Combination, LongTexts, Utility

    add_run(parser)
    parser.add_argument(
        "--beam", type=integer, default=None, help="beam size (default: the experiment's)"
    )
    parser.add_argument(
        "--length-penalty",
        type=float,
        default=None,
        help="length penalty (default: the experiment's)",
    )
    parser.add_argument(
        "--views",
        nargs="+",
        metavar="VIEW",
        help="views of the run to decode from: plain, rot-1, ...",
    )
    parser.add_argument(
        "--combine",
        choices=get_args(Combination),
        help="one beam over their mean, or minimum Bayes risk",
    )
    parser.add_argument(
        "--n-best", type=integer, help="mbr: candidates per view (default: the beam)"
    )
    parser.add_argument(
        "--utility", choices=get_args(Utility), help="mbr: the utility function (default: chrf)"
    )
    parser.add_argument(
        "--tag", help="symbol before every source, of a run trained on tagged texts, or none"
    )
    parser.add_argument(
        "--long",
        choices=get_args(LongTexts),
        help="lines longer than the model reads: refuse all (default), cut or skip them",
    )
    parser.add_argument(
        "--executor",
        choices=["local", "ray", "auto"],
        default="local",
        metavar="WHERE",
        help="local (default): in this process; ray: on Ray; auto: by the amount of work",
    )


def _tag(tag: str | None, trained: Run) -> dict[str, Any]:
    """Return the option `tag`, empty for no symbol; UserError unless the run knows it."""
    known = trained.experiment.tags
    if tag is None:
        return {}
    if not known:
        raise UserError(
            "--tag is for runs that are trained on tagged texts, and this one is not: leave it out"
        )
    if tag not in (*known, NO_TAG):
        raise unknown("tag of this run", tag, (*known, NO_TAG))
    return {"tag": "" if tag == NO_TAG else tag}


def run(arguments: argparse.Namespace) -> int:
    from augury.core import config
    from augury.experiments.record import RunName
    from augury.experiments.run import Run
    from augury.experiments.task import find_task

    _, folder = open_run(arguments.trained, arguments.storage)
    trained = Run.read(folder)
    say(f"by {RunName.read(folder)}")
    task = trained.experiment.task
    keys = ("beam", "length_penalty", "views", "combine", "n_best", "utility")
    overrides = {key: value for key in keys if (value := getattr(arguments, key)) is not None}
    decoding = getattr(trained.experiment, "decoding", None)
    if decoding is None and overrides:
        raise UserError(
            f"runs of task {task} have no decoding settings: leave out "
            f"{', '.join(map(flag_of, overrides))}"
        )
    options = _tag(arguments.tag, trained)
    if arguments.long is not None:
        if decoding is None:
            raise UserError(
                f"runs of task {task} cut long lines to the length of their training themselves: "
                "leave out --long"
            )
        options["long"] = arguments.long
    if decoding is not None:
        options["decoding"] = config.validate(
            type(decoding), {**decoding.to_dict(), **overrides}, "decoding"
        )
    for view in overrides.get("views", ()):
        trained.experiment.resolve_view(view)
    mbr_only = [key for key in ("n_best", "utility") if key in overrides]
    if mbr_only and getattr(options["decoding"], "combine", None) != "mbr":
        raise UserError(
            f"{flag_of(mbr_only[0])} needs --combine mbr: add it, or leave out "
            f"{flag_of(mbr_only[0])}"
        )
    lines = read_lines(sys.stdin)
    translations = find_task(task).translate(trained, lines, executor=arguments.executor, **options)
    if arguments.json:
        outputs = "translations" if decoding is not None else "labels"
        print_json({"run": folder.uri, outputs: translations})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in translations))
    return 0
