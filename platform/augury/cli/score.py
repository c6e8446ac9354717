"""`augury score`: hypotheses against references, with signatures and intervals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import lines_of, print_json
from augury.core.errors import UserError

HELP = "Score hypotheses against references, each metric with its signature and 95% interval."
EXAMPLE = """augury score hypotheses.txt references.txt --metrics bleu chrf++ ter
  augury score hypotheses.txt references.txt --metrics multi_bleu --language de"""


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    from augury.scoring.metrics import names

    parser.add_argument("hypotheses", type=Path, help="detokenised text, one sentence a line")
    parser.add_argument("references", type=Path, help="one reference a line")
    parser.add_argument("--sources", type=Path, metavar="FILE", help="what was translated, for metrics that read it")
    parser.add_argument("--language", help="of both sides, where a metric depends on it: en, de, zh, ...")
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=["bleu", "chrf"],
        metavar="METRIC",
        help=f"default: bleu chrf; there are {', '.join(names())}",
    )
    parser.add_argument("--samples", type=int, default=1000, help="bootstrap samples of the interval (default: 1000)")


def run(arguments: argparse.Namespace) -> int:
    from augury.scoring.metrics import lower_is_better
    from augury.scoring.scores import score

    scores = score(
        _lines(arguments.hypotheses),
        _lines(arguments.references),
        sources=_lines(arguments.sources) if arguments.sources else None,
        language=arguments.language,
        metrics=arguments.metrics,
        samples=arguments.samples,
    )
    if arguments.json:
        print_json({"scores": [result.plain() for result in scores]})
    else:
        for result in scores:
            least = "  (lower is better)" if lower_is_better(result.name) else ""
            interval = f"[{result.low:.2f}, {result.high:.2f}]"
            print(f"{result.name:<18} {result.value:6.2f}  {interval}  n {result.n}  {result.signature}{least}")
    return 0


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"no file '{path}'")
    with path.open(encoding="utf-8") as file:
        return lines_of(file)
