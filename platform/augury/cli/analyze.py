"""`augury analyze`: analyse trained runs beyond scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from augury.cli import analyze_attack
from augury.cli.common import RUN_HELP, add_storage, flag_arguments, flag_of, integer, print_json
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.analysis.system import System

HELP = (
    "Analyse trained runs: hallucinations, rare subwords, encoder states, words and lengths, views."
)
EXAMPLE = """augury analyze my/CipherDAug/1
  augury analyze my/baseline my/CipherDAug --storage results --which buckets correlation
  augury analyze attack my/baseline/1"""
SETTING = "setting:"
"""Before the settings of analyses among the arguments."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    if analyze_attack.selected(argv):
        analyze_attack.configure(parser)
        return
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help=f"{RUN_HELP}; several runs are compared with the first. Instead of runs, "
        f"`{analyze_attack.WORD}` chooses the radius of an attack on a run: see "
        f"`augury analyze {analyze_attack.WORD} --help`",
    )
    add_storage(parser)
    parser.add_argument(
        "--which",
        nargs="+",
        metavar="ANALYSIS",
        help="names of analyses, or paths of files with your own (default: all that have a name); "
        "their settings are flags too: add --help to see them",
    )
    parser.add_argument(
        "--test", metavar="NAME", help="test set, or valid (default: the first that all runs share)"
    )
    parser.add_argument(
        "--sentences",
        type=integer,
        default=1000,
        help="maximum number of test sentences, a random sample (default: 1000)",
    )
    parser.add_argument(
        "--beam", type=integer, help="beam size of all translations (default: the experiment's)"
    )
    parser.add_argument(
        "--executor",
        choices=["auto", "local", "ray"],
        help="where to translate (default: the experiment's)",
    )
    named = _named(argv)
    if named or not {"-h", "--help"}.intersection(argv):
        _add_settings(parser, named)


def _named(argv: Sequence[str]) -> list[str]:
    """Return the analyses that arguments name after `--which`."""
    words = list(argv)
    if "--which" not in words:
        return []
    return list(takewhile(lambda word: word[:2] != "--", words[words.index("--which") + 1 :]))


def _add_settings(parser: argparse.ArgumentParser, named: Sequence[str]) -> None:
    """Add the settings of analyses as flags: of all, unless some are named."""
    from augury.reporting.analyses import analysis

    added: set[str] = set()
    for name in named or analysis.ANALYSES.names():
        try:
            schema = analysis.schema(name)
        except UserError:  # `run` reports it
            continue
        group = parser.add_argument_group(f"settings of {name}")
        descriptions = schema.descriptions()
        for key, field in schema.model_fields.items():
            if key == "analysis" or key in added:
                continue
            default = field.get_default()
            usual = f" (default: {default})" if default not in (None, False) else ""
            group.add_argument(
                flag_of(key),
                default=argparse.SUPPRESS,
                dest=f"{SETTING}{key}",
                help=f"{descriptions.get(key, '')}{usual}".replace("%", "%%"),
                **flag_arguments(field.annotation),
            )
            added.add(key)


def run(arguments: argparse.Namespace) -> int:
    if hasattr(arguments, "radii"):
        return analyze_attack.run(arguments)
    from augury.analysis.system import check_task, open_systems
    from augury.cli.common import open_run

    for name in ("sentences", "beam"):
        if getattr(arguments, name) is not None and getattr(arguments, name) < 1:
            raise UserError(f"--{name} {getattr(arguments, name)}: give 1 or more")
    folders = [open_run(name, arguments.storage)[1] for name in arguments.runs]
    if len(set(folders)) < len(folders):
        raise UserError("a run is given twice: give each run once")
    for folder in folders:  # before the analyses, whose import takes seconds
        check_task(folder)
    given = {
        key.removeprefix(SETTING): value
        for key, value in vars(arguments).items()
        if key.startswith(SETTING)
    }
    from augury.reporting import rendering
    from augury.reporting.analyses.analysis import ANALYSES, analyse, find, folder_of, schema

    chosen = [
        find(name, {key: given[key] for key in schema(name).model_fields if key in given})
        for name in arguments.which or ANALYSES.names()
    ]
    systems = open_systems(
        folders,
        test=arguments.test,
        sentences=arguments.sentences,
        executor=arguments.executor,
        beam=arguments.beam,
    )
    results: dict[str, Any] = {}
    for analysis in chosen:
        name = analysis.analysis
        try:
            report = analyse(analysis, systems)
        except UserError as error:
            if arguments.which:
                raise
            say(f"{name} is skipped: {error}")
            continue
        pages = [folder_of(systems, system).location(f"{name}.html") for system in systems]
        results[name] = {"answer": report.answer, **report.data, "pages": pages}
        if not arguments.json:
            print(f"{rendering.text(report)}page     {pages[0]}\n", flush=True)
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
