"""`augury analyze`: analyse trained runs beyond scores, or the keys of a cipher before training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from augury.cli import analyze_attack, analyze_keys
from augury.cli.common import print_json
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.analysis.system import System

HELP = (
    "Analyse trained runs: hallucinations, rare subwords, encoder states, words and lengths, "
    "views; or cipher keys."
)
EXAMPLE = """augury analyze results/runs/ADDRESS/seed-1
  augury analyze BASELINE CIPHERDAUG --storage results --which buckets correlation
  augury analyze attack BASELINE/seed-1
  augury analyze keys search_spaces/experiments/multi30k_5k_cipherdaug.yaml --keys 1 2 3 5"""
NAMES = ("hallucinations", "rare_subwords", "correlation", "buckets", "outputs")


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    if analyze_keys.selected(argv):
        analyze_keys.configure(parser)
        return
    if analyze_attack.selected(argv):
        analyze_attack.configure(parser)
        return
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folder (runs/ADDRESS/seed-N), or an address in --storage; several "
        f"runs are compared with the first. Instead of runs, `{analyze_keys.WORD}` analyses "
        f"cipher keys before training, and `{analyze_attack.WORD}` chooses the radius of an "
        f"attack on a run: see `augury analyze {analyze_keys.WORD} --help`",
    )
    parser.add_argument(
        "--storage", default="results", help="storage of runs given by address (default: results)"
    )
    parser.add_argument(
        "--which", nargs="+", choices=NAMES, metavar="ANALYSIS", help=f"default: {' '.join(NAMES)}"
    )
    parser.add_argument(
        "--test", metavar="NAME", help="test set, or valid (default: the first that all runs share)"
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=1000,
        help="maximum number of test sentences, a random sample (default: 1000)",
    )
    parser.add_argument(
        "--beam", type=int, help="beam size of all translations (default: the experiment's)"
    )
    parser.add_argument(
        "--executor",
        choices=["auto", "local", "ray"],
        help="where to translate (default: the experiment's)",
    )
    specific = parser.add_argument_group("settings of single analyses")
    specific.add_argument(
        "--subwords",
        type=int,
        default=50,
        help="hallucinations: number of frequent subwords to insert before a source (default: 50)",
    )
    specific.add_argument(
        "--compare-to",
        choices=["base", "reference"],
        default="base",
        help="hallucinations: compare a perturbed output with the unperturbed one (base, default) "
        "or the reference",
    )
    specific.add_argument(
        "--normalise-weights",
        action="store_true",
        help="hallucinations: adjusted BLEU with weights that sum to 1",
    )
    specific.add_argument(
        "--pooled", action="store_true", help="rare_subwords: count over all views together"
    )
    specific.add_argument(
        "--texts",
        nargs="+",
        metavar="TEXT",
        help="rare_subwords: source sentences whose pieces are shown too",
    )
    specific.add_argument(
        "--counted-in",
        choices=["train", "references"],
        default="train",
        help="buckets: frequencies in the training target (default) or in the test set's "
        "references",
    )


def run(arguments: argparse.Namespace) -> int:
    if hasattr(arguments, "keys"):
        return analyze_keys.run(arguments)
    if hasattr(arguments, "radii"):
        return analyze_attack.run(arguments)
    from augury.analysis.system import open_systems
    from augury.cli.common import open_run
    from augury.reporting.analyses import catalogue

    for name in ("sentences", "subwords", "beam"):
        if getattr(arguments, name) is not None and getattr(arguments, name) < 1:
            raise UserError(f"--{name} {getattr(arguments, name)}: give 1 or more")
    folders = [open_run(name, arguments.storage)[1] for name in arguments.runs]
    if len(set(folders)) < len(folders):
        raise UserError("a run is given twice: give each run once")
    systems = open_systems(
        folders,
        test=arguments.test,
        sentences=arguments.sentences,
        executor=arguments.executor,
        beam=arguments.beam,
    )
    settings = vars(arguments)
    results: dict[str, Any] = {}
    for name in arguments.which or NAMES:
        try:
            report = catalogue.analyse(name, systems, settings)
        except UserError as error:
            if arguments.which:
                raise
            say(f"{name} is skipped: {error}")
            continue
        pages = [f"{catalogue.folder_of(systems, system).uri}/{report.page}" for system in systems]
        results[name] = {"answer": report.answer, **report.content, "pages": pages}
        if not arguments.json:
            print(f"{report.text()}page     {pages[0]}\n", flush=True)
    _track(systems)
    if arguments.json:
        print_json(results)
    return 0 if results else 1


def _track(systems: Sequence[System]) -> None:
    """Log the analyses to the runs in MLflow if tracking is enabled."""
    from augury.tracking.tracker import Tracker

    for system in systems:
        with Tracker(system.run.experiment.tracking, system.run.store) as tracker:
            tracker.extend(system.run.folder)
