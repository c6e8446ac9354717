"""`augury augment`: make the views of a corpus, from an experiment file or straight from two files."""

from __future__ import annotations

import argparse
import textwrap
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from augury.cli.common import add_experiment, print_json
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.augment.operator import Operator
    from augury.augment.pipeline import Augmented, Models
    from augury.core.store import Store
    from augury.corpora.splits import BaseSpec
    from augury.experiments.experiment import Experiment

HELP = "Augment a corpus: from an experiment file, or from two aligned files and an operator."
DIRECT = ("source", "target", "source_language", "target_language", "operator")  # instead of an experiment file
UNKNOWN = "und"
PARAMETER = "parameter."  # before the names of an operator's parameters among the arguments
EXAMPLE = "augury augment --source train.de --target train.en --operator cipher --keys 1 2 --storage results"
EXPERIMENTS = "search_spaces/experiments"  # where those to try operators on are


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_experiment(parser, required=False)
    direct = parser.add_argument_group("without an experiment file")
    direct.add_argument("--source", metavar="FILE", help="source text, one sentence a line")
    direct.add_argument("--target", metavar="FILE", help="target text, aligned with the source")
    direct.add_argument("--source-language", metavar="CODE", help=f"for the records (default: {UNKNOWN}, undetermined)")
    direct.add_argument("--target-language", metavar="CODE")
    direct.add_argument("--operator", help="the operator; its parameters are flags: --operator cipher --keys 1 2")
    direct.add_argument("--storage", default=None, help="directory or URI for the result (default: results)")
    direct.add_argument("--executor", choices=["auto", "local", "ray"], default=None, help="where the operator runs")
    named = [word.removeprefix("--operator=") for word in words if word.startswith("--operator=")]
    named += [words[index + 1] for index, word in enumerate(words[:-1]) if word == "--operator"]
    if named:
        _add_parameters(parser, named[0])


def run(arguments: argparse.Namespace) -> int:
    from augury.augment import pipeline
    from augury.augment.operator import DRAW
    from augury.core.execution import Execution
    from augury.core.store import Store
    from augury.corpora.ingest import ingest

    corpus_spec, operators, experiment = _given(arguments)
    execution = experiment.execution if experiment else Execution()
    if draws := [operator.operator for operator in operators if operator.makes() == DRAW]:
        raise UserError(
            f"operator {draws[0]} changes token ids in every pass of training and stores nothing: put it into augment "
            "of an experiment, and `augury train` it"
        )
    store = Store(arguments.storage or (experiment.storage if experiment else "results"))
    corpus = ingest(corpus_spec, "train", store)
    if arguments.executor:
        execution = execution.model_copy(update={"executor": arguments.executor})
    models = _trained(experiment, store) if experiment else None
    done = pipeline.augment(corpus, operators, store, models=models, execution=execution)
    if done.reused:
        say(f"found, not made again: {', '.join(done.reused)}")
    result = {
        "rows_in": corpus.rows + sum(corpus.manifest["rejected"].values()),
        "rows_kept": corpus.rows,
        "rows_added": sum(part.folder.manifest()["rows"] for part in done.parts if part.name in done.made),
        "rows_rejected": _rejected(corpus.manifest["rejected"], done),
        "address": done.address,
        "corpus": {"address": corpus.address, "folder": corpus.folder.uri},
        "parts": {
            part.name: {
                "address": part.folder.name.rpartition("/")[2],
                "folder": part.folder.uri,
                "makes": part.operator.makes(),
                "rows": part.folder.manifest()["rows"],
                "counts": (counts := part.folder.manifest().get("counts", {})),
                "measures": part.operator.measures(counts),
                "made": part.name in done.made,
            }
            for part in done.parts
        },
    }
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    return 0


def _rejected(rows: Mapping[str, int], done: Augmented) -> dict[str, int]:
    """Count by reason the rows that are no part of the corpus, and what did not become a record of it."""
    from augury.augment.operator import REJECTED

    counts = Counter(rows)
    for part in done.parts:
        counted = part.folder.manifest().get("counts", {})
        counts.update({what.removeprefix(REJECTED): counted[what] for what in counted if what.startswith(REJECTED)})
    return dict(counts)


def _print(result: dict[str, Any]) -> None:
    rejected = ", ".join(f"{count:,} {reason}" for reason, count in result["rows_rejected"].items()) or "none"
    print(f"rows in {result['rows_in']:,}  added {result['rows_added']:,}  rejected {rejected}")
    for name, part in result["parts"].items():
        counts = "".join(f"  {count:,} {what}" for what, count in part["counts"].items())
        measures = "".join(f"  {what} {value:.2f} %" for what, value in part["measures"].items())
        print(f"  {name:<8} {part['folder']}{counts}{measures}{'' if part['made'] else '  (found)'}")
    print(f"address {result['address']}")


def _given(arguments: argparse.Namespace) -> tuple[BaseSpec, list[Operator], Experiment | None]:
    """Corpus and operators, from the experiment file, which is given too, or from the flags."""
    from augury.core import config
    from augury.corpora.spec import CorpusSpec

    if arguments.experiment:
        from augury.experiments import experiment

        flags = [f"--{name.replace('_', '-')}" for name in DIRECT if getattr(arguments, name) is not None]
        if flags:
            raise UserError(f"give an experiment file or {flags[0]}, not both; --set changes the file's settings")
        loaded = experiment.load(arguments.experiment, arguments.assignments)
        if not loaded.augment:
            raise UserError(
                f"{arguments.experiment} has no operators: add e.g. augment: [{{operator: cipher, keys: [1, 2]}}]"
            )
        return loaded.corpus, list(loaded.augment), loaded
    missing = [flag for flag in ("source", "target", "operator") if getattr(arguments, flag) is None]
    if missing:
        raise UserError(
            f"give an experiment file, or --source, --target and --operator (missing: {', '.join(missing)})"
        )
    if arguments.assignments:
        raise UserError(
            f"--set {arguments.assignments[0]} changes an experiment file, and none is given: an operator's parameters "
            f"are flags, which augury augment --operator {arguments.operator} --help lists"
        )
    spec = config.validate(
        CorpusSpec,
        {
            "source_language": arguments.source_language or UNKNOWN,
            "target_language": arguments.target_language or UNKNOWN,
            "train": {"source": arguments.source, "target": arguments.target},
        },
        "the corpus",
    )
    operator = _operator(arguments)
    operator.check(spec.SCHEMA.names)
    if operator.works_with_models:
        raise UserError(
            f"operator {operator.operator} works with trained models: put it into augment of an experiment file, "
            f"which says how they are trained; augury augment --operator {operator.operator} --help shows an example"
        )
    return spec, [operator], None


def _trained(experiment: Experiment, store: Store) -> list[Models]:
    """The models that the operators work with, trained where they are missing."""
    from augury.experiments import operator_models

    return operator_models.trained(experiment.model_copy(update={"storage": store.root}), store)


def _add_parameters(parser: argparse.ArgumentParser, name: str) -> None:
    """Add an operator's parameters as flags; an unknown one has none, and is refused when it is asked to work.

    Parameters with settings of their own are given in an experiment file, and only named here.
    """
    from augury.augment import operator

    try:
        schema = operator.schema(name)
    except UserError:
        return
    parser.epilog = f"example:\n  {_example(name, schema)}"
    group, sections = parser.add_argument_group(f"parameters of operator {name}"), []
    for key, field in schema.model_fields.items():
        keys = _keys(field.annotation)
        if keys is not None:
            sections.append(f"{key} {{{', '.join(keys) or '...'}}}: {field.description}")
        elif key != "operator":
            group.add_argument(
                f"--{key.replace('_', '-')}",
                default=argparse.SUPPRESS,
                dest=f"{PARAMETER}{key}",
                help=(field.description or "").replace("%", "%%"),
                **_flag(field.annotation),
            )
    if sections:
        shown = (textwrap.fill(" ".join(section.split()), 76, subsequent_indent="  ") for section in sections)
        parser.add_argument_group(f"sections of operator {name}, given in an experiment file", "\n".join(shown))


def _example(name: str, schema: type[Operator]) -> str:
    """Return a command that tries the operator: on two files, or in an experiment where it needs one; draws train."""
    from augury.augment.draw import TokenDraw

    if not schema.EXAMPLE:
        return f"augury augment --source train.de --target train.en --operator {name}"
    augment = f"{EXPERIMENTS}/{schema.EXAMPLE_FILE} --set 'augment=[{{operator: {name}, {schema.EXAMPLE}}}]'"
    if issubclass(schema, TokenDraw):
        return f"augury train {augment} --set 'systems={{}}'"
    return f"augury augment {augment}"


def _keys(annotation: Any) -> list[str] | None:
    """The settings of a parameter that is a section, or of which there are several; None for a value.

    None are known where they are another experiment's.
    """
    from augury.core.config import Section

    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    if len(parts) == 1 and get_origin(annotation) in (Union, types.UnionType, tuple):
        annotation = parts[0]
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return list(annotation.model_fields)
    return [] if get_origin(annotation) is dict else None


def _operator(arguments: argparse.Namespace) -> Operator:
    """The operator whose parameters are given as flags."""
    from augury.augment import operator

    parameters = {
        key.removeprefix(PARAMETER): value for key, value in vars(arguments).items() if key.startswith(PARAMETER)
    }
    return operator.parse({"operator": arguments.operator, **parameters})


def _flag(annotation: Any) -> dict[str, Any]:
    """How a parameter of this type is given: a list of values, a choice, a switch, or one value."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is tuple:
        return {"nargs": "+", "metavar": "VALUE"}
    if get_origin(annotation) is Literal:
        return {"choices": get_args(annotation)}
    if annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    return {"metavar": "VALUE"}
