"""`augury score`: hypotheses against references, with signatures and intervals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import lines_of, print_json
from augury.errors import UserError

HELP = "Score hypotheses against references, each metric with its signature and 95% interval."
EXAMPLE = "augury score hypotheses.txt references.txt --language en --metrics bleu chrf multi_bleu"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("hypotheses", type=Path, help="detokenised text, one sentence a line")
    parser.add_argument("references", type=Path, help="one reference a line")
    parser.add_argument("--language", required=True, help="language of both, for the tokenisers: en, de, fr, ...")
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=["bleu", "chrf"],
        metavar="METRIC",
        help="bleu, chrf, multi_bleu, multi_bleu_detok, compound_bleu; each also lower-cased as bleu:lower",
    )
    parser.add_argument("--samples", type=int, default=1000, help="bootstrap samples of the interval (default: 1000)")


def run(arguments: argparse.Namespace) -> int:
    from augury.scoring.scores import score

    scores = score(
        _lines(arguments.hypotheses),
        _lines(arguments.references),
        language=arguments.language,
        metrics=arguments.metrics,
        samples=arguments.samples,
    )
    if arguments.json:
        print_json({"scores": [each.plain() for each in scores]})
    else:
        for each in scores:
            print(f"{each.name:<18} {each.value:6.2f}  [{each.low:.2f}, {each.high:.2f}]  n {each.n}  {each.signature}")
    return 0


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"no file '{path}'")
    with path.open(encoding="utf-8") as file:
        return lines_of(file)
