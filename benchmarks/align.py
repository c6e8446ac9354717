"""Measure the CPU time and alignment error rate of word aligners.

    python -m benchmarks.align [--gold LANGUAGES SOURCE TARGET LINKS]... [--pairs 21000]
        [--repeats 1] [--json]

Needs AUGURY_DATA, the directory of the corpora; eflomal is included if it is installed. Every
aligner is trained on WMT news in the two languages, tokenised as by `augury align`, and on the gold
text, which is already tokenised.

CPU seconds are of one thread, from text to links of both directions, including child processes,
without the start of the interpreter; those of reading are from text to the token ids used in
training. Medians over rounds.

The error is the alignment error rate (Och and Ney, 2003),
1 - (|links and sure| + |links and possible|) / (|links| + |sure|). The default gold set is that of
Bicici (2011): 100 sentences of Europarl, German to English, all links sure; one link outside its
sentence is excluded. `--gold` adds sets in the format of the 2003 shared task (Mihalcea and
Pedersen; its English-French set has 447 sentences): two texts, and a line
`sentence source target S|P` per link, all counted from 1. AUGURY_DATA must have news in their
LANGUAGES, such as en-fr.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, get_args

from augury.core.words import words
from augury.text.alignment import eflomal
from augury.text.alignment.aligner import MODELS, Sentences, align
from augury.text.alignment.bitext import encode
from augury.text.alignment.model import Links
from augury.text.alignment.symmetrise import Link, Symmetrisation, symmetrise
from benchmarks import frame

Rows = list[list[Link]]


class Gold(NamedTuple):
    """Manually aligned sentences."""

    sources: Sentences
    targets: Sentences
    sure: list[set[Link]]
    possible: list[set[Link]]
    """Includes sure links."""


class Error(NamedTuple):
    rate: float
    precision: float
    recall: float


class Cost(NamedTuple):
    reading: float
    total: float


def measure(
    news: tuple[list[str], list[str]], gold: Gold, repeats: int
) -> dict[str, tuple[Cost, dict[str, Error]]]:
    """Return the cost of each aligner and its errors by direction and symmetrisation."""
    aligners: dict[str, Callable[[Sentences, Sentences], Links]] = {
        name: lambda sources, targets, model=model: align(sources, targets, model())
        for name, model in MODELS.items()
    }
    if importlib.util.find_spec("eflomal"):
        aligners["eflomal"] = eflomal.align
    align(gold.sources, gold.targets)  # warm up lazy imports
    costs: dict[str, list[Cost]] = {name: [] for name in aligners}
    errors: dict[str, dict[str, Error]] = {}
    for _ in range(repeats):
        for name, run in aligners.items():
            start = frame.cpu()
            sources, targets = ([*map(words, side)] for side in news)
            sources, targets = [*sources, *gold.sources], [*targets, *gold.targets]
            tokenisation = frame.cpu() - start
            links = run(sources, targets)
            total, start = frame.cpu() - start, frame.cpu()
            if name in MODELS:
                encode(sources, targets)
            costs[name].append(Cost(tokenisation + frame.cpu() - start, total))
            errors[name] = errors_of(
                {key: rows[-len(gold.sure) :] for key, rows in links.items()}, gold
            )
    medians = {
        name: Cost(*map(statistics.median, zip(*samples, strict=True)))
        for name, samples in costs.items()
    }
    return {name: (medians[name], errors[name]) for name in aligners}


def errors_of(links: Links, gold: Gold) -> dict[str, Error]:
    """Return the errors of both directions and of every symmetrisation."""
    pairs = list(zip(links["forward"], links["reverse"], strict=True))
    symmetrised: dict[str, list[list[Link]]] = {}
    for method in get_args(Symmetrisation):
        symmetrised[method] = [symmetrise(*pair, method) for pair in pairs]
    return {name: error(rows, gold) for name, rows in {**links, **symmetrised}.items()}


def error(rows: Rows, gold: Gold) -> Error:
    sure = sum(len(gold_row & set(row)) for row, gold_row in zip(rows, gold.sure, strict=True))
    possible = sum(
        len(gold_row & set(row)) for row, gold_row in zip(rows, gold.possible, strict=True)
    )
    links, all_sure = sum(map(len, rows)), sum(map(len, gold.sure))
    return Error(1 - (sure + possible) / (links + all_sure), possible / links, sure / all_sure)


def news(data: Path, source: str, target: str) -> tuple[list[str], list[str]]:
    """Return WMT news in two languages, one of which is English and comes last in file names."""
    other = source if target == "en" else target
    header, *rows = (line.split("\t") for line in lines(data / f"wmt_news/news.{other}-en.tsv.gz"))
    kept = [
        row for row in rows if not row[0].startswith("newstestB")
    ]  # its sources are those of newstest
    return [row[header.index(source)] for row in kept], [row[header.index(target)] for row in kept]


def gold_set(data: Path) -> Gold:
    """Return the gold set of Bicici, German to English."""
    folder = data / "align_gold" / "de-en.bicici"
    sources = [line.split() for line in lines(folder / "test.de")]
    targets = [line.split() for line in lines(folder / "test.en")]
    sure = []
    for source, target, row in zip(sources, targets, lines(folder / "de-en.wa"), strict=True):
        links = [map(int, link.split("-")) for link in row.split()]
        sure.append({(i, j) for i, j in links if i < len(source) and j < len(target)})
    return Gold(sources, targets, sure, sure)


def shared_task(source: Path, target: Path, links: Path) -> Gold:
    """Return a gold set in the format of the 2003 shared task."""
    sources = [re.sub("</?s[^>]*>", "", line).split() for line in lines(source)]
    targets = [re.sub("</?s[^>]*>", "", line).split() for line in lines(target)]
    sure: list[set[Link]] = [set() for _ in sources]
    possible: list[set[Link]] = [set() for _ in sources]
    for line in filter(str.strip, lines(links)):
        sentence, i, j, kind = line.split()
        for gold_links in (sure, possible) if kind == "S" else (possible,):
            gold_links[int(sentence) - 1].add((int(i) - 1, int(j) - 1))
    return Gold(sources, targets, sure, possible)


def lines(path: Path) -> list[str]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # the encoding of the shared task
    return text.removesuffix("\n").split("\n")


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument(
        "--gold",
        nargs=4,
        action="append",
        default=[],
        help="an additional gold set; repeatable",
        metavar=("LANGUAGES", "SOURCE", "TARGET", "LINKS"),
    )
    parser.add_argument("--pairs", type=int, help="pairs of news at most (default all)")
    parser.add_argument("--repeats", type=int, default=1, help="rounds (default 1)")
    arguments = parser.parse_args()
    if "AUGURY_DATA" not in os.environ:
        parser.error("AUGURY_DATA must name the directory of the corpora")
    data = Path(os.environ["AUGURY_DATA"])
    os.environ["OMP_NUM_THREADS"] = "1"  # for eflomal
    sets = {"de-en": gold_set(data)}
    for languages, *paths in arguments.gold:
        sets[f"{languages} {paths[0]}"] = shared_task(*map(Path, paths))
    rows: list[frame.Row] = []
    for name, gold in sets.items():
        sources, targets = news(data, *name.split()[0].split("-"))
        text = sources[: arguments.pairs], targets[: arguments.pairs]
        for aligner, (cost, errors) in measure(text, gold, arguments.repeats).items():
            row = {
                "gold": name,
                "name": aligner,
                "pairs": len(text[0]),
                "CPU s": cost.total,
                "of which reading": cost.reading,
            }
            rows.append(row | {f"{method} %": 100 * of.rate for method, of in errors.items()})
    frame.report(arguments, {"rounds": arguments.repeats}, rows)


if __name__ == "__main__":
    main()
