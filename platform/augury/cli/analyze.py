"""`augury analyze`: analyse trained runs beyond scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from augury.cli.common import RUN_HELP, add_overrides, add_storage, print_json, whole_number
from augury.core import config
from augury.core.errors import UserError, unknown
from augury.core.messages import say
from augury.core.plugin_files import file_of, is_path
from augury.reporting.find import find as find_runs

EXAMPLE = """augury analyze my/CipherDAug/1
  augury analyze my/baseline my/CipherDAug --storage results --which buckets correlation
  augury analyze my/baseline --which hallucinations --set hallucinations.subwords=20"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    text = f"{RUN_HELP}; several runs are compared with the first"
    add("runs", nargs="+", metavar="RUN", help=text)
    add_storage(parser)
    text = "names of analyses, or paths of files with your own (default: all that have a name)"
    add("--which", nargs="+", metavar="ANALYSIS", help=text)
    text = "test set, or valid (default: the first that all runs share)"
    add("--test", metavar="NAME", help=text)
    text = "maximum number of test sentences, a random sample (default: 1000)"
    add("--sentences", type=whole_number, default=1000, metavar="N", help=text)
    text = "a setting of an analysis, such as hallucinations.subwords=20; repeatable"
    add_overrides(parser, "ANALYSIS.KEY=VALUE", text)


def run(arguments: argparse.Namespace) -> int:
    folders = [find_runs(name, arguments.storage)[0] for name in arguments.runs]
    if len(set(folders)) < len(folders):
        raise UserError("a run is given twice: give each run once")
    from augury.analysis.analysis import ANALYSES, analyse, find, folder_of
    from augury.analysis.system import open_systems
    from augury.reporting import rendering

    asked = arguments.which or ANALYSES.names()
    for name in asked:  # before settings, which name them
        ANALYSES.find(name)
    named = {file_of(name).stem if is_path(name) else name: name for name in asked}
    settings: dict[str, dict[str, Any]] = {name: {} for name in named}
    for key, value in config.parse_assignments(arguments.assignments).items():
        name, _, setting = key.partition(".")
        if name not in settings:
            raise unknown("analysis in --set", name, settings)
        settings[name][setting] = value
    chosen = [find(word, settings[name]) for name, word in named.items()]
    systems = open_systems(folders, test=arguments.test, sentences=arguments.sentences)
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
    if arguments.json:
        print_json(results)
    return 0 if results else 1
