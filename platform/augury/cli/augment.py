"""`augury augment`: augment a corpus, by an experiment file or by flags."""

from __future__ import annotations

import argparse
import textwrap
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from augury.cli.common import add_experiment, flag_arguments, flag_of, print_json, whole_number
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.augment.operator import Operator
    from augury.augment.pipeline import Augmented
    from augury.augment.planning import Models
    from augury.core.store import Store
    from augury.corpora.corpus import Corpus
    from augury.corpora.spec import BaseSpec
    from augury.experiments.spec import Experiment

HELP = "Augment a corpus, given as an experiment file or as two aligned files and an operator."
DIRECT = ("source", "target", "source_language", "target_language", "filter", "operator")
"""Arguments that replace an experiment file."""
PARAMETER = "parameter."
"""Prefix of an operator's parameters among the arguments."""
EXAMPLE = (
    "augury augment --source train.de --target train.en --operator cipher --keys 1 2 --storage "
    "results"
)
EXPERIMENTS = "search_spaces/experiments"
"""Directory of the experiments in examples."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    from augury.corpora.languages import UNDETERMINED

    add_experiment(parser, required=False)
    direct = parser.add_argument_group("without an experiment file")
    direct.add_argument("--source", metavar="FILE", help="source text, one sentence per line")
    direct.add_argument("--target", metavar="FILE", help="target text, aligned with the source")
    direct.add_argument(
        "--source-language", metavar="CODE", help=f"default: {UNDETERMINED}, undetermined"
    )
    direct.add_argument(
        "--target-language", metavar="CODE", help=f"default: {UNDETERMINED}, undetermined"
    )
    direct.add_argument(
        "--filter",
        nargs="+",
        metavar="SETTING=VALUE",
        help="limits on the text, as in corpus.filter: --filter max_length=100 "
        "max_ratio=1.5, or none for no limit (default: at most 175 words, ratio of lengths at most "
        "9)",
    )
    direct.add_argument(
        "--operator", help="the operator; its parameters are flags: --operator cipher --keys 1 2"
    )
    direct.add_argument(
        "--storage",
        default=None,
        help="directory or URI for all output (default: the experiment's, or results)",
    )
    direct.add_argument(
        "--executor",
        choices=["auto", "local", "ray"],
        default=None,
        help="where to run the operator",
    )
    parser.add_argument(
        "--show",
        type=whole_number,
        default=0,
        metavar="N",
        help="print the first N rows too, and what every operator makes of them",
    )
    operators = [
        argument.removeprefix("--operator=")
        for argument in argv
        if argument.startswith("--operator=")
    ]
    operators += [
        argv[index + 1] for index, argument in enumerate(argv[:-1]) if argument == "--operator"
    ]
    if operators:
        _add_parameters(parser, operators[0])


def run(arguments: argparse.Namespace) -> int:
    from augury.augment import pipeline
    from augury.augment.operator import DRAW
    from augury.core.execution import Execution
    from augury.core.store import Store
    from augury.corpora.ingest import ingest

    corpus_spec, operators, experiment = _inputs(arguments)
    execution = experiment.execution if experiment else Execution()
    if draws := [operator.operator for operator in operators if operator.makes() == DRAW]:
        raise UserError(
            f"operator {draws[0]} changes token ids during training and stores nothing: add it to "
            "augment in an experiment file and run `augury train`"
        )
    store = Store(arguments.storage or (experiment.storage if experiment else "results"))
    if arguments.executor:
        execution = execution.model_copy(update={"executor": arguments.executor})
    corpus = ingest(corpus_spec, "train", store)
    models = _train_models(experiment, store) if experiment else None
    augmented = pipeline.augment(corpus, operators, store, models=models, execution=execution)
    if augmented.reused:
        say(f"reused: {', '.join(augmented.reused)}")
    result = _result(corpus, augmented)
    if arguments.show:
        result["examples"] = _examples(corpus, augmented, arguments.show)
    if arguments.json:
        print_json(result)
    else:
        _print(result, "corpus.filter." if experiment else "--filter ")
    return 0


def _result(corpus: Corpus, augmented: Augmented) -> dict[str, Any]:
    """Return the rows and parts of an augmented corpus as JSON-like values."""
    parts: dict[str, dict[str, Any]] = {}
    for part in augmented.parts:
        manifest = part.folder.manifest()
        counts = manifest.get("counts", {})
        parts[part.name] = {
            "address": part.folder.name.rpartition("/")[2],
            "folder": part.folder.uri,
            "makes": part.operator.makes(),
            "rows": manifest["rows"],
            "counts": counts,
            "measures": part.health.measures if part.health else {},
            "health": manifest.get("health"),
            "made": part.name in augmented.computed,
        }
    return {
        "rows_in": corpus.rows + sum(corpus.manifest["rejected"].values()),
        "rows_kept": corpus.rows,
        "rows_excluded": corpus.manifest["rejected"],
        "filter": corpus.manifest.get("spec", {}).get("filter", {}),
        "rows_added": sum(part["rows"] for part in parts.values() if part["made"]),
        "rows_rejected": _rejected(corpus.manifest["rejected"], augmented),
        "address": augmented.address,
        "corpus": {"address": corpus.address, "folder": corpus.folder.uri},
        "parts": parts,
    }


def _examples(corpus: Corpus, augmented: Augmented, count: int) -> list[dict[str, list[Any]]]:
    """Return the texts of the first rows, under `text`, and of what each part makes of them."""
    from augury.corpora.corpus import read_shard, sentence_columns

    columns = [*sentence_columns(corpus.columns), *(["label"] if "label" in corpus.columns else [])]
    first = corpus.shard(corpus.shards[0], ["id", *columns]).slice(0, count).to_pylist()
    examples = {row.pop("id"): {"text": [row]} for row in first}
    for part in augmented.parts:
        for shard in part.folder.manifest()["shards"]:
            for row in read_shard(part.folder, shard).to_pylist():
                parent = row["lineage"]["parents"][0] if "lineage" in row else row["id"]
                if parent in examples:
                    made = {name: row[name] for name in ("text", *columns) if name in row}
                    examples[parent].setdefault(part.name, []).append(made)
    return list(examples.values())


def _rejected(rows: Mapping[str, int], augmented: Augmented) -> dict[str, int]:
    """Return the numbers of rejected corpus rows and of rejected new records by reason."""
    from augury.augment.mixins import REJECTED

    counts = Counter(rows)
    for part in augmented.parts:
        manifest_counts = part.folder.manifest().get("counts", {})
        counts.update(
            {
                name.removeprefix(REJECTED): n
                for name, n in manifest_counts.items()
                if name.startswith(REJECTED)
            }
        )
    return dict(counts)


def _print(result: dict[str, Any], prefix: str) -> None:
    """Print the rows excluded and made; `prefix` stands before the settings of the filter."""
    excluded = result["rows_excluded"]
    print(
        f"rows in {result['rows_in']:,}  excluded {sum(excluded.values()):,}  kept "
        f"{result['rows_kept']:,}  added {result['rows_added']:,}"
    )
    for reason, count in excluded.items():
        print(f"  excluded {count:,}: {reason}{_limit(reason, result['filter'], prefix)}")
    for name, part in result["parts"].items():
        counts = "".join(f"  {count:,} {label}" for label, count in part["counts"].items())
        measures = "".join(f"  {label} {value:.2f} %" for label, value in part["measures"].items())
        print(
            f"  {name:<8} {part['folder']}{counts}{measures}{'' if part['made'] else '  (reused)'}"
        )
    print(f"address {result['address']}")
    for number, example in enumerate(result.get("examples", ()), 1):
        print(f"\nexample {number}")
        for name, rows in example.items():
            for row in rows:
                print(f"  {name:<10} {' | '.join(map(str, row.values()))}")


def _limit(reason: str, settings: Mapping[str, Any], prefix: str) -> str:
    """Return the setting of the filter that excludes rows for a reason, with its value; empty for
    none."""
    from augury.corpora.filters import REASON_SETTINGS

    section, _, name = REASON_SETTINGS.get(reason, "").partition(".")
    return f" ({prefix}{name}={settings[name]})" if section == "filter" and name in settings else ""


def _filter(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the settings of the filter that flags give; `none` is no limit."""
    from augury.core import config

    settings = config.parse_assignments(assignments, "--filter", "max_ratio=9")
    return {name: None if value == "none" else value for name, value in settings.items()}


def _inputs(arguments: argparse.Namespace) -> tuple[BaseSpec, list[Operator], Experiment | None]:
    """Return the corpus, the operators and the experiment, which is None with flags alone."""
    from augury.augment.mixins import UsesModels
    from augury.augment.operator import check_columns
    from augury.core import config
    from augury.corpora.languages import UNDETERMINED
    from augury.corpora.spec import CorpusSpec

    if arguments.experiment:
        return _experiment_inputs(arguments)
    missing = [
        flag for flag in ("source", "target", "operator") if getattr(arguments, flag) is None
    ]
    if missing:
        raise UserError(
            "give an experiment file, or --source, --target and --operator (missing: "
            f"{', '.join(missing)})"
        )
    if arguments.assignments:
        raise UserError(
            f"--set {arguments.assignments[0]} overrides an experiment file, but none is given: "
            "use the flags of the operator, listed by augury augment --operator "
            f"{arguments.operator} --help"
        )
    spec = config.validate(
        CorpusSpec,
        {
            "source_language": arguments.source_language or UNDETERMINED,
            "target_language": arguments.target_language or UNDETERMINED,
            "train": {"source": arguments.source, "target": arguments.target},
            **({"filter": _filter(arguments.filter)} if arguments.filter else {}),
        },
        "the corpus",
    )
    operator = _operator(arguments)
    check_columns(operator, spec.TEXT.KIND.columns)
    if isinstance(operator, UsesModels):
        raise UserError(
            f"operator {operator.operator} needs trained models: add it to augment in an "
            "experiment file, which defines their training; augury augment --operator "
            f"{operator.operator} --help shows an example"
        )
    return spec, [operator], None


def _experiment_inputs(
    arguments: argparse.Namespace,
) -> tuple[BaseSpec, list[Operator], Experiment]:
    from augury.core import config
    from augury.experiments.systems import load

    flags = [flag_of(name) for name in DIRECT if getattr(arguments, name) is not None]
    if flags:
        raise UserError(
            f"give an experiment file or {flags[0]}, not both; --set overrides settings of the file"
        )
    loaded = load(arguments.experiment, config.parse_assignments(arguments.assignments))
    if not loaded.augment:
        raise UserError(
            f"{arguments.experiment} has no operators: add e.g. augment: [{{operator: cipher, "
            "keys: [1, 2]}]"
        )
    return loaded.corpus, list(loaded.augment), loaded


def _train_models(experiment: Experiment, store: Store) -> list[Models]:
    """Return the models that the operators need; trains missing ones."""
    from augury.experiments import make

    return make.train_models(experiment.model_copy(update={"storage": store.root}), store)


def _add_parameters(parser: argparse.ArgumentParser, name: str) -> None:
    """Add an operator's parameters as flags.

    Does nothing for an unknown operator, which `run` rejects.

    Parameters that are sections are only listed: they need an experiment file.
    """
    from augury.augment import operator

    try:
        schema = operator.schema(name)
    except UserError:
        return
    parser.epilog = f"example:\n  {_example(name, schema)}"
    group, sections = parser.add_argument_group(f"parameters of operator {name}"), []
    descriptions = schema.descriptions()
    for key, field in schema.model_fields.items():
        keys = _keys(field.annotation)
        if keys is not None:
            sections.append(f"{key} {{{', '.join(keys) or '...'}}}: {descriptions[key]}")
        elif key != "operator":
            group.add_argument(
                f"--{key.replace('_', '-')}",
                default=argparse.SUPPRESS,
                dest=f"{PARAMETER}{key}",
                help=descriptions.get(key, "").replace("%", "%%"),
                **flag_arguments(field.annotation),
            )
    if sections:
        paragraphs = (
            textwrap.fill(" ".join(section.split()), 76, subsequent_indent="  ")
            for section in sections
        )
        parser.add_argument_group(
            f"sections of operator {name}, for experiment files", "\n".join(paragraphs)
        )


def _example(name: str, schema: type[Operator]) -> str:
    """Return an example command: on two files, or on an experiment where that is needed."""
    from augury.augment.draw import TokenDraw

    if not schema.EXAMPLE:
        return f"augury augment --source train.de --target train.en --operator {name}"
    augment = (
        f"{EXPERIMENTS}/{schema.EXAMPLE_FILE} --set 'augment=[{{operator: {name}, "
        f"{schema.EXAMPLE}}}]'"
    )
    if issubclass(schema, TokenDraw):
        return f"augury train {augment} --set 'systems={{}}'"
    return f"augury augment {augment}"


def _keys(annotation: Any) -> list[str] | None:
    """Return the settings of a parameter that is a section or several; None for a value.

    Those of a mapping, which is a section of another experiment, are unknown: an empty list.
    """
    from augury.core.config import Section

    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    if len(parts) == 1 and get_origin(annotation) in (Union, types.UnionType, tuple):
        annotation = parts[0]
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return list(annotation.model_fields)
    return [] if get_origin(annotation) is dict else None


def _operator(arguments: argparse.Namespace) -> Operator:
    """Return the operator with its parameters from flags."""
    from augury.augment import operator

    fields = operator.schema(arguments.operator).model_fields
    parameters = {
        key.removeprefix(PARAMETER): value
        for key, value in vars(arguments).items()
        if key.startswith(PARAMETER)
    }
    parameters |= {
        name: None
        for name, value in parameters.items()
        if value == "none" and type(None) in get_args(fields[name].annotation)
    }
    return operator.parse({"operator": arguments.operator, **parameters})
