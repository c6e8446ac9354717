"""`augury compare`: test whether differences between systems are real, and report their cost."""

from __future__ import annotations

import argparse
import os
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from augury.cli.common import add_format, add_storage, print_json
from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.naming import counted
from augury.core.store import Folder
from augury.corpora.files import read_sentences
from augury.corpora.languages import base_language, check_language, languages
from augury.corpora.text_settings import EXTENSIONS, extension

if TYPE_CHECKING:
    from augury.reporting.results import SystemResult

EXAMPLE = """augury compare my/baseline my/CipherDAug --storage results --format latex
  augury compare hypotheses.txt --references test.en --metrics bleu chrf++ ter
  augury compare base-1.txt,base-2.txt cipher-1.txt,cipher-2.txt --references test.en"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    add(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="EXPERIMENT/SYSTEM, or with one seed /SEED; its folder or address; an experiment or a "
        "sweep, with all its systems; with --references a file of hypotheses, or several seeds "
        "separated by commas; the first is what the others are compared with",
    )
    add_storage(parser)
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
    from augury.reporting.find import common_tests, load_systems

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
            if all(map(os.path.isfile, _files(system))):
                raise UserError(
                    f"'{system}' is a file of hypotheses: give its references too, --references "
                    "FILE"
                )
        systems = load_systems(arguments.systems, arguments.storage)
    report = compared(compare_all(systems, common_tests(systems)), systems)
    if arguments.json:
        print_json(report.data)
    else:
        print(rendering.FORMATS[arguments.format](report), end="")
    return 0


def _files(system: str) -> list[str]:
    """Return the files of a system, one for every seed."""
    return [system] if os.path.isfile(system) else system.split(",")


def _lines(file: Path, side: int = 1) -> list[str]:
    if extension(file) in EXTENSIONS:
        raise UserError(f"{file} is a table: give its texts or labels alone, one a line")
    return read_sentences(str(file), side)


def _refuse_zeros(
    metrics: Sequence[str],
    language: str,
    references: Sequence[str],
    outputs: Mapping[Path, Sequence[str]],
) -> None:
    """Raise UserError for a metric that is 0 whatever a system writes."""
    from augury.scoring.registry import metric_class
    from augury.scoring.sacre import Bleu, MultiBleu

    for name in metrics:
        kind = metric_class(name)
        if kind.measures == "labels":
            known = {line.strip() for line in references}
            for file, lines in outputs.items():
                if known.isdisjoint(given := {line.strip() for line in lines}):
                    raise UserError(
                        f"{file} has none of the labels of the references, {min(known)!r} and "
                        f"others, but {min(given)!r}: write them alike"
                    )
        elif issubclass(kind, Bleu | MultiBleu):
            scorer = kind(name, language)
            if all(len(scorer.prepare(line).split()) < 4 for line in references):
                raise UserError(
                    f"metric '{name}' counts runs of four words, which no reference has: use chrf, "
                    "or for labels accuracy (--metrics)"
                )


def _score_files(arguments: argparse.Namespace) -> list[SystemResult]:
    """Return the systems given as files of hypotheses."""
    from augury.reporting.results import from_scores
    from augury.scoring.scores import score

    first, *_ = arguments.references
    count = len(_lines(first))

    def read(file: Path, side: int = 1) -> list[str]:
        lines = _lines(file, side)
        if len(lines) != count:
            raise UserError(
                f"{file} has {counted(len(lines), 'line')} and {first} has {count}: give a line "
                "for every reference, an empty one for what is missing"
            )
        return lines

    references, *more = map(read, arguments.references)
    is_composed = unicodedata.is_normalized("NFC", "\n".join(references))
    sources = read(arguments.sources, 0) if arguments.sources else None
    metrics = list(dict.fromkeys(arguments.metrics or ["bleu", "chrf"]))
    language = arguments.language or ""
    if language and base_language(language) not in languages().codes:
        check_language(language)
    given = Counter(Path(file) for files in arguments.systems for file in _files(files))
    if twice := [str(file) for file, count in given.items() if count > 1]:
        raise UserError(f"{twice[0]} is given twice: name each file of hypotheses once")
    stems = [Path(_files(files)[0]).stem for files in arguments.systems]
    names = stems if len(set(stems)) == len(stems) else arguments.systems
    outputs: dict[Path, list[str]] = {}
    systems = []
    for name, files in zip(names, arguments.systems, strict=True):
        seeds = {}
        for path in map(Path, _files(files)):
            outputs[path] = read(path)
            if unicodedata.is_normalized("NFC", "\n".join(outputs[path])) != is_composed:
                say(
                    f"warning: {path} and {first} are in different normal forms of Unicode, in "
                    "which equal text counts as other text: write both in NFC"
                )
            seeds[Folder(str(path.parent), path.name)] = score(
                outputs[path],
                references,
                sources=sources,
                language=language,
                metrics=metrics,
                more_references=more,
            )
        systems.append(from_scores(name, first.name, seeds))
    _refuse_zeros(metrics, language, references, outputs)
    return systems
