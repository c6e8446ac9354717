"""`augury compare`: test whether differences between systems are real, and report their cost."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from augury.cli.common import flag_of, integer, print_json, read_file
from augury.core.errors import UserError
from augury.core.naming import counted

if TYPE_CHECKING:
    from augury.core.store import Folder
    from augury.decoding.settings import Combination
    from augury.reporting.decodings import DecodedSystem
    from augury.reporting.results import SystemResult

HELP = (
    "Compare runs, configurations, sweeps, decodings or hypotheses: which differences are real, "
    "and at what cost?"
)
EXAMPLE = """augury compare my/baseline my/CipherDAug --storage results --format latex
  augury compare my/CipherDAug --views plain rot-1 rot-2
  augury compare base.txt cipher.txt --references test.en --language en
  augury compare base-1.txt,base-2.txt,base-3.txt cipher-1.txt,cipher-2.txt,cipher-3.txt \\
      --references test.en --language en"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    from augury.decoding.settings import Combination, Utility

    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="the first is the baseline. A system with all its seeds: EXPERIMENT/SYSTEM, or its "
        "name alone where that says which, its folder or address. A run: EXPERIMENT/SYSTEM/SEED, "
        "its folder or ADDRESS/seed-N. An experiment with all its systems, as in its report: its "
        "name. A sweep with all its configurations, the reference first: its name or folder. With "
        "--references: a file of hypotheses, one per line, or comma-separated files of several "
        "seeds",
    )
    parser.add_argument(
        "--storage", default="results", help="storage of addresses and names (default: results)"
    )
    parser.add_argument(
        "--sources", type=Path, metavar="FILE", help="source sentences, for metrics that use them"
    )
    parser.add_argument(
        "--references",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="one reference or label per line; several files: several references for every "
        "hypothesis",
    )
    parser.add_argument("--language", help="target language, for metrics that depend on it")
    parser.add_argument(
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="metrics for files, deciding one first: bleu, chrf, chrf++, ter, ... as "
        "for `augury score`, or accuracy (default: bleu chrf)",
    )
    parser.add_argument(
        "--views",
        nargs="+",
        metavar="VIEW",
        help="decode a run, or all seeds of a configuration, from each of these views "
        "(plain, rot-1, ...) and from their combination, and compare the results with decoding "
        "the plain source; outputs are kept with the runs",
    )
    parser.add_argument(
        "--combine",
        nargs="+",
        choices=get_args(Combination),
        help="how to combine views: average (one beam over their mean), mbr (minimum Bayes risk) "
        "(default: both)",
    )
    parser.add_argument(
        "--n-best", type=integer, help="mbr: candidates per view (default: the beam)"
    )
    parser.add_argument(
        "--utility", choices=get_args(Utility), help="mbr: the utility function (default: chrf)"
    )
    parser.add_argument(
        "--reference",
        metavar="NAME",
        help="the system, by its name in the table, that all others are compared with",
    )
    parser.add_argument(
        "--format",
        choices=["text", "latex", "csv", "markdown"],
        default="text",
        help="table format (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import rendering
    from augury.reporting.comparison import compare_all
    from augury.reporting.decodings import cost_table
    from augury.reporting.experiment import compared
    from augury.reporting.selection import common_tests, load_systems, with_reference

    for flag in ("metrics", "language", "sources"):
        if getattr(arguments, flag) is not None and arguments.references is None:
            raise UserError(
                f"--{flag} is for files of hypotheses, compared with --references; runs have the "
                "scores that their experiment names (scoring.metrics): leave it out"
            )
    decoded = _decode(arguments)
    if decoded:
        systems = [system.result for system in decoded]
    elif arguments.references:
        systems = _score_files(arguments)
    else:
        _refuse_files(arguments.systems)
        systems = load_systems(arguments.systems, arguments.storage)
    if len(systems) < 2:
        raise UserError(
            f"{systems[0].name} is the only system: give a second one to compare it with"
        )
    if arguments.reference is not None:
        systems = with_reference(systems, arguments.reference)
    comparisons = compare_all(systems, common_tests(systems))
    report = compared(comparisons, systems, *([cost_table(decoded)] if decoded else []))
    if decoded and report.records is not None:
        seconds = {system.result.name: system.seconds for system in decoded}
        timed = report.records.assign(decoding_seconds=report.records["system"].map(seconds))
        report = replace(report, records=timed)
    if arguments.json:
        print_json(
            {
                "answer": report.answer,
                **report.data,
                **({"decodings": [system.to_dict() for system in decoded]} if decoded else {}),
            }
        )
    else:
        print(rendering.FORMATS[arguments.format](report), end="")
    return 0


def _decode(arguments: argparse.Namespace) -> list[DecodedSystem]:
    """Return the decodings of a configuration from `--views`; empty without views."""
    from augury.reporting.decodings import decode_systems
    from augury.reporting.run_names import find

    settings = {
        name: value
        for name in ("n_best", "utility")
        if (value := getattr(arguments, name)) is not None
    }
    if not arguments.views:
        if view_flags := [name for name in ("combine", *settings) if getattr(arguments, name)]:
            raise UserError(
                f"{flag_of(view_flags[0])} needs --views, such as --views plain rot-1: add it"
            )
        return []
    if arguments.references or len(arguments.systems) > 1:
        raise UserError(
            "--views compares decodings of one run or configuration: give one, without --references"
        )
    both: tuple[Combination, ...] = ("average", "mbr")
    combinations: Sequence[Combination] = arguments.combine or (
        both if len(arguments.views) > 1 else ()
    )
    if settings and "mbr" not in combinations:
        flag = flag_of(next(iter(settings)))
        raise UserError(f"{flag} needs --combine mbr: add it, or leave out {flag}")
    return decode_systems(
        find(arguments.systems[0], arguments.storage), arguments.views, combinations, settings
    )


def _refuse_files(systems: Sequence[str]) -> None:
    """Raise UserError for files of hypotheses, which need references."""
    for system in systems:
        if all(Path(file).is_file() for file in system.split(",")):
            raise UserError(
                f"'{system}' is a file: to compare files of hypotheses, give their references "
                "too, --references FILE"
            )


def _score_files(arguments: argparse.Namespace) -> list[SystemResult]:
    """Return the systems given as files of hypotheses."""
    from augury.reporting.results import from_hypotheses

    first, *others = arguments.references
    references = read_file(first)
    if not references:
        raise UserError(f"{first} is empty: give one reference per line")
    more = [read_file(file) for file in others]
    for file, lines in zip(others, more, strict=True):
        if len(lines) != len(references):
            raise UserError(
                f"{file} has {counted(len(lines), 'line')} and {first} has {len(references)}: each "
                "file needs "
                "a reference for every hypothesis"
            )
    sources = read_file(arguments.sources, side=0) if arguments.sources else None
    if sources is not None and len(sources) != len(references):
        raise UserError(
            f"{arguments.sources} has {counted(len(sources), 'line')} and {first} has "
            f"{len(references)}: give one source per reference"
        )
    systems = [
        from_hypotheses(
            files,
            _read_seeds(files, first, len(references)),
            references,
            more_references=more,
            test=first.name,
            language=arguments.language,
            metrics=list(dict.fromkeys(arguments.metrics or ["bleu", "chrf"])),
            sources=sources,
        )
        for files in arguments.systems
    ]
    names = [_common_name(files) for files in arguments.systems]
    names = names if len(set(names)) == len(names) else arguments.systems
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _read_seeds(files: str, references: Path, count: int) -> dict[Folder, list[str]]:
    """Return the hypotheses of comma-separated files, one per seed, each with `count` lines."""
    from augury.core.store import Folder

    seeds: dict[Folder, list[str]] = {}
    for path in map(Path, files.split(",")):
        folder = Folder(str(path.parent), path.name)
        if folder in seeds:
            raise UserError(f"{path} is listed twice in '{files}': give one file per seed")
        seeds[folder] = read_file(path)
        if len(seeds[folder]) != count:
            raise UserError(
                f"{path} has {counted(len(seeds[folder]), 'line')} and {references} has {count}: "
                "give one hypothesis per reference, an empty line for a missing one"
            )
    return seeds


def _common_name(files: str) -> str:
    """Return the common prefix of the names of a system's files."""
    stems = [Path(name).stem for name in files.split(",")]
    return os.path.commonprefix(stems).rstrip("-_. ") or stems[0]
