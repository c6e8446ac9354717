"""`augury align`: align the words of two parallel texts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, get_args

from augury.cli.common import add_executor, print_json
from augury.core.errors import UserError
from augury.text.alignment.symmetrise import BOTH, Link, Symmetrisation, symmetrise

if TYPE_CHECKING:
    import pyarrow as pa

    from augury.core.executors import Executor
    from augury.core.store import Folder
    from augury.text.alignment.aligner import Sentences
    from augury.text.alignment.model import Links

WRITES_TEXT = True
HELP = (
    "Align the words of two parallel texts; prints links of word positions, counted from 0 "
    "(Pharaoh format)."
)
EXAMPLE = "augury align train.de train.en > train.links"
ShardReader = Callable[[str], "tuple[Sentences, Sentences]"]
"""Name of a shard -> the words of its source and target sentences."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "source", metavar="SRC", help="source text, one sentence per line, plain or compressed"
    )
    parser.add_argument("target", metavar="TGT", help="target text, aligned with the source")
    parser.add_argument(
        "--aligner",
        default="hmm",
        choices=["hmm", "fast_align", "eflomal"],
        help="hmm: HMM alignment, both directions trained to agree (default); "
        "fast_align: IBM model 2 with a diagonal prior, less accurate, for reproducing that "
        "program; eflomal: the optional package, for comparison: more errors than hmm in our "
        "benchmark, at three to four times the CPU time, not deterministic (pip install "
        "'augury[eflomal]')",
    )
    parser.add_argument(
        "--direction",
        default="both",
        choices=["forward", "reverse", "both"],
        help="forward: at most one source word per target word; reverse: at most one "
        "target word per source word; both: combined by --symmetrisation (default)",
    )
    parser.add_argument(
        "--symmetrisation",
        choices=get_args(Symmetrisation),
        help="how to combine both directions (default: grow-diag-final-and)",
    )
    parser.add_argument(
        "--tokenised",
        action="store_true",
        help="the text is tokenised: split it only at spaces (default: split off punctuation)",
    )
    parser.add_argument(
        "--write-tokens",
        nargs=2,
        metavar=("SRC_TOKENS", "TGT_TOKENS"),
        help="also write the tokens that the links refer to, separated by spaces, to these files",
    )
    add_executor(parser)
    parser.add_argument(
        "--storage",
        help="directory or URI for temporary shards; must be reachable from all "
        "machines of a cluster (default: a temporary directory on this machine)",
    )


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    with _scratch(arguments.storage) as scratch:
        shards = _align(arguments, scratch)
    symmetrisation: Symmetrisation = arguments.symmetrisation or "grow-diag-final-and"
    links = [row for shard in shards for row in _select(shard, arguments.direction, symmetrisation)]
    if arguments.json:
        print_json({"links": links})
    else:
        sys.stdout.writelines(" ".join(f"{i}-{j}" for i, j in row) + "\n" for row in links)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise UserError for options that exclude each other, before any text is read."""
    from augury.text.alignment import eflomal

    if arguments.symmetrisation and arguments.direction != "both":
        raise UserError(
            f"--symmetrisation {arguments.symmetrisation} combines both directions: leave out "
            f"--direction {arguments.direction}, or --symmetrisation"
        )
    if arguments.aligner == "eflomal":
        eflomal.require()
        if arguments.executor == "ray":
            raise UserError(
                "eflomal only runs on this machine: leave out --executor ray, or use --aligner hmm"
            )
    paths = [
        os.path.realpath(path)
        for path in (arguments.source, arguments.target, *(arguments.write_tokens or ()))
    ]
    for path in arguments.write_tokens or ():
        if paths.count(os.path.realpath(path)) > 1:
            raise UserError(f"--write-tokens would overwrite {path}: give two new files")
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise UserError(
                f"--write-tokens {path}: there is no directory '{os.path.dirname(path)}': create "
                "it first"
            )


def _align(arguments: argparse.Namespace, scratch: Folder) -> list[Links]:
    """Return the links of each shard of the text."""
    from augury.core.words import words
    from augury.corpora.corpus import shard_name, write_shard
    from augury.corpora.parallel import TextSpec
    from augury.corpora.readers import open_text
    from augury.text.alignment.aligner import words_of_shard

    text = open_text(TextSpec(source=arguments.source, target=arguments.target), "train")
    executor = None if arguments.aligner == "eflomal" else _executor(arguments, text.total)
    shards: list[str] = []
    for index, block in enumerate(text.blocks()):
        if not index and not arguments.tokenised:
            _warn_if_tokenised(arguments, block)
        shards.append(shard_name(index))
        write_shard(scratch, shards[-1], block.select(["source", "target"]))
    read = partial(
        words_of_shard, scratch, split=_split_at_spaces if arguments.tokenised else words
    )
    if arguments.write_tokens:
        _write_tokens(arguments.write_tokens, read, shards)
    if executor is None:
        return _align_with_eflomal(read, shards)
    return _align_with_model(arguments.aligner, read, shards, scratch, executor)


def _executor(arguments: argparse.Namespace, rows: int) -> Executor:
    from augury.core.execution import Execution
    from augury.text.alignment.aligner import PAIRS_PER_SECOND

    executor = Execution(executor=arguments.executor).choose(rows / PAIRS_PER_SECOND, "align")
    if executor.name == "ray" and os.environ.get("RAY_ADDRESS") and not arguments.storage:
        raise UserError(
            f"RAY_ADDRESS={os.environ['RAY_ADDRESS']} is a cluster, which cannot reach a "
            "temporary directory on this machine: give --storage that all machines can reach, or "
            "--executor local"
        )
    return executor


def _align_with_model(
    aligner: str, read: ShardReader, shards: Sequence[str], scratch: Folder, executor: Executor
) -> list[Links]:
    from augury.text.alignment.aligner import MODELS, apply, encode_shards, fit

    encoded = encode_shards(read, shards, scratch.sub("encoded"), executor)
    return apply(fit(encoded, executor, MODELS[aligner]()), encoded, executor)


def _align_with_eflomal(read: ShardReader, shards: Sequence[str]) -> list[Links]:
    from augury.text.alignment import eflomal

    sources, targets = zip(*map(read, shards), strict=True)
    return [eflomal.align(list(chain.from_iterable(sources)), list(chain.from_iterable(targets)))]


def _warn_if_tokenised(arguments: argparse.Namespace, block: pa.Table) -> None:
    """Warn if a text looks tokenised and would be tokenised again."""
    from augury.core.progress import say_once
    from augury.core.words import words
    from augury.text.segmentation import tokenised_line

    for path, side in ((arguments.source, "source"), (arguments.target, "target")):
        lines = block.column(side).slice(0, 1_000).to_pylist()
        index = tokenised_line(lines)
        if index is not None:
            line, tokens = lines[index], words(lines[index])
            say_once(
                f"warning: {path} looks tokenised and is tokenised again: line {index + 1}, "
                f"'{line}', has {len(line.split())} words but {len(tokens)} tokens "
                f"('{' '.join(tokens)}'). Give --tokenised to split only at spaces; "
                "--write-tokens writes the tokens that the links refer to"
            )


def _write_tokens(paths: Sequence[str], read: ShardReader, shards: Sequence[str]) -> None:
    with (
        open(paths[0], "w", encoding="utf-8") as sources,
        open(paths[1], "w", encoding="utf-8") as targets,
    ):
        for shard in shards:
            for file, sentences in zip((sources, targets), read(shard), strict=True):
                file.writelines(" ".join(sentence) + "\n" for sentence in sentences)


def _select(links: Links, direction: str, symmetrisation: Symmetrisation) -> list[list[Link]]:
    """Return the links of one direction, or of both combined."""
    for side in BOTH:
        if direction == side:
            return links[side]
    pairs = zip(links["forward"], links["reverse"], strict=True)
    return [symmetrise(forward, reverse, symmetrisation) for forward, reverse in pairs]


@contextmanager
def _scratch(storage: str | None) -> Iterator[Folder]:
    """Yield a new folder that is removed when the block ends."""
    from augury.core.store import Store

    with tempfile.TemporaryDirectory() as directory:
        folder = Store(storage or directory).folder("align", os.urandom(16).hex())
        try:
            yield folder
        finally:
            folder.remove()


def _split_at_spaces(line: str) -> list[str]:
    return [word for word in line.replace("\t", " ").split(" ") if word]
