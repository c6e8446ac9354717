"""`augury analyze`: analyse trained runs beyond scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from augury.cli.common import (
    RUN_HELP,
    add_executor,
    add_storage,
    flag_arguments,
    flag_of,
    open_run,
    print_json,
    whole_number,
)
from augury.core.errors import UserError
from augury.core.progress import say

EXAMPLE = """augury analyze my/CipherDAug/1
  augury analyze my/baseline my/CipherDAug --storage results --which buckets correlation
  augury analyze my/baseline --which attack --radii 0.002 0.005 0.01"""
SETTING = "setting:"
"""Before the settings of analyses among the arguments."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help=f"{RUN_HELP}; several runs are compared with the first",
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
        type=whole_number,
        default=1000,
        help="maximum number of test sentences, a random sample (default: 1000)",
    )
    parser.add_argument(
        "--beam",
        type=whole_number,
        help="beam size of all translations (default: the experiment's)",
    )
    add_executor(parser)
    words = list(argv)
    named: list[str] = []
    if "--which" in words:
        named += takewhile(lambda word: word[:2] != "--", words[words.index("--which") + 1 :])
    elif {"-h", "--help"}.intersection(words):  # analyses take seconds to import
        return
    from augury.analysis import analysis

    added = {"analysis"}
    for name in named or analysis.ANALYSES.names():
        try:
            schema = analysis.schema(name)
        except UserError:  # `run` reports it
            continue
        group = parser.add_argument_group(f"settings of {name}")
        descriptions = schema.descriptions()
        for key, field in schema.model_fields.items():
            if key in added:
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
    folders = [open_run(name, arguments.storage)[1] for name in arguments.runs]
    if len(set(folders)) < len(folders):
        raise UserError("a run is given twice: give each run once")
    from augury.analysis.analysis import ANALYSES, analyse, find, folder_of, schema
    from augury.analysis.system import open_systems
    from augury.reporting import rendering
    from augury.tracking.tracker import Tracker

    chosen = []
    for name in arguments.which or ANALYSES.names():
        keys = {key: f"{SETTING}{key}" for key in schema(name).model_fields}
        given = {key: vars(arguments)[of] for key, of in keys.items() if of in arguments}
        chosen.append(find(name, given))
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
    for system in systems:
        with Tracker(system.run.experiment.tracking, system.run.store) as tracker:
            tracker.extend(system.run.folder)
    if arguments.json:
        print_json(results)
    return 0 if results else 1
