"""Measure the time to find all fuzzy matches in a text, by number of sentences.

    python benchmarks/fuzzy.py [--sizes 5000 20000 50000 100000] [--threshold 0.5] [--norm min]
        [--plot FILE] [--json] [--languages de fr en]

    rapidfuzz     rapidfuzz.process.cdist over all pairs, tokens as code points
    by length     the same over pairs whose lengths permit a match, with a score cutoff
    augury        augury.text.fuzzy.index: builds the index, looks up sentences in blocks of 5,000

The text is Tatoeba in AUGURY_DATA: distinct sentences of some languages (--languages), shuffled;
German has 158,000, with French and English there are 300,000. All methods must find the same pairs,
in both orders, which is asserted. One thread each; CPU seconds, to be robust against other load.
Methods that compare all pairs stop at --brute sentences. The exponent of growth since the previous
size is in brackets; that of the number of pairs itself is about 2.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from augury.text.fuzzy.index import FuzzyIndex, Limit

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


def measure(tokens: Tokens, sizes: list[int], limit: Limit, brute: int) -> list[dict[str, Any]]:
    rows = []
    for size in sizes:
        row: dict[str, Any] = {"sentences": size}
        for name, contender in CONTENDERS.items():
            if name != "augury" and size > brute:
                continue
            start = time.process_time()
            pairs = contender(tokens[:size], limit)
            row[name] = time.process_time() - start
            assert row.setdefault("pairs", pairs) == pairs, f"{name} finds different pairs"
        rows.append(row)
    return rows


def exponent(row: dict[str, Any], previous: dict[str, Any] | None, name: str) -> float | None:
    """Return the exponent of the growth in time with the number of sentences."""
    if previous is None or name not in row or name not in previous:
        return None
    return math.log(row[name] / previous[name]) / math.log(row["sentences"] / previous["sentences"])


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import plotly.graph_objects as go

    figure = go.Figure(
        layout={
            "xaxis_title": "sentences",
            "yaxis_title": "CPU seconds",
            "template": "plotly_white",
        }
    )
    for name in CONTENDERS:
        measured = [row for row in rows if name in row]
        points = {"x": [row["sentences"] for row in measured], "y": [row[name] for row in measured]}
        figure.add_trace(go.Scatter(name=name, mode="lines+markers", **points))
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    figure.write_html(path, include_plotlyjs="cdn")


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 50_000, 100_000])
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--norm", choices=["min", "max"], default="min")
    parser.add_argument(
        "--brute", type=int, default=50_000, help="maximum sentences for all pairs (default 50000)"
    )
    parser.add_argument("--languages", choices=FILES, nargs="+", default=["de"])
    parser.add_argument("--plot", type=Path, help="write the growth as HTML")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    arguments = parser.parse_args()
    limit = Limit(arguments.threshold, arguments.norm)
    tokens = text(Path(os.environ["AUGURY_DATA"]) / "tatoeba", arguments.languages)
    rows = measure(
        tokens, sorted({min(size, len(tokens)) for size in arguments.sizes}), limit, arguments.brute
    )
    if arguments.plot:
        plot(rows, arguments.plot)
    if arguments.json:
        print(
            json.dumps(
                {
                    "languages": arguments.languages,
                    "threshold": limit.threshold,
                    "norm": limit.norm,
                    "rows": rows,
                },
                indent=1,
            )
        )
        return
    languages = " ".join(arguments.languages)
    print(
        f"Tatoeba {languages}, threshold {limit.threshold}, norm {limit.norm}; CPU seconds "
        "(exponent)"
    )
    print(f"{'sentences':>10}{'pairs':>12}" + "".join(f"{name:>18}" for name in CONTENDERS))
    for row, previous in zip(rows, [None, *rows[:-1]], strict=True):
        cells = ""
        for name in CONTENDERS:
            power = exponent(row, previous, name)
            cells += f"{row[name]:10.2f}" if name in row else f"{'-':>10}"
            cells += f"{'' if power is None else f'({power:.2f})':>8}"
        print(f"{row['sentences']:>10,}{row['pairs']:>12,}{cells}")


if __name__ == "__main__":
    main()
