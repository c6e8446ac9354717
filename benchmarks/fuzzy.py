"""Measure the time to find all fuzzy matches in a text, by number of sentences.

    python -m benchmarks.fuzzy [--sizes 5000 20000 50000 100000] [--threshold 0.5] [--norm min]
        [--plot FILE] [--json] [--languages de fr en]

    rapidfuzz     rapidfuzz.process.cdist over all pairs, tokens as code points
    by length     the same over pairs whose lengths permit a match, with a score cutoff
    augury        augury.text.fuzzy: builds the index, looks up sentences in blocks of 5,000

The text is Tatoeba in AUGURY_DATA: distinct sentences of some languages (--languages), shuffled;
German has 158,000, with French and English there are 300,000. All methods must find the same pairs,
in both orders, which is asserted. One thread each; CPU seconds, to be robust against other load.
Methods that compare all pairs stop at --brute sentences. `exponent` is that of the growth since the
previous size; that of the number of pairs itself is about 2. `times` is the time relative to that
of augury.
"""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from augury.text.fuzzy import FuzzyIndex, Limit
from benchmarks import frame

BLOCK = 5_000

Tokens = list[list[str]]


def augury(tokens: Tokens, limit: Limit) -> int:
    index = FuzzyIndex(tokens)
    blocks = range(0, len(tokens), BLOCK)
    return sum(len(index.similar(tokens[start : start + BLOCK], limit).queries) for start in blocks)


def all_pairs(tokens: Tokens, limit: Limit) -> int:
    codes = encoded(tokens)
    lengths = np.array([*map(len, tokens)])
    longest = int(lengths.max()) + 1
    max_edits = np.array([[limit.edits(a, b) for b in range(longest)] for a in range(longest)])
    count = 0
    for start in range(0, len(tokens), 500):
        block = slice(start, start + 500)
        distances = cdist(
            codes[block], codes, scorer=Levenshtein.distance, dtype=np.uint8, workers=1
        )
        count += int(
            ((distances > 0) & (distances <= max_edits[lengths[block, None], lengths])).sum()
        )
    return count


def by_length(tokens: Tokens, limit: Limit) -> int:
    groups: dict[int, list[str]] = {}
    for code in encoded(tokens):
        groups.setdefault(len(code), []).append(code)
    count = 0
    for query_length, queries in groups.items():
        for length, sentences in groups.items():
            edits = limit.edits(query_length, length)
            if edits < max(1, abs(query_length - length)):
                continue
            for start in range(0, len(queries), 500):
                block = queries[start : start + 500]
                distances = cdist(
                    block,
                    sentences,
                    scorer=Levenshtein.distance,
                    score_cutoff=edits,
                    dtype=np.uint8,
                    workers=1,
                )
                count += int(((distances > 0) & (distances <= edits)).sum())
    return count


CONTENDERS: dict[str, Callable[[Tokens, Limit], int]] = {
    "rapidfuzz": all_pairs,
    "by length": by_length,
    "augury": augury,
}


def encoded(tokens: Tokens) -> list[str]:
    codes: dict[str, str] = {}
    sentences = []
    for words in tokens:
        sentences.append("".join(codes.setdefault(word, chr(len(codes))) for word in words))
    return sentences


FILES = {"de": "tatoeba.de-en.tsv.gz", "fr": "tatoeba.fr-en.tsv.gz", "en": "tatoeba.de-en.tsv.gz"}


def text(directory: Path, languages: list[str]) -> Tokens:
    """Return distinct sentences in random order."""
    lines: dict[str, None] = {}
    for language in languages:
        with gzip.open(directory / FILES[language], "rt", encoding="utf-8") as file:
            column = next(file).split().index(language)
            lines |= dict.fromkeys(line.rstrip("\n").split("\t")[column] for line in file)
    sentences = list(lines)
    np.random.default_rng(1).shuffle(sentences)
    return [line.split() for line in sentences]


def measure(tokens: Tokens, sizes: list[int], limit: Limit, brute: int) -> list[frame.Row]:
    """Return the CPU seconds of every contender at every size, and how they grow."""
    rows: list[frame.Row] = []
    seconds: dict[str, list[tuple[int, float]]] = {name: [] for name in CONTENDERS}
    for size in sizes:
        counts = set()
        for name in sorted(CONTENDERS, key=lambda name: name != "augury"):
            if name != "augury" and size > brute:
                continue
            contender = CONTENDERS[name]
            spent, pairs = frame.clock(
                lambda contender=contender, size=size: contender(tokens[:size], limit)
            )
            counts.add(pairs)
            assert len(counts) == 1, f"{name} finds different pairs"
            seconds[name].append((size, spent.cpu))
            rows.append(
                {
                    "name": name,
                    "sentences": size,
                    "pairs": pairs,
                    "CPU s": spent.cpu,
                    "exponent": exponent(*seconds[name][-2:]),
                    "times": spent.cpu / seconds["augury"][-1][1],
                }
            )
    return rows


def exponent(*points: tuple[int, float]) -> float | None:
    """Return the exponent of the growth in time with the number of sentences, from two points."""
    if len(points) < 2:
        return None
    (smaller, before), (larger, after) = points
    return math.log(after / before) / math.log(larger / smaller)


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 50_000, 100_000])
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--norm", choices=["min", "max"], default="min")
    parser.add_argument(
        "--brute", type=int, default=50_000, help="maximum sentences for all pairs (default 50000)"
    )
    parser.add_argument("--languages", choices=FILES, nargs="+", default=["de"])
    arguments = parser.parse_args()
    limit = Limit(arguments.threshold, arguments.norm)
    tokens = text(Path(os.environ["AUGURY_DATA"]) / "tatoeba", arguments.languages)
    sizes = sorted({min(size, len(tokens)) for size in arguments.sizes})
    rows = measure(tokens, sizes, limit, arguments.brute)
    setting = {"text": f"Tatoeba {' '.join(arguments.languages)}", **limit._asdict()}
    frame.report(arguments, setting, rows, over="sentences")


if __name__ == "__main__":
    main()
