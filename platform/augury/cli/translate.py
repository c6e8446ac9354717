"""`augury translate`: free text through a trained run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from augury.cli.common import add_run, lines_of, open_run, print_json

HELP = "Translate standard input, one sentence a line, with a trained run."
EXAMPLE = "augury translate results/runs/ADDRESS/seed-1 < text.de > text.en"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_run(parser)
    parser.add_argument("--beam", type=int, default=None, help="hypotheses kept (default: the experiment's)")
    parser.add_argument("--length-penalty", type=float, default=None, help="default: the experiment's")


def run(arguments: argparse.Namespace) -> int:
    from augury import config, trainable
    from augury.decoding.search import Decoding

    store, folder = open_run(arguments.trained, arguments.storage)
    description = folder.read_json("run.json")
    chosen = {"beam": arguments.beam, "length_penalty": arguments.length_penalty}
    of_run = folder.read_json("prepared.json")["experiment"]["decoding"]
    decoding = config.validate(
        Decoding, {**of_run, **{key: value for key, value in chosen.items() if value is not None}}, "decoding"
    )
    sentences = lines_of(sys.stdin)
    translations = trainable.find(description["task"]).translate(folder, store, sentences, decoding=decoding)
    if arguments.json:
        print_json({"run": folder.uri, "translations": translations})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in translations))
    return 0
