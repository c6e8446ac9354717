"""`augury align`: which words of two texts translate each other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import get_args

from augury.cli.common import print_json
from augury.errors import UserError
from augury.text.symmetrise import Link, Symmetrisation, symmetrise

HELP = "Align the words of two texts, line by line: the places, from 0, of source and target words (Pharaoh format)."
EXAMPLE = "augury align train.de train.en > train.links"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("source", metavar="SRC", help="source text, one sentence a line, plain or compressed")
    parser.add_argument("target", metavar="TGT", help="target text, aligned with the source")
    parser.add_argument(
        "--direction",
        default="both",
        choices=["forward", "reverse", "both"],
        help="forward: at most one source word for every target word; reverse: at most one target word for every "
        "source word; both: joined by --symmetrisation (default)",
    )
    parser.add_argument(
        "--symmetrisation", choices=get_args(Symmetrisation), help="of both directions (default: grow-diag-final-and)"
    )
    parser.add_argument(
        "--tokenised", action="store_true", help="words are what spaces separate (default: punctuation is split off)"
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.corpora.readers import open_text
    from augury.corpora.spec import TextSpec
    from augury.text.words import words

    if arguments.symmetrisation and arguments.direction != "both":
        raise UserError(
            f"--symmetrisation {arguments.symmetrisation} joins both directions: leave out --direction "
            f"{arguments.direction}, or --symmetrisation"
        )
    split: Callable[[str], list[str]] = _by_spaces if arguments.tokenised else words
    sources: list[list[str]] = []
    targets: list[list[str]] = []
    for block in open_text(TextSpec(source=arguments.source, target=arguments.target), "train").blocks():
        sources += map(split, block.column("source").to_pylist())
        targets += map(split, block.column("target").to_pylist())
    links = _links(sources, targets, arguments.direction, arguments.symmetrisation or "grow-diag-final-and")
    if arguments.json:
        print_json({"links": links})
    else:
        sys.stdout.writelines(" ".join(f"{i}-{j}" for i, j in row) + "\n" for row in links)
    return 0


def _links(
    sources: list[list[str]], targets: list[list[str]], direction: str, symmetrisation: Symmetrisation
) -> list[list[Link]]:
    from augury.text.align import BOTH, align

    found = align(sources, targets, [each for each in BOTH if direction in (each, "both")])
    if direction != "both":
        return next(iter(found.values()))
    pairs = zip(found["forward"], found["reverse"], strict=True)
    return [symmetrise(forward, reverse, symmetrisation) for forward, reverse in pairs]


def _by_spaces(line: str) -> list[str]:
    return [word for word in line.replace("\t", " ").split(" ") if word]
