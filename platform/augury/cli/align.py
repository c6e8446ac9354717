"""`augury align`: which words of two texts translate each other."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, get_args

from augury.cli.common import add_executor, print_json
from augury.errors import UserError
from augury.text.symmetrise import Link, Symmetrisation, symmetrise

if TYPE_CHECKING:
    from augury.store import Folder
    from augury.text.align import Links

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
    add_executor(parser)
    parser.add_argument(
        "--storage",
        help="directory or URI for the shards while they are needed, which every machine of a cluster reaches "
        "(default: a temporary directory of this machine)",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.symmetrisation and arguments.direction != "both":
        raise UserError(
            f"--symmetrisation {arguments.symmetrisation} joins both directions: leave out --direction "
            f"{arguments.direction}, or --symmetrisation"
        )
    with _scratch(arguments.storage) as scratch:
        shards = _align(arguments, scratch)
    symmetrisation: Symmetrisation = arguments.symmetrisation or "grow-diag-final-and"
    links = [row for shard in shards for row in _joined(shard, symmetrisation)]
    if arguments.json:
        print_json({"links": links})
    else:
        sys.stdout.writelines(" ".join(f"{i}-{j}" for i, j in row) + "\n" for row in links)
    return 0


def _align(arguments: argparse.Namespace, scratch: Folder) -> list[Links]:
    """The links of each shard of the text, in the directions asked for."""
    from augury.corpora.corpus import shard_name, write_shard
    from augury.corpora.readers import open_text
    from augury.corpora.spec import TextSpec
    from augury.execution import choose
    from augury.text.align import BOTH, PAIRS_PER_SECOND, apply, encode_shards, fit, words_of_shard
    from augury.text.words import words

    text = open_text(TextSpec(source=arguments.source, target=arguments.target), "train")
    executor = choose(arguments.executor, text.total / PAIRS_PER_SECOND, "align")
    if executor.name == "ray" and os.environ.get("RAY_ADDRESS") and not arguments.storage:
        raise UserError(
            f"RAY_ADDRESS={os.environ['RAY_ADDRESS']} names a cluster, and a temporary directory is on this machine "
            "alone: give --storage, which every machine reaches, or --executor local"
        )
    shards = []
    for index, block in enumerate(text.blocks()):
        shards.append(shard_name(index))
        write_shard(scratch, shards[-1], block.select(["source", "target"]))
    split: Callable[[str], list[str]] = _by_spaces if arguments.tokenised else words
    read = partial(words_of_shard, scratch, split=split)
    encoded = encode_shards(read, shards, scratch.sub("encoded"), executor)
    directions = [each for each in BOTH if arguments.direction in (each, "both")]
    return apply(fit(encoded, executor, directions), encoded, executor)


def _joined(links: Links, symmetrisation: Symmetrisation) -> list[list[Link]]:
    """The links of both directions as one; those of one direction as they are."""
    of_directions = list(links.values())
    if len(of_directions) == 1:
        return of_directions[0]
    pairs = zip(links["forward"], links["reverse"], strict=True)
    return [symmetrise(forward, reverse, symmetrisation) for forward, reverse in pairs]


@contextmanager
def _scratch(storage: str | None) -> Iterator[Folder]:
    """A folder of its own, there until the block ends."""
    from augury.store import Store

    with tempfile.TemporaryDirectory() as directory:
        folder = Store(storage or directory).folder("align", uuid.uuid4().hex)
        try:
            yield folder
        finally:
            folder.remove()


def _by_spaces(line: str) -> list[str]:
    return [word for word in line.replace("\t", " ").split(" ") if word]
