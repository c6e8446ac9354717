"""Word alignment beside eflomal: what it costs, and how far it is from what a person linked.

    python benchmarks/align.py [--eflomal PYTHON] [--repeats 3] [--json]

Needs AUGURY_DATA, the directory of the corpora. `--eflomal` is a Python that has the package `eflomal`, by default this
one if it has it; without it only ours is run. Both get one thread, the same words in lower case, and their defaults.

Time: the 29,000 pairs of Multi30k (German to English), from lists of words, which eflomal gets as a text file, to links
in one direction or in both; the start of the interpreter is left out. Contenders take turns, in an order that rotates;
seconds are medians, and the ratio is the median over the rounds of the ratio of CPU seconds in the same round.

Error: alignment error rate (Och and Ney 2003), 1 - 2 |links and gold| / (|links| + |gold|), with precision and recall,
on the German-English gold alignments of Bicici (2011): 100 sentences of Europarl, every link sure. A point that lies
outside its sentence is left out. Trained on Multi30k, WMT news and Tatoeba together with the gold text itself, about
235,000 pairs.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from augury.text.align import BOTH, Sentences, align
from augury.text.bitext import Direction
from augury.text.ibm2 import Settings
from augury.text.symmetrise import Link, Symmetrisation, symmetrise
from augury.text.words import words

Rows = list[list[Link]]
VARIANTS = {
    "augury": Settings(),
    "augury, tension optimised": Settings(optimise_tension=True),
    "augury, null 0.2": Settings(null=0.2),
}

RUN_EFLOMAL = """
import json, resource, sys, time
from eflomal import Aligner

def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

source, target, forward, reverse = sys.argv[1:]
began = cpu(), time.perf_counter()
with open(source, encoding="utf-8") as sources, open(target, encoding="utf-8") as targets:
    Aligner().align(sources, targets, links_filename_fwd=forward or None, links_filename_rev=reverse or None)
print(json.dumps([cpu() - began[0], time.perf_counter() - began[1]]))
"""


class Clock(NamedTuple):
    cpu: float
    wall: float


class Contender(NamedTuple):
    name: str
    run: Callable[[], Clock]


class Error(NamedTuple):
    rate: float
    precision: float
    recall: float
    links: int


def ours(sources: Sentences, targets: Sentences, directions: Sequence[Direction]) -> Clock:
    cpu, wall = time.process_time(), time.perf_counter()
    align(sources, targets, directions)
    return Clock(time.process_time() - cpu, time.perf_counter() - wall)


class Eflomal:
    """eflomal in the interpreter that has it, its text and links in a directory."""

    def __init__(self, python: str, sources: Sentences, targets: Sentences, directory: str):
        self.python, self.directory = python, Path(directory)
        for name, side in (("source", sources), ("target", targets)):
            text = "".join(" ".join(sentence).lower() + "\n" for sentence in side)
            (self.directory / name).write_text(text, encoding="utf-8")

    def run(self, directions: Sequence[Direction]) -> Clock:
        links = [str(self.directory / each) if each in directions else "" for each in BOTH]
        files = [str(self.directory / name) for name in ("source", "target")]
        command = [self.python, "-c", RUN_EFLOMAL, *files, *links]
        alone = {**os.environ, "OMP_NUM_THREADS": "1"}
        told = subprocess.run(command, env=alone, check=True, stdout=subprocess.PIPE, text=True).stdout
        return Clock(*json.loads(told.splitlines()[-1]))

    def links(self, direction: Direction) -> Rows:
        return parse((self.directory / direction).read_text().splitlines())


def turns(contenders: list[Contender], repeats: int) -> Iterator[Contender]:
    """Every contender once a round, in an order that rotates."""
    for first in range(repeats):
        turn = first % len(contenders)
        yield from contenders[turn:] + contenders[:turn]


def measure(data: Path, eflomal: str | None, repeats: int) -> dict[str, dict[str, float]]:
    sources, targets = multi30k(data)
    with tempfile.TemporaryDirectory() as directory:
        contenders = [
            Contender("augury, forward", lambda: ours(sources, targets, ["forward"])),
            Contender("augury, both", lambda: ours(sources, targets, BOTH)),
        ]
        if eflomal:
            other = Eflomal(eflomal, sources, targets, directory)
            contenders += [
                Contender("eflomal, forward", lambda: other.run(["forward"])),
                Contender("eflomal, both", lambda: other.run(BOTH)),
            ]
        clocks: dict[str, list[Clock]] = {contender.name: [] for contender in contenders}
        ours(sources[:1000], targets[:1000], BOTH)  # what is loaded at first use
        for name, run in turns(contenders, repeats):
            clocks[name].append(run())
    baseline = clocks["augury, forward"]
    return {
        name: {
            "cpu_seconds": statistics.median(clock.cpu for clock in each),
            "wall_seconds": statistics.median(clock.wall for clock in each),
            "times_augury_forward": statistics.median(
                clock.cpu / base.cpu for clock, base in zip(each, baseline, strict=True)
            ),
        }
        for name, each in clocks.items()
    }


def errors(data: Path, eflomal: str | None) -> dict[str, dict[str, Error]]:
    """Of every contender, of both directions and of what joins them."""
    sources, targets = training_text(data)
    gold_sources, gold_targets, gold = gold_set(data)
    sources, targets = [*sources, *gold_sources], [*targets, *gold_targets]
    found: dict[str, dict[str, Rows]] = {}
    for name, settings in VARIANTS.items():
        found[name] = dict(align(sources, targets, BOTH, settings))
    if eflomal:
        with tempfile.TemporaryDirectory() as directory:
            other = Eflomal(eflomal, sources, targets, directory)
            other.run(BOTH)
            found["eflomal"] = {direction: other.links(direction) for direction in BOTH}
    return {
        name: errors_of({key: rows[-len(gold) :] for key, rows in links.items()}, gold) for name, links in found.items()
    }


def errors_of(links: dict[str, Rows], gold: list[set[Link]]) -> dict[str, Error]:
    pairs = list(zip(links["forward"], links["reverse"], strict=True))
    joined = {how: [symmetrise(*pair, how) for pair in pairs] for how in get_args(Symmetrisation)}
    return {name: error(rows, gold) for name, rows in {**links, **joined}.items()}


def error(rows: Rows, gold: list[set[Link]]) -> Error:
    right = sum(len(set(row) & of_row) for row, of_row in zip(rows, gold, strict=True))
    links, wanted = sum(map(len, rows)), sum(map(len, gold))
    return Error(1 - 2 * right / (links + wanted), right / links, right / wanted, links)


def multi30k(data: Path) -> tuple[Sentences, Sentences]:
    sources, targets = (lines(data / "multi30k" / f"train.{language}.gz") for language in ("de", "en"))
    return list(map(words, sources)), list(map(words, targets))


def training_text(data: Path) -> tuple[Sentences, Sentences]:
    sources, targets = multi30k(data)
    for name in ("wmt_news/news.de-en.tsv.gz", "tatoeba/tatoeba.de-en.tsv.gz"):
        header, *rows = (line.split("\t") for line in lines(data / name))
        # The sources of newstestB are those of newstest.
        kept = [row for row in rows if header[0] != "set" or not row[0].startswith("newstestB")]
        sources = [*sources, *(words(row[header.index("de")]) for row in kept)]
        targets = [*targets, *(words(row[header.index("en")]) for row in kept)]
    return sources, targets


def gold_set(data: Path) -> tuple[Sentences, Sentences, list[set[Link]]]:
    folder = data / "align_gold" / "de-en.bicici"
    sources, targets = ([line.split() for line in lines(folder / f"test.{language}")] for language in ("de", "en"))
    links = parse(lines(folder / "de-en.wa"))
    rows = zip(sources, targets, links, strict=True)
    gold = [{(i, j) for i, j in row if i < len(source) and j < len(target)} for source, target, row in rows]
    return sources, targets, gold


def parse(rows: Sequence[str]) -> Rows:
    links = [[link.split("-") for link in row.split()] for row in rows]
    return [[(int(source), int(target)) for source, target in row] for row in links]


def lines(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().removesuffix("\n").split("\n")


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--eflomal", metavar="PYTHON", help="an interpreter that has the package eflomal")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    arguments = parser.parse_args()
    if "AUGURY_DATA" not in os.environ:
        parser.error("AUGURY_DATA must name the directory of the corpora")
    data = Path(os.environ["AUGURY_DATA"])
    eflomal = arguments.eflomal or (sys.executable if importlib.util.find_spec("eflomal") else None)
    clocks, rates = measure(data, eflomal, arguments.repeats), errors(data, eflomal)
    if arguments.json:
        plain = {name: {key: value._asdict() for key, value in row.items()} for name, row in rates.items()}
        setting = {"repeats": arguments.repeats, "numpy": np.__version__}
        print(json.dumps({**setting, "seconds": clocks, "errors": plain}, indent=2))
    else:
        report(clocks, rates)


def report(clocks: dict[str, dict[str, float]], rates: dict[str, dict[str, Any]]) -> None:
    print(f"{'29,000 pairs':28}{'CPU s':>10}{'wall s':>10}{'x forward':>12}")
    for name, row in clocks.items():
        print(f"{name:28}{row['cpu_seconds']:10.2f}{row['wall_seconds']:10.2f}{row['times_augury_forward']:12.2f}")
    print(f"\n{'error rate, %':28}" + "".join(f"{name:>21}" for name in next(iter(rates.values()))))
    for name, of_name in rates.items():
        cells = [
            f"{100 * each.rate:.1f} ({100 * each.precision:.0f}/{100 * each.recall:.0f})" for each in of_name.values()
        ]
        print(f"{name:28}" + "".join(f"{cell:>21}" for cell in cells))
    print("(precision/recall)")


if __name__ == "__main__":
    main()
