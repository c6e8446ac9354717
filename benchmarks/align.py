"""Word alignment: what each aligner costs, reading included, and how far it is from what a person linked.

    python benchmarks/align.py [--gold LANGUAGES SOURCE TARGET LINKS]... [--repeats 1] [--json]

Needs AUGURY_DATA, the directory of the corpora; eflomal is measured where it is installed. Every aligner learns from
the news of WMT in the two languages, split as `augury align` splits it, and the gold text, whose words are given.

CPU seconds of one thread run from text to links of both directions, children included, the start of the interpreter
left out; those of reading run from text to the words, as numbers, that the aligner learns from. Medians over rounds.

Error: alignment error rate (Och and Ney 2003), 1 - (|links and sure| + |links and possible|) / (|links| + |sure|).
The gold set at hand is that of Bicici (2011): 100 sentences of Europarl, German to English, all links sure; one that
lies outside its sentence is left out. `--gold` adds sets in the format of the shared task of 2003 (Mihalcea and
Pedersen; its English-French set has 447 sentences): two texts, and a line `sentence source target S|P` for each link,
all counted from 1. Of the languages, as en-fr, AUGURY_DATA must have the news.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple, get_args

from augury.text import eflomal
from augury.text.align import MODELS, Sentences, align
from augury.text.bitext import encode
from augury.text.model import Links
from augury.text.symmetrise import Link, Symmetrisation, symmetrise
from augury.text.words import words

Rows = list[list[Link]]


class Gold(NamedTuple):
    """Sentences that a person has aligned."""

    sources: Sentences
    targets: Sentences
    sure: list[set[Link]]
    possible: list[set[Link]]
    """With those that are sure."""


class Error(NamedTuple):
    rate: float
    precision: float
    recall: float


class Cost(NamedTuple):
    reading: float
    whole: float


def measure(news: tuple[list[str], list[str]], gold: Gold, repeats: int) -> dict[str, tuple[Cost, dict[str, Error]]]:
    """What each aligner costs, and its errors in each direction and of what joins them."""
    aligners: dict[str, Callable[[Sentences, Sentences], Links]] = {
        name: lambda sources, targets, model=model: align(sources, targets, model()) for name, model in MODELS.items()
    }
    if importlib.util.find_spec("eflomal"):
        aligners["eflomal"] = eflomal.align
    align(gold.sources, gold.targets)  # what is loaded at first use
    costs: dict[str, list[Cost]] = {name: [] for name in aligners}
    errors: dict[str, dict[str, Error]] = {}
    for _ in range(repeats):
        for name, run in aligners.items():
            began = cpu()
            sources, targets = ([*map(words, side)] for side in news)
            sources, targets = [*sources, *gold.sources], [*targets, *gold.targets]
            split = cpu() - began
            links = run(sources, targets)
            whole, began = cpu() - began, cpu()
            if name in MODELS:
                encode(sources, targets)
            costs[name].append(Cost(split + cpu() - began, whole))
            errors[name] = errors_of({key: rows[-len(gold.sure) :] for key, rows in links.items()}, gold)
    medians = {name: Cost(*map(statistics.median, zip(*of_name, strict=True))) for name, of_name in costs.items()}
    return {name: (medians[name], errors[name]) for name in aligners}


def cpu() -> float:
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def errors_of(links: Links, gold: Gold) -> dict[str, Error]:
    """Of both directions and of what joins them."""
    pairs = list(zip(links["forward"], links["reverse"], strict=True))
    joined = {how: [symmetrise(*pair, how) for pair in pairs] for how in get_args(Symmetrisation)}
    return {name: error(rows, gold) for name, rows in {**links, **joined}.items()}


def error(rows: Rows, gold: Gold) -> Error:
    sure = sum(len(of_row & set(row)) for row, of_row in zip(rows, gold.sure, strict=True))
    possible = sum(len(of_row & set(row)) for row, of_row in zip(rows, gold.possible, strict=True))
    links, wanted = sum(map(len, rows)), sum(map(len, gold.sure))
    return Error(1 - (sure + possible) / (links + wanted), possible / links, sure / wanted)


def news(data: Path, source: str, target: str) -> tuple[list[str], list[str]]:
    """The news of two languages, of which files name the other one before English."""
    other = source if target == "en" else target
    header, *rows = (line.split("\t") for line in lines(data / f"wmt_news/news.{other}-en.tsv.gz"))
    kept = [row for row in rows if not row[0].startswith("newstestB")]  # its sources are those of newstest
    return [row[header.index(source)] for row in kept], [row[header.index(target)] for row in kept]


def gold_set(data: Path) -> Gold:
    """That of Bicici, German to English."""
    folder = data / "align_gold" / "de-en.bicici"
    sources, targets = ([line.split() for line in lines(folder / f"test.{language}")] for language in ("de", "en"))
    links = [[link.split("-") for link in row.split()] for row in lines(folder / "de-en.wa")]
    sure = [
        {(int(i), int(j)) for i, j in row if int(i) < len(source) and int(j) < len(target)}
        for source, target, row in zip(sources, targets, links, strict=True)
    ]
    return Gold(sources, targets, sure, sure)


def shared_task(source: Path, target: Path, links: Path) -> Gold:
    """A gold set in the format of the shared task of 2003."""
    sources, targets = ([re.sub("</?s[^>]*>", "", line).split() for line in lines(path)] for path in (source, target))
    sure: list[set[Link]] = [set() for _ in sources]
    possible: list[set[Link]] = [set() for _ in sources]
    for line in filter(str.strip, lines(links)):
        sentence, i, j, kind = line.split()
        for links_of_kind in (sure, possible) if kind == "S" else (possible,):
            links_of_kind[int(sentence) - 1].add((int(i) - 1, int(j) - 1))
    return Gold(sources, targets, sure, possible)


def lines(path: Path) -> list[str]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # as the shared task has it
    return text.removesuffix("\n").split("\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gold_help = "a further gold set"
    parser.add_argument(
        "--gold",
        nargs=4,
        action="append",
        default=[],
        help=gold_help,
        metavar=("LANGUAGES", "SOURCE", "TARGET", "LINKS"),
    )
    parser.add_argument("--repeats", type=int, default=1, help="rounds (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a gold set instead of tables")
    arguments = parser.parse_args()
    if "AUGURY_DATA" not in os.environ:
        parser.error("AUGURY_DATA must name the directory of the corpora")
    data = Path(os.environ["AUGURY_DATA"])
    os.environ["OMP_NUM_THREADS"] = "1"  # of eflomal
    sets = {"de-en": gold_set(data)}
    for languages, *paths in arguments.gold:
        sets[f"{languages} {paths[0]}"] = shared_task(*map(Path, paths))
    for name, gold in sets.items():
        text = news(data, *name.split()[0].split("-"))
        began = time.perf_counter()
        report = measure(text, gold, arguments.repeats)
        if arguments.json:
            rows = {
                aligner: {**cost._asdict(), "errors": {how: of._asdict() for how, of in errors.items()}}
                for aligner, (cost, errors) in report.items()
            }
            print(json.dumps({"gold": name, "repeats": arguments.repeats, "aligners": rows}), flush=True)
        else:
            print_table(name, len(text[0]), report)
            print(f"{time.perf_counter() - began:.0f} s\n", file=sys.stderr)


def print_table(name: str, pairs: int, report: dict[str, tuple[Cost, dict[str, Error]]]) -> None:
    ways = list(next(iter(report.values()))[1])
    print(f"{name}, learned from {pairs:,} pairs: CPU s (of them reading), AER % (precision/recall)")
    print(f"{'':12}{'CPU s':>14}" + "".join(f"{way:>21}" for way in ways))
    for aligner, (cost, errors) in report.items():
        cells = [f"{100 * of.rate:.1f} ({100 * of.precision:.0f}/{100 * of.recall:.0f})" for of in errors.values()]
        seconds = f"{cost.whole:.1f} ({cost.reading:.1f})"
        print(f"{aligner:12}{seconds:>14}" + "".join(f"{cell:>21}" for cell in cells))


if __name__ == "__main__":
    main()
