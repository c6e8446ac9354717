"""`augury analyze keys`: compare the keys of a cipher before training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from augury.cli.common import add_experiment, flag_of, integer, print_json
from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.experiments.spec import Experiment

WORD = "keys"
DESCRIPTION = (
    "Compare the keys of a cipher by the subword segmentation they lead to, before training."
)
EXAMPLES = """augury analyze keys search_spaces/experiments/multi30k_5k_cipherdaug.yaml
  augury analyze keys --source train.de --target train.en --keys 1 2 3 --set vocabulary.size=8000"""
FILES = ("source", "target", "source_language", "target_language")


def selected(argv: Sequence[str]) -> bool:
    """Return whether these arguments of `augury analyze` select the analysis of keys.

    The word may come after flags such as `--storage results`, but is no value of theirs.
    """
    return any(
        argument == WORD and before not in ("--storage", "--test")
        for before, argument in pairwise(["", *argv])
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `augury analyze keys`."""
    from augury.corpora.languages import UNDETERMINED

    parser.prog = f"{parser.prog} {WORD}"
    parser.description = DESCRIPTION
    parser.epilog = f"example:\n  {EXAMPLES}"
    parser.add_argument("word", choices=[WORD], metavar=WORD, help=argparse.SUPPRESS)
    add_experiment(parser, required=False)
    parser.add_argument(
        "--keys",
        nargs="+",
        type=integer,
        default=None,
        metavar="KEY",
        help="candidate keys (default: 1 to 10)",
    )
    parser.add_argument(
        "--sentences",
        type=integer,
        default=20_000,
        help="maximum number of sentences to compare, a random sample; vocabularies use all "
        "(default: 20000)",
    )
    parser.add_argument(
        "--storage", help="directory or URI for all output (default: the experiment's, or results)"
    )
    parser.add_argument(
        "--executor", choices=["auto", "local", "ray"], help="where to process keys"
    )
    files = parser.add_argument_group("without an experiment file")
    files.add_argument("--source", metavar="FILE", help="training source, one sentence per line")
    files.add_argument("--target", metavar="FILE", help="training target, aligned with the source")
    files.add_argument(
        "--source-language", metavar="CODE", help=f"default: {UNDETERMINED}, undetermined"
    )
    files.add_argument(
        "--target-language", metavar="CODE", help=f"default: {UNDETERMINED}, undetermined"
    )


def run(arguments: argparse.Namespace) -> int:
    """Rank the keys, write the report to the storage and print it."""
    from augury.analysis.keys import analyse_keys
    from augury.core import config
    from augury.core.store import Store
    from augury.reporting import rendering
    from augury.reporting.analyses import keys as reports
    from augury.reporting.analyses.analysis import write
    from augury.reporting.run_files import ANALYSES

    if arguments.sentences < 1:
        raise UserError(f"--sentences {arguments.sentences}: give 1 or more")
    experiment = _experiment(arguments)
    store = Store(arguments.storage or experiment.storage)
    result = analyse_keys(
        experiment,
        store,
        arguments.keys,
        sentences=arguments.sentences,
        executor=arguments.executor,
    )
    corpus = (
        experiment.name if arguments.experiment else f"{arguments.source} and {arguments.target}"
    )
    settings = {"keys": sorted(key.key for key in result.keys), "sentences": arguments.sentences}
    report = reports.report(result, corpus, settings)
    content = experiment.to_dict()
    identity = {name: content.get(name) for name in ("corpus", "vocabulary", "augment")} | settings
    folder = store.folder(ANALYSES, f"keys-{config.address(identity)}")
    write(report, WORD, folder)
    page = folder.location(f"{WORD}.html")
    if arguments.json:
        print_json({"answer": report.answer, "cautions": report.notes, **report.data, "page": page})
    else:
        print(f"{rendering.text(report)}page     {page}")
    return 0


def _experiment(arguments: argparse.Namespace) -> Experiment:
    """Return the experiment file, or a translation experiment with the given training files."""
    from augury.core import config
    from augury.corpora.languages import UNDETERMINED
    from augury.experiments import spec, systems

    flags = [flag_of(name) for name in FILES if getattr(arguments, name) is not None]
    if arguments.experiment:
        if flags:
            raise UserError(
                f"give an experiment file or {flags[0]}, not both; --set overrides settings of "
                "the file"
            )
        return systems.load(arguments.experiment, config.parse_assignments(arguments.assignments))
    missing = [flag for flag in ("source", "target") if getattr(arguments, flag) is None]
    if missing:
        raise UserError(
            f"give an experiment file, or --source and --target (missing: {', '.join(missing)})"
        )
    content = {
        "name": "files",
        "task": "nmt",
        "storage": arguments.storage or "results",
        "corpus": {
            "source_language": arguments.source_language or UNDETERMINED,
            "target_language": arguments.target_language or UNDETERMINED,
            "train": {"source": arguments.source, "target": arguments.target},
        },
    }
    return spec.parse(config.override(content, arguments.assignments), "the corpus")
