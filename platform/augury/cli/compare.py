"""`augury compare`: is the difference real, and what did it cost?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from augury.cli.common import lines_of, print_json
from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.decoding.settings import Combination
    from augury.reporting.decodings import DecodedSystem
    from augury.reporting.results import SystemResult

HELP = "Compare runs, configurations, sweeps, decodings or hypotheses: which difference is real, and what did it cost?"
EXAMPLE = """augury compare 8ce62f82 fd9974af --storage results --format latex
  augury compare 8ce62f82 --views plain rot-1 rot-2
  augury compare base.txt cipher.txt --references test.en --language en
  augury compare base-1.txt,base-2.txt,base-3.txt cipher-1.txt,cipher-2.txt,cipher-3.txt \\
      --references test.en --language en"""


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    from augury.decoding.settings import Combination, Utility

    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="the first is the baseline. A run: its folder, or ADDRESS/seed-N. A configuration: its folder in runs, or "
        "ADDRESS, which stands for all its seeds. A sweep: its folder, or sweeps/NAME, which stands for all its "
        "configurations, the reference first. With --references: a file of hypotheses, one a line, or the files of "
        "several seeds joined by commas",
    )
    parser.add_argument("--storage", default="results", help="where addresses and names lie (default: results)")
    parser.add_argument("--sources", type=Path, metavar="FILE", help="what was translated, for metrics that read it")
    parser.add_argument("--references", type=Path, metavar="FILE", help="one reference, or label, a line")
    parser.add_argument("--language", help="of the hypotheses, where a metric depends on it")
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=["bleu", "chrf"],
        metavar="METRIC",
        help="of files; the first decides: bleu, chrf, chrf++, ter, ... as in `augury score`, or accuracy of labels",
    )
    parser.add_argument(
        "--views",
        nargs="+",
        metavar="VIEW",
        help="decode one run, or all seeds of a configuration, from these views (plain, rot-1, ...), each alone and "
        "combined, and compare that with the plain source. What was decoded is kept with the runs",
    )
    parser.add_argument(
        "--combine",
        nargs="+",
        choices=get_args(Combination),
        help="of views: one beam over their mean, minimum Bayes risk (default: both, of several views)",
    )
    parser.add_argument(
        "--n-best", type=int, help="of mbr: hypotheses of every view to choose from (default: the beam)"
    )
    parser.add_argument("--utility", choices=get_args(Utility), help="of mbr: what agreement is (default: chrf)")
    parser.add_argument(
        "--test",
        choices=["two-level", "bootstrap", "randomisation"],
        default="two-level",
        help="two-level (default): over seeds and sentences, for one seed each the paired bootstrap over sentences; "
        "bootstrap, randomisation: as `sacrebleu --paired-bs` and `--paired-ar`, for one seed each",
    )
    parser.add_argument(
        "--format", choices=["text", "latex", "csv", "markdown"], default="text", help="of the tables (default: text)"
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import tables
    from augury.reporting.answer import answer
    from augury.reporting.decodings import cost_table
    from augury.reporting.mean import compare_all
    from augury.reporting.score_tables import frame, score_tables
    from augury.reporting.selection import common_tests, load_systems

    decoded = _decoded(arguments)
    if decoded:
        systems = [system.result for system in decoded]
    elif arguments.references:
        systems = _texts(arguments)
    else:
        systems = load_systems(arguments.systems, arguments.storage)
    if len(systems) < 2:
        raise UserError(f"{systems[0].name} alone cannot be compared: name a second system")
    several = [system.name for system in systems if len(system.runs) > 1]
    if several and arguments.test != "two-level":
        raise UserError(
            f"--test {arguments.test} compares one seed with one, and {several[0]} has more: "
            "name one seed, or leave out --test"
        )
    comparisons = compare_all(systems, common_tests(systems), arguments.test)
    if arguments.json:
        print_json(
            {
                "answer": answer(comparisons[0]),
                "method": arguments.test,
                "tables": [comparison.to_dict() for comparison in comparisons],
                "systems": [system.to_dict() for system in systems],
                **({"decodings": [system.to_dict() for system in decoded]} if decoded else {}),
            }
        )
    elif arguments.format == "csv":
        records = frame(comparisons)
        if decoded:
            seconds = {system.result.name: system.seconds for system in decoded}
            records = records.assign(decoding_seconds=records["system"].map(seconds))
        print(tables.csv(records), end="")
    else:
        costs = [cost_table(decoded)] if decoded else []
        print(tables.FORMATS[arguments.format]([*score_tables(comparisons), *costs]), end="")
        if arguments.format == "text":
            print(f"\n{answer(comparisons[0])}")
    return 0


def _decoded(arguments: argparse.Namespace) -> list[DecodedSystem]:
    """Return the decodings of a configuration; none where no views are given."""
    from augury.reporting.decodings import decode_systems
    from augury.reporting.selection import seeds_of

    settings = {name: value for name in ("n_best", "utility") if (value := getattr(arguments, name)) is not None}
    if not arguments.views:
        if of_views := [name for name in ("combine", *settings) if getattr(arguments, name)]:
            raise UserError(f"--{of_views[0].replace('_', '-')} is of views: give --views, such as --views plain rot-1")
        return []
    if arguments.references or len(arguments.systems) > 1:
        raise UserError("--views compares decodings of one run or configuration: name one, and no --references")
    both: tuple[Combination, ...] = ("average", "mbr")
    combinations: Sequence[Combination] = arguments.combine or (both if len(arguments.views) > 1 else ())
    if settings and "mbr" not in combinations:
        raise UserError(f"--{next(iter(settings)).replace('_', '-')} is a setting of --combine mbr")
    return decode_systems(seeds_of(arguments.systems[0], arguments.storage), arguments.views, combinations, settings)


def _texts(arguments: argparse.Namespace) -> list[SystemResult]:
    """Return systems known by files of hypotheses."""
    from augury.core.store import Folder
    from augury.reporting.results import from_hypotheses

    references = _lines(arguments.references)
    if not references:
        raise UserError(f"{arguments.references} is empty: give one reference a line")
    sources = _lines(arguments.sources) if arguments.sources else None
    if sources is not None and len(sources) != len(references):
        raise UserError(f"{arguments.sources} has {len(sources)} lines and {arguments.references} {len(references)}")
    systems = []
    for word in arguments.systems:
        seeds: dict[Folder, list[str]] = {}
        for path in map(Path, word.split(",")):
            if Folder(str(path.parent), path.name) in seeds:
                raise UserError(f"{path} is named twice in '{word}': each seed has a file of its own")
            lines = seeds[Folder(str(path.parent), path.name)] = _lines(path)
            if len(lines) != len(references):
                raise UserError(
                    f"{path} has {len(lines)} lines and {arguments.references} has {len(references)}: "
                    "one hypothesis for every reference, an empty line where there is none"
                )
        systems.append(
            from_hypotheses(
                word,
                seeds,
                references,
                test=arguments.references.name,
                language=arguments.language,
                metrics=list(dict.fromkeys(arguments.metrics)),
                sources=sources,
            )
        )
    names = [_short(word) for word in arguments.systems]
    names = names if len(set(names)) == len(names) else arguments.systems
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _short(word: str) -> str:
    """Return what the names of a system's files have in common."""
    stems = [Path(name).stem for name in word.split(",")]
    return os.path.commonprefix(stems).rstrip("-_. ") or stems[0]


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"no file '{path}'")
    with path.open(encoding="utf-8") as file:
        return lines_of(file)
