"""`augury compare`: is the difference real, and what did it cost?"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augury.cli.common import lines_of, open_run, print_json
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.core.store import Folder
    from augury.reporting.results import SystemResult
    from augury.sweeping.state import Sweep

HELP = "Compare runs, configurations, sweeps or files of hypotheses: which difference is real, and what did it cost?"
EXAMPLE = """augury compare 8ce62f82 fd9974af --storage results --format latex
  augury compare base.txt cipher.txt --references test.en --language en
  augury compare base-1.txt,base-2.txt,base-3.txt cipher-1.txt,cipher-2.txt,cipher-3.txt \\
      --references test.en --language en"""


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
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
    from augury.reporting.answer import answer
    from augury.reporting.formats import FORMATS
    from augury.reporting.mean import comparisons
    from augury.reporting.table import fitted

    systems = _texts(arguments) if arguments.references else _stored(arguments.systems, arguments.storage)
    if len(systems) < 2:
        raise UserError(f"{systems[0].name} alone cannot be compared: name a second system")
    several = [system.name for system in systems if len(system.runs) > 1]
    if several and arguments.test != "two-level":
        raise UserError(
            f"--test {arguments.test} compares one seed with one, and {several[0]} has more: "
            "name one seed, or leave out --test"
        )
    tables = comparisons(systems, _common_tests(systems), arguments.test)
    if arguments.json:
        print_json(
            {
                "answer": answer(tables[0]),
                "method": arguments.test,
                "tables": [table.plain() for table in tables],
                "systems": [system.plain() for system in systems],
            }
        )
    elif arguments.format == "text":
        print(f"{fitted(tables)}\n{answer(tables[0])}")
    else:
        print(FORMATS[arguments.format](tables), end="")
    return 0


def _texts(arguments: argparse.Namespace) -> list[SystemResult]:
    """Systems known by files of hypotheses."""
    from augury.core.store import Folder
    from augury.reporting.results import from_hypotheses

    references = _lines(arguments.references)
    if not references:
        raise UserError(f"{arguments.references} is empty: give one reference a line")
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
            )
        )
    names = [_short(word) for word in arguments.systems]
    names = names if len(set(names)) == len(names) else arguments.systems
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _short(word: str) -> str:
    """What the names of a system's files have in common."""
    stems = [Path(name).stem for name in word.split(",")]
    return os.path.commonprefix(stems).rstrip("-_. ") or stems[0]


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"no file '{path}'")
    with path.open(encoding="utf-8") as file:
        return lines_of(file)


def _stored(words: Sequence[str], storage: str) -> list[SystemResult]:
    """Systems of a storage: runs, configurations and the configurations of sweeps."""
    from augury.experiments import runs
    from augury.reporting.results import load_groups

    groups: list[list[Folder]] = []
    names: list[str | None] = []
    for word in words:
        sweep = _sweep(word, storage)
        for name, folders in _configurations(sweep) if sweep else [(None, _seeds(word, storage))]:
            if folders in groups:
                say(f"{name or word} is compared already, and not repeated")
            else:
                groups.append(folders)
                names.append(name)
    for first, second in itertools.combinations(groups, 2):
        if shared := [folder for folder in first if folder in second]:
            raise UserError(f"{shared[0].uri} belongs to two of the systems: name each run once")
    seeds = [{folder.read_json(runs.DESCRIPTION)["seed"]: folder for folder in group} for group in groups]
    systems = load_groups(seeds, names)
    for system in systems:
        if not system.tests:
            raise UserError(f"{system.name} has no scores yet: `augury train` with its experiment file makes them")
    return systems


def _sweep(word: str, storage: str) -> Sweep | None:
    """The sweep that a word names, if it does."""
    from augury.core.store import Store
    from augury.sweeping import state

    root, kind, name = f"/{word.rstrip('/')}".rpartition(f"/{state.KIND}/")
    return state.load(Store(root.removeprefix("/") or storage), name) if kind else None


def _configurations(sweep: Sweep) -> list[tuple[str, list[Folder]]]:
    """Name and scored runs of the configurations of a sweep, the reference first."""
    from augury.experiments import runs

    scored = {
        each.name: [trial.folder for trial in each.trials if trial.folder.exists(runs.SCORES)]
        for each in sweep.configurations
    }
    if not scored[sweep.by_address[sweep.reference].name]:
        raise UserError(f"the reference of sweep {sweep.name} has no scores yet: `augury sweep` goes on with it")
    if missing := [name for name, folders in scored.items() if not folders]:
        say(f"sweep {sweep.name}: without scores, and left out: {'; '.join(missing)}")
    return [(name, folders) for name, folders in scored.items() if folders]


def _seeds(word: str, storage: str) -> list[Folder]:
    """The runs that a word names: one seed, or all of a configuration."""
    from augury.core.store import Folder
    from augury.experiments import runs

    _, run = open_run(word, storage)
    if "/seed-" in word:
        return [run]
    configuration = Folder(run.root, run.name.rpartition("/")[0])
    found = [configuration.sub(name) for name in configuration.subfolders()]
    return [folder for folder in found if folder.exists(runs.DESCRIPTION)]


def _common_tests(systems: Sequence[SystemResult]) -> list[str]:
    """The test sets that all systems are scored on; UserError where numbers cannot be held against each other."""
    from augury.reporting.table import scored_sets

    known = scored_sets(systems)
    tests = [test for test in known if all(test in system.tests for system in systems)]
    if not tests:
        listed = "; ".join(f"{system.name}: {', '.join(system.tests)}" for system in systems)
        raise UserError(
            f"the systems have no test set in common ({listed}): give their experiments one in corpus.tests"
        )
    for test in [test for test in known if test not in tests]:
        say(f"{test} is left out: not all systems are scored on it")
    for test, system in itertools.product(tests, systems[1:]):
        _refuse_other_measures(systems[0], system, test)
    return tests


def _refuse_other_measures(baseline: SystemResult, system: SystemResult, test: str) -> None:
    """UserError unless both were scored on the same text in the same way."""
    from augury.scoring.metrics import title

    texts = [
        given["address"]
        for each in (baseline, system)
        for given in each.facts.get("inputs", ())
        if given["name"] == test
    ]
    if len(set(texts)) > 1:
        raise UserError(f"{test} is not one text: {baseline.name} is scored on {texts[0]}, {system.name} on {texts[1]}")
    for place, (metric, score) in enumerate(baseline.tests[test].items()):
        other = system.tests[test].get(metric)
        if other is None and place == 0:
            raise UserError(
                f"{system.name} is not scored by {title(metric)} on {test}, as {baseline.name} is: give "
                "both the same scoring.metrics and run `augury train` again"
            )
        if other and other.measure != score.measure:
            raise UserError(
                f"{title(metric)} on {test} is not measured in one way: {baseline.name} has "
                f"{score.measure}, {system.name} has {other.measure}"
            )
