"""`augury augment`: augment a corpus."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from typing import Any

from augury.augment import operator as operators
from augury.augment import pipeline
from augury.augment.health import Health
from augury.augment.operator import DRAW, Operator, check_columns
from augury.augment.pipeline import Augmented
from augury.cli.common import (
    RESULTS,
    add_executor,
    add_experiment,
    flag_of,
    print_json,
    whole_number,
)
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.messages import say
from augury.core.store import Store
from augury.corpora.corpus import Corpus, read_shard
from augury.corpora.filters import REASON_SETTINGS
from augury.corpora.ingest import ingest
from augury.corpora.languages import UNDETERMINED
from augury.corpora.spec import CorpusSpec
from augury.experiments.spec import Experiment
from augury.experiments.systems import load

EXAMPLE = """augury augment search_spaces/experiments/nli_table6.yaml --show 3
  augury augment --source train.de --target train.en --operator cipher --set 'keys=[1, 2]'"""
DIRECT = ("source", "target", "operator")
"""Arguments that replace an experiment file."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser, required=False)
    add = parser.add_argument_group("without an experiment file").add_argument
    add("--source", metavar="FILE", help="source text, one sentence per line")
    add("--target", metavar="FILE", help="target text, aligned with the source")
    add("--operator", metavar="NAME", help="operator, by name or path; with --help, its settings")
    add = parser.add_argument
    add("--storage", metavar="URI", help="for all output (default: the experiment's, or results)")
    add_executor(parser)
    text = "print the first N rows too, and what every operator makes of them"
    add("--show", type=whole_number, default=0, metavar="N", help=text)
    words = [part for word in argv for part in word.split("=", 1)]
    if "--operator" in words[:-1] and {"-h", "--help"} & {*words}:
        _list_settings(parser, words[words.index("--operator") + 1])


def _list_settings(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the settings of an operator to the help, with their defaults; UserError if there is no
    such operator."""
    lines = []
    for key, setting in operators.schema(name).model_json_schema()["properties"].items():
        if text := setting.get("description"):
            default = json.dumps(setting["default"]) if "default" in setting else "needed"
            text = f"{key} ({default}): {' '.join(text.split())}"
            lines.append(textwrap.fill(text, 76, subsequent_indent="  "))
    parser.add_argument_group(f"settings of operator {name}", "\n".join(lines))


def run(arguments: argparse.Namespace) -> int:
    if arguments.experiment:
        from augury.experiments import make

        experiment = _experiment(arguments)
        spec, chosen, execution = experiment.corpus, experiment.augment, experiment.execution
        storage = arguments.storage or experiment.storage
    else:
        spec, operator = _without_experiment(arguments)
        chosen, execution, storage = (operator,), Execution(), arguments.storage or RESULTS
    if draws := [operator.operator for operator in chosen if operator.makes() == DRAW]:
        raise UserError(
            f"operator {draws[0]} changes token ids during training and stores nothing: add it to "
            "augment in an experiment file and run `augury train`"
        )
    if arguments.executor:
        execution = execution.model_copy(update={"executor": arguments.executor})
    store = Store(storage)
    corpus, models = ingest(spec, "train", store), None
    if arguments.experiment:
        stored = experiment.model_copy(update={"storage": store.root})
        models = make.train_models(stored, store)
    augmented = pipeline.augment(corpus, chosen, store, models=models, execution=execution)
    if augmented.reused:
        say(f"reused: {', '.join(augmented.reused)}")
    result = _result(corpus, augmented)
    if arguments.show:
        result["examples"] = _examples(corpus, augmented, arguments.show)
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    return 0


def _experiment(arguments: argparse.Namespace) -> Experiment:
    """Return the experiment of a file; UserError where flags stand for one too."""
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
    return loaded


def _without_experiment(arguments: argparse.Namespace) -> tuple[CorpusSpec, Operator]:
    """Return the corpus and the operator that flags describe."""
    if missing := [name for name in DIRECT if getattr(arguments, name) is None]:
        raise UserError(
            "give an experiment file, or --source, --target and --operator (missing: "
            f"{', '.join(missing)})"
        )
    content = config.merge(
        {
            "corpus": {
                "source_language": UNDETERMINED,
                "target_language": UNDETERMINED,
                "train": {"source": arguments.source, "target": arguments.target},
            },
            "operator": arguments.operator,
        },
        config.parse_assignments(arguments.assignments, example="corpus.filter.max_ratio=9"),
    )
    spec = config.validate(CorpusSpec, content.pop("corpus"), "the corpus")
    operator = operators.parse(content)
    check_columns(operator, spec.KIND.columns)
    if operator.uses_models:
        raise UserError(
            f"operator {operator.operator} needs trained models: add it to augment in an "
            "experiment file, which defines their training"
        )
    return spec, operator


def _result(corpus: Corpus, augmented: Augmented) -> dict[str, Any]:
    """Return the rows and parts of an augmented corpus as JSON-like values."""
    parts: dict[str, dict[str, Any]] = {}
    for part in augmented.parts:
        manifest = part.folder.manifest()
        parts[part.name] = {
            "address": part.folder.name.rpartition("/")[2],
            "folder": part.folder.uri,
            "makes": part.operator.makes(),
            **{name: manifest[name] for name in ("rows", "counts", "health")},
            "made": part.name not in augmented.reused,
        }
    excluded = corpus.manifest["rejected"]
    return {
        "rows_in": corpus.rows + sum(excluded.values()),
        "rows_kept": corpus.rows,
        "rows_excluded": excluded,
        "rows_added": sum(part["rows"] for part in parts.values() if part["made"]),
        "corpus": {"address": corpus.address, "folder": corpus.folder.uri},
        "parts": parts,
    }


def _examples(corpus: Corpus, augmented: Augmented, count: int) -> list[dict[str, list[Any]]]:
    """Return the texts of the first rows, under `text`, and of what each part makes of them."""
    columns = list(corpus.kind.read)
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


def _print(result: dict[str, Any]) -> None:
    """Print the rows excluded and made."""
    excluded = result["rows_excluded"]
    print(
        f"rows in {result['rows_in']:,}  excluded {sum(excluded.values()):,}  kept "
        f"{result['rows_kept']:,}  added {result['rows_added']:,}"
    )
    for reason, count in excluded.items():
        setting = REASON_SETTINGS.get(reason, "").format(split="train")
        print(f"  excluded {count:,}: {reason}" + (f" (corpus.{setting})" if setting else ""))
    for name, part in result["parts"].items():
        made = "made" if part["made"] else "reused"
        print(f"  {name:<12} {part['folder']}: {Health(**part['health']).text}, {made}")
    for number, example in enumerate(result.get("examples", ()), 1):
        print(f"\nexample {number}")
        for name, texts in example.items():
            for text in texts:
                print(f"  {name:<10} {' | '.join(map(str, text.values()))}")
