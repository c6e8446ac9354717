"""`augury score`: score hypotheses against references, with signatures and intervals."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import integer, print_json, read_file, read_lines
from augury.core.errors import UserError

HELP = (
    "Score hypotheses against references by several metrics, with signatures and 95% confidence "
    "intervals."
)
EXAMPLE = """augury score hypotheses.txt references.txt --metrics bleu chrf++ ter
  augury score hypotheses.txt references.txt --metrics multi_bleu --language de
  augury score --references first.en second.en < hypotheses.txt"""
STANDARD_INPUT = "-"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    from augury.scoring.registry import names

    parser.add_argument(
        "hypotheses",
        nargs="?",
        default=STANDARD_INPUT,
        help="detokenised text, one sentence per line (default: -, standard input)",
    )
    parser.add_argument(
        "reference_files",
        nargs="*",
        metavar="references",
        help="one reference per line; several files: several references for every hypothesis",
    )
    parser.add_argument(
        "--references",
        nargs="+",
        default=[],
        metavar="FILE",
        help="files of references, the same as behind the hypotheses",
    )
    parser.add_argument(
        "--sources", type=Path, metavar="FILE", help="source sentences, for metrics that use them"
    )
    parser.add_argument(
        "--language", help="target language, for metrics that depend on it: en, de, zh, ..."
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=["bleu", "chrf"],
        metavar="METRIC",
        help=f"metrics to compute: {', '.join(names())} (default: bleu chrf)",
    )
    parser.add_argument(
        "--samples",
        type=integer,
        default=1000,
        help="bootstrap samples for intervals (default: 1000)",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.scoring.registry import lower_is_better
    from augury.scoring.scores import score

    files = [*arguments.reference_files, *arguments.references]
    if not files:
        raise UserError(
            "no references are given: augury score HYPOTHESES REFERENCES, or --references FILE for "
            "hypotheses from standard input"
        )
    if arguments.hypotheses == STANDARD_INPUT:
        hypotheses = read_lines(sys.stdin)
    else:
        hypotheses = read_file(Path(arguments.hypotheses))
    references, *more = [read_file(Path(file)) for file in files]
    scores = score(
        hypotheses,
        references,
        more_references=more,
        sources=read_file(arguments.sources, side=0) if arguments.sources else None,
        language=arguments.language,
        metrics=arguments.metrics,
        samples=arguments.samples,
    )
    if arguments.json:
        print_json({"scores": [result.to_dict() for result in scores]})
    else:
        for result in scores:
            direction = "  (lower is better)" if lower_is_better(result.name) else ""
            interval = f"[{result.low:.2f}, {result.high:.2f}]"
            print(
                f"{result.name:<18} {result.value:6.2f}  {interval}  n {result.n}  "
                f"{result.signature}{direction}"
            )
    return 0
