"""`augury config`: check an experiment and its texts before training."""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from augury.cli.common import add_experiment, print_json
from augury.core.errors import UserError
from augury.core.naming import command, counted
from augury.core.progress import duration

if TYPE_CHECKING:
    from augury.experiments.preflight import LeftOutRows, Report, TextSummary
    from augury.experiments.spec import Experiment

HELP = (
    "Check an experiment before training: settings, texts, keys, sizes, excluded rows and "
    "estimated cost."
)
EXAMPLE = "augury config search_spaces/experiments/multi30k.yaml --set regime.label_smoothing=0.2"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXTENDS_SCHEMA = {
    "type": "string",
    "description": "An experiment file that this one extends, relative to it: mappings are merged, "
    "and anything else is replaced.",
}
MOST_LABELS = 8
"""The number of labels whose shares are printed."""
RACE_COST = 40
"""One seed of all systems of a race of `augmentations`, in trainings of the baseline, at most: by
its estimates 38 for translation, 18 to 20 for labels."""
BUDGETS = {"30m": 0.5, "1h": 1, "2h": 2, "4h": 4, "8h": 8, "16h": 16, "1d": 24, "2d": 48, "4d": 96}
"""The budgets that are proposed, in hours."""
FIRST_LOOK, LONG = 1800.0, 3600.0
"""Seconds of a first look at an experiment that takes longer than the latter."""
MAX_CHARACTERS = 60
"""Length at which printed sentences are truncated."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser, required=False)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--syntax", action="store_true", help="check only the file, without reading its texts"
    )
    mode.add_argument(
        "--resolved",
        action="store_true",
        help="print all settings with defaults, and run addresses",
    )
    mode.add_argument(
        "--graph",
        action="store_true",
        help="list all that the experiment makes, what of it exists, and the cost of the rest",
    )
    mode.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON Schema of experiment files for editors; takes no FILE",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core import config
    from augury.experiments.systems import expand, load

    if arguments.schema:
        print_json(json_schema())
        return 0
    if arguments.experiment is None:
        raise UserError(
            "no experiment file is given: use augury config FILE; `augury init` writes a file"
        )
    if arguments.resolved or arguments.graph:
        loaded = load(arguments.experiment, config.parse_assignments(arguments.assignments))
        listed = _resolved if arguments.resolved else _graph
        listed(loaded, expand(loaded), arguments.json)
        return 0
    return show(
        arguments.experiment,
        arguments.assignments,
        as_json=arguments.json,
        texts=not arguments.syntax,
    )


def show(
    path: str,
    assignments: Sequence[str],
    *,
    as_json: bool,
    texts: bool = True,
    without_model: str | None = None,
) -> int:
    """Check an experiment file and, if `texts`, its texts; print the result.

    `without_model` is the next command where the pretrained model cannot be had.
    """
    from augury.core import config
    from augury.experiments.systems import expand, load

    loaded = load(path, config.parse_assignments(assignments))
    systems = expand(loaded)
    overrides = [word for assignment in assignments for word in ("--set", assignment)]
    tests = dict.fromkeys(test for system in systems.values() for test in system.test_sets)
    facts: dict[str, Any] = {
        "file": path,
        "set": list(assignments),
        "name": loaded.name,
        "systems": list(systems),
        "seeds": list(loaded.seeds),
        "runs": len(systems) * len(loaded.seeds),
        "test_sets": list(tests),
        "power": [],
        "next": command("augury", "train", path, *overrides),
        "sweep": None,
        "look": None,
    }
    report, power, budget = None, [], next(iter(BUDGETS))
    race = all(system.training.validations is not None for system in systems.values())
    if texts:
        report, power = _preflight(loaded, systems), _power(loaded, systems)
        facts |= {
            "texts": [asdict(text) for text in report.texts],
            "cautions": list(report.cautions),
            "cost": _cost(loaded, report),
            "power": [asdict(statement) for statement in power],
        }
        if baseline := report.costs[next(iter(systems))]:
            hours = RACE_COST * baseline.seconds / 3600
            days = f"{math.ceil(hours / 24)}d"
            budget = next((name for name, limit in BUDGETS.items() if hours <= limit), days)
        facts["look"] = _first_look(path, overrides, loaded, systems, report)
    if report and report.unreachable:
        tiny = ("--set", "model={architecture: tiny}")
        facts["next"] = without_model or command("augury", "config", path, *overrides, *tiny)
        facts["look"] = None
    elif race:  # it decides at validations
        sweep = ("augury", "sweep", "augmentations", path, "--budget", budget, *overrides)
        facts["sweep"] = command(*sweep)
    if as_json:
        print_json(facts)
        return 0
    lines = [line for statement in power for line in statement.lines()]
    print("\n".join(_lines(facts, report, lines)))
    return 0


def _power(loaded: Experiment, systems: Mapping[str, Experiment]) -> list[Any]:
    """Return what the experiment can see on each test set."""
    if len(systems) < 2:  # nothing to compare
        return []
    from augury.core.store import Store
    from augury.reporting.power import planned_power  # imports SciPy

    return planned_power([*systems.values()], Store(loaded.storage), len(loaded.seeds))


def _preflight(loaded: Experiment, systems: Mapping[str, Experiment]) -> Report:
    """Return the preflight report on an experiment's systems, computed without Ray."""
    from augury.core.store import Store
    from augury.experiments import preflight

    execution = loaded.execution.model_copy(update={"executor": "local"})
    local = {
        name: system.model_copy(update={"execution": execution}) for name, system in systems.items()
    }
    return preflight.report(local, Store(loaded.storage))


def _cost(loaded: Experiment, report: Report) -> dict[str, Any]:
    """Return the estimated cost of all runs; None where a part of it is unknown."""
    from augury.experiments.cost import ERROR_FACTOR
    from augury.experiments.estimates import estimate

    whole = estimate(report.graph, loaded)
    unknown = ", ".join(name for name, cost in report.costs.items() if cost is None)
    return {
        "seconds": whole and whole.all_seeds,
        "bytes": whole and whole.bytes,
        "at_once": whole and whole.at_once,
        "rough": ERROR_FACTOR,
        "text": str(whole or f"not known before the models of {unknown} are fetched"),
        "by_system": {name: cost and cost._asdict() for name, cost in report.costs.items()},
    }


def _first_look(
    path: str,
    overrides: Sequence[str],
    loaded: Experiment,
    systems: Mapping[str, Experiment],
    report: Report,
) -> str | None:
    """Return the command that trains one seed for about half an hour in all, and at least twice as
    long as the warm-up of any regime; None where that is not much less than the whole
    experiment."""
    from augury.experiments.estimates import estimate

    whole, most = estimate(report.graph, loaded), loaded.training.max_epochs
    if not most or not whole or whole.all_seeds < LONG:
        return None
    epochs = int(most * FIRST_LOOK * len(loaded.seeds) / whole.all_seeds)
    for name, system in systems.items():
        if cost := report.costs[name]:
            onset = system.regime.onset(cost.updates_per_epoch) / cost.updates_per_epoch
            epochs = max(epochs, math.ceil(2 * onset))
    if not 1 <= epochs <= most / 2:
        return None
    shorter = ("--seeds", str(loaded.seeds[0]), "--set", f"training.max_epochs={epochs}")
    return command("augury", "train", path, *overrides, *shorter)


def _lines(facts: Mapping[str, Any], report: Report | None, power: Sequence[str]) -> Iterator[str]:
    from augury.corpora.filters import NOT_SELECTED, REASONS

    def filled(text: str, width: int = 100) -> str:
        return textwrap.fill(text, width, subsequent_indent=" " * 7)

    systems, seeds = counted(len(facts["systems"]), "system"), counted(len(facts["seeds"]), "seed")
    names, runs = ", ".join(facts["systems"]), counted(facts["runs"], "run")
    doubtful = "; see the warnings at the end" if report and report.warnings else ""
    yield f"{facts['file']} is valid{doubtful}: {systems} ({names}) × {seeds} = {runs}"
    if report is None:
        return
    width = max(len(text.name) for text in report.texts)
    yield ""
    yield f"{'text':<{width}}  {'languages':<9}  {'rows':>11}  {'kept':>11}"
    for text in report.texts:
        languages = "-".join(text.languages)
        yield f"{text.name:<{width}}  {languages:<9}  {text.rows_in:>11,}  {text.rows:>11,}"
    yield from _labels(report.texts)
    for text in report.texts:
        for left_out in text.left_out:
            if left_out.reason != REASONS[NOT_SELECTED]:  # which is as the file says
                yield from _left_out(text.name, left_out)
    yield ""
    for caution in report.cautions:
        if caution not in report.warnings:
            yield filled(f"note   {caution}")
    for index, line in enumerate(power):
        yield filled(f"{'power  ' if index == 0 else '       '}{line}", 120)
    yield f"cost   {facts['cost']['text']}"
    yield f"next   {facts['next']}"
    if facts["look"]:
        yield f"look   {facts['look']}    # a first look, long before systems have learnt all"
    if facts["sweep"]:
        yield f"race   {facts['sweep']}    # which augmentation helps? a seed of each fits"
    for warning in report.warnings:  # last, where they are seen
        yield filled(f"warning: {warning}")


def _labels(texts: Sequence[TextSummary]) -> Iterator[str]:
    """Yield the shares of labels, once for texts with equal ones."""
    names: dict[str, list[str]] = {}
    for text in texts:
        if text.labels:
            counts = [*text.labels.items()]
            shown = [f"{of} {100 * count / text.rows:.1f} %" for of, count in counts[:MOST_LABELS]]
            shown += [f"and {len(counts) - MOST_LABELS} more"] * (len(counts) > MOST_LABELS)
            names.setdefault(", ".join(shown), []).append(text.name)
    yield from [""] * bool(names)
    for described, of in names.items():
        yield f"labels of {', '.join(of)}: {described}"


def _left_out(name: str, left_out: LeftOutRows) -> Iterator[str]:
    """Yield why rows of a text are excluded, the setting that keeps them, and examples."""
    value = left_out.value
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    remedy = "no setting includes them: fix the rows"
    if left_out.setting:
        remedy = f"setting {left_out.setting}: {value}"
    yield ""
    yield f"{counted(left_out.rows, 'row')} of {name} excluded: {left_out.reason} ({remedy})"
    for example in left_out.examples:
        sides = [text for key, text in example.items() if key != "place"]
        shown = [text[:MAX_CHARACTERS] + "…" * (len(text) > MAX_CHARACTERS) for text in sides]
        yield f"  {example['place']}: {' | '.join(shown)}"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of experiment files, for editors: all installed tasks and plug-ins.

    Settings of tasks given by their path are not included.
    """
    from pydantic.json_schema import models_json_schema

    from augury.core.plugin_files import PATH_PATTERN
    from augury.core.yaml_file import EXTENDS
    from augury.experiments.spec import TASKS, settings_class

    tasks = TASKS.names()
    classes = {name: settings_class(name) for name in tasks}
    references, definitions = models_json_schema(
        [(settings, "validation") for settings in classes.values()]
    )
    for reference in references.values():
        definition = definitions["$defs"][reference["$ref"].rpartition("/")[2]]
        definition["properties"][EXTENDS] = EXTENDS_SCHEMA
    return {
        "$schema": DIALECT,
        "title": "Augury experiment",
        "type": "object",
        "anyOf": [{"required": ["name", "task"]}, {"required": [EXTENDS]}],
        "properties": {
            EXTENDS: EXTENDS_SCHEMA,
            "task": {
                "description": "The name of the task, or the path of a directory that holds it.",
                "anyOf": [{"enum": tasks}, {"type": "string", "pattern": PATH_PATTERN}],
            },
        },
        "allOf": [
            {
                "if": {"properties": {"task": {"const": name}}, "required": ["task"]},
                "then": references[settings, "validation"],
            }
            for name, settings in classes.items()
        ],
        **definitions,
    }


def _graph(loaded: Experiment, systems: Mapping[str, Experiment], as_json: bool) -> None:
    """Print everything that an experiment makes, inputs first."""
    from augury.reporting.graphs import nodes
    from augury.reporting.tables import plain_text, records

    known = nodes(_preflight(loaded, systems).graph)
    if as_json:
        print_json([asdict(node) for node in known])
        return
    rows = []
    for node in known:
        state = "" if node.seconds is None else duration(node.seconds)
        state = "there" if node.exists else f"to be made {state}"
        rows.append({"kind": node.kind, "name": node.name, "state": state, "address": node.address})
    print(plain_text([records(rows, kind="words")]), end="")


def _resolved(loaded: Experiment, systems: Mapping[str, Experiment], as_json: bool) -> None:
    """Print all settings of every system and the addresses of their runs."""
    import yaml

    from augury.core.store import Store
    from augury.experiments.graph import Graph

    plans = Graph(Store(loaded.storage)).add(systems)
    shown = {
        name: {"address": plans[name].address, "settings": system.to_dict()}
        for name, system in systems.items()
    }
    if as_json:
        print_json(shown)
        return
    for name, system in shown.items():
        print(f"# {name}: run {system['address']}")
        yaml.safe_dump(system["settings"], sys.stdout, sort_keys=False, allow_unicode=True)
        print()
