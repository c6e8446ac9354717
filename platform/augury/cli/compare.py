"""`augury compare`: test whether differences between systems are real, and report their cost."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augury.cli.common import RESULTS, add_format, print_json, read_lines
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.store import Folder
from augury.corpora.files import read_sentences

if TYPE_CHECKING:
    from augury.reporting.results import SystemResult

EXAMPLE = """augury compare my/baseline my/CipherDAug --storage results --format latex
  augury compare hypotheses.txt --references test.en --metrics bleu chrf++ ter
  augury compare base-1.txt,base-2.txt cipher-1.txt,cipher-2.txt --references test.en"""
STANDARD_INPUT = "-"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    add(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="EXPERIMENT/SYSTEM, or with one seed /SEED; its folder or address; an experiment or a "
        "sweep, with all its systems; with --references a file of hypotheses, several seeds "
        "separated by commas, or - for standard input",
    )
    add("--storage", default=RESULTS, metavar="URI", help=f"where runs are (default: {RESULTS})")
    text = "what the others are compared with, by its name (default: the first)"
    add("--reference", metavar="NAME", help=text)
    text = "of files: their references or labels, in one file or several"
    add("--references", type=Path, nargs="+", metavar="FILE", help=text)
    add("--sources", type=Path, metavar="FILE", help="of files: sources, for metrics that use them")
    add("--language", metavar="CODE", help="of files: target language, if a metric depends on it")
    text = "of files: of `augury list metrics`, deciding one first (default: bleu chrf)"
    add("--metrics", nargs="+", metavar="METRIC", help=text)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import rendering
    from augury.reporting.comparison import compare_all
    from augury.reporting.experiment import compared
    from augury.reporting.find import common_tests, load_systems, with_reference

    for flag in ("metrics", "language", "sources"):
        if getattr(arguments, flag) is not None and arguments.references is None:
            raise UserError(
                f"--{flag} is for files of hypotheses, with --references; runs have the scores "
                "that their experiment names (scoring.metrics): leave it out"
            )
    if arguments.references:
        systems = _score_files(arguments)
    else:
        for system in arguments.systems:
            if system == STANDARD_INPUT or all(map(os.path.isfile, system.split(","))):
                raise UserError(
                    f"'{system}' is a file of hypotheses: give its references too, --references "
                    "FILE"
                )
        systems = load_systems(arguments.systems, arguments.storage)
    if arguments.reference is not None:
        systems = with_reference(systems, arguments.reference)
    comparisons = compare_all(systems, common_tests(systems))
    report = compared(comparisons, systems)
    if arguments.json:
        print_json(report.data)
    else:
        print(rendering.FORMATS[arguments.format](report), end="")
    return 0


def _score_files(arguments: argparse.Namespace) -> list[SystemResult]:
    """Return the systems given as files of hypotheses."""
    from augury.reporting.results import from_hypotheses

    first, *_ = arguments.references
    references, *more = [read_sentences(str(file), 1) for file in arguments.references]
    if not references:
        raise UserError(f"{first} is empty: give one reference per line")

    def check(file: Path, lines: Sequence[str]) -> Sequence[str]:
        if len(lines) != len(references):
            raise UserError(
                f"{file} has {counted(len(lines), 'line')} and {first} has {len(references)}: give "
                "a line for every reference, an empty one for what is missing"
            )
        return lines

    for file, lines in zip(arguments.references[1:], more, strict=True):
        check(file, lines)
    sources = None
    if arguments.sources:
        sources = check(arguments.sources, read_sentences(str(arguments.sources), 0))
    systems, names = [], []
    for files in arguments.systems:
        seeds: dict[Folder, Sequence[str]] = {}
        for path in map(Path, files.split(",")):
            folder = Folder(str(path.parent), path.name)
            if folder in seeds:
                raise UserError(f"{path} is listed twice in '{files}': give one file per seed")
            piped = str(path) == STANDARD_INPUT
            seeds[folder] = check(
                path, read_lines(sys.stdin) if piped else read_sentences(str(path), 1)
            )
        systems.append(
            from_hypotheses(
                files,
                seeds,
                references,
                more_references=more,
                test=first.name,
                language=arguments.language,
                metrics=list(dict.fromkeys(arguments.metrics or ["bleu", "chrf"])),
                sources=sources,
            )
        )
        stems = [Path(name).stem for name in files.split(",")]
        names.append(os.path.commonprefix(stems).rstrip("-_. ") or files)
    names = names if len(set(names)) == len(names) else arguments.systems
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]
