"""`augury config`: check an experiment and its texts before training."""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from augury.cli.common import add_experiment, print_json
from augury.core.errors import UserError
from augury.core.naming import counted

if TYPE_CHECKING:
    from augury.experiments.cost import Cost
    from augury.experiments.preflight import LeftOutRows, Report, TextSummary
    from augury.experiments.spec import Experiment
    from augury.reporting.power import PlannedPower

HELP = (
    "Check an experiment before training: settings, texts, keys, sizes, excluded rows and "
    "estimated cost."
)
EXAMPLE = "augury config search_spaces/experiments/multi30k.yaml --set regime.label_smoothing=0.2"
MOST_LABELS = 8
DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXTENDS_SCHEMA = {
    "type": "string",
    "description": "An experiment file that this one extends, relative to it: mappings are merged, "
    "and anything else is replaced.",
}
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
        nargs="?",
        choices=["text", "mermaid"],
        const="text",
        help="show everything that the experiment needs, what of it exists, and the cost of the "
        "rest: as text (default), or as a drawing in Mermaid",
    )
    mode.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON Schema of experiment files for editors; takes no FILE",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.schema:
        print_json(json_schema())
        return 0
    if arguments.experiment is None:
        raise UserError(
            "no experiment file is given: use augury config FILE; `augury init` writes a file"
        )
    if arguments.resolved:
        return _resolved(arguments.experiment, arguments.assignments, arguments.json)
    if arguments.graph:
        return _graph(arguments.experiment, arguments.assignments, arguments.graph, arguments.json)
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
    report = _preflight(loaded, systems) if texts else None
    facts = {"file": path, "set": list(assignments), **_facts(loaded, systems, report)}
    statements = _power(loaded, systems) if texts else []
    facts["power"] = [asdict(statement) for statement in statements]
    budget = _budget(report.costs[next(iter(systems))]) if report else ""
    facts["next"], facts["sweep"] = _next(path, assignments, report, without_model, budget)
    facts["look"] = (
        _first_look(path, assignments, loaded, systems, report, facts["cost"]["seconds"])
        if report
        else None
    )
    if any(system.training.validations is None for system in systems.values()):
        facts["sweep"] = None  # a race decides at validations
    if as_json:
        print_json(facts)
    else:
        print(
            "\n".join(
                _lines(path, facts, report, [line for part in statements for line in part.lines()])
            )
        )
    return 0


def _power(loaded: Experiment, systems: dict[str, Experiment]) -> list[PlannedPower]:
    """Return what the experiment can see on each test set."""
    if len(systems) < 2:  # nothing to compare
        return []
    from augury.core.store import Store
    from augury.reporting.power import planned_power  # imports SciPy

    return planned_power([*systems.values()], Store(loaded.storage), len(loaded.seeds))


def _preflight(loaded: Experiment, systems: dict[str, Experiment]) -> Report:
    """Return the preflight report on an experiment's systems, computed without Ray."""
    from augury.core.store import Store
    from augury.experiments import preflight

    execution = loaded.execution.model_copy(update={"executor": "local"})
    local = {
        name: system.model_copy(update={"execution": execution}) for name, system in systems.items()
    }
    return preflight.report(local, Store(loaded.storage))


def _facts(
    loaded: Experiment, systems: dict[str, Experiment], report: Report | None
) -> dict[str, Any]:
    runs = len(systems) * len(loaded.seeds)
    facts: dict[str, Any] = {
        "name": loaded.name,
        "systems": list(systems),
        "seeds": list(loaded.seeds),
        "runs": runs,
        "test_sets": list(
            dict.fromkeys(test for system in systems.values() for test in system.test_sets)
        ),
    }
    if report is None:
        return facts
    return facts | {
        "texts": [asdict(text) for text in report.texts],
        "cautions": list(report.cautions),
        "cost": _cost(loaded, report),
    }


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


def _lines(
    path: str, facts: dict[str, Any], report: Report | None, power: Sequence[str]
) -> Iterator[str]:
    from augury.corpora.filters import NOT_SELECTED, REASONS

    systems, seeds = counted(len(facts["systems"]), "system"), counted(len(facts["seeds"]), "seed")
    names, runs = ", ".join(facts["systems"]), counted(facts["runs"], "run")
    doubtful = "; see the warnings at the end" if report and report.warnings else ""
    yield f"{path} is valid{doubtful}: {systems} ({names}) × {seeds} = {runs}"
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
            if left_out.reason == REASONS[NOT_SELECTED]:  # as the file says
                continue
            yield ""
            yield from _left_out(text.name, left_out)
    yield ""
    for caution in report.cautions:
        if caution not in report.warnings:
            yield textwrap.fill(f"note   {caution}", 100, subsequent_indent=" " * 7)
    for index, line in enumerate(power):
        yield textwrap.fill(
            f"{'power  ' if index == 0 else '       '}{line}", 120, subsequent_indent=" " * 7
        )
    yield f"cost   {facts['cost']['text']}"
    yield f"next   {facts['next']}"
    if facts["look"]:
        yield f"look   {facts['look']}    # a first look, long before systems have learnt all"
    if facts["sweep"]:
        yield f"race   {facts['sweep']}    # which augmentation helps? a seed of each fits"
    for warning in report.warnings:  # last, where they are seen
        yield textwrap.fill(f"warning: {warning}", 100, subsequent_indent=" " * 7)


def _next(
    path: str,
    assignments: Sequence[str],
    report: Report | None,
    without_model: str | None,
    budget: str,
) -> tuple[str, str | None]:
    """Return the command to go on with, and that which races all augmentations; without the
    pretrained model, one that needs none, and None."""
    from augury.core.naming import command

    overrides = [word for assignment in assignments for word in ("--set", assignment)]
    if report is None or not report.unreachable:
        race = command("augury", "sweep", "augmentations", path, "--budget", budget, *overrides)
        return command("augury", "train", path, *overrides), race
    from_nothing = ("--set", "model={architecture: tiny}")
    return without_model or command("augury", "config", path, *overrides, *from_nothing), None


def _first_look(
    path: str,
    assignments: Sequence[str],
    loaded: Experiment,
    systems: dict[str, Experiment],
    report: Report,
    seconds: float | None,
) -> str | None:
    """Return the command that trains one seed for about half an hour in all, and at least twice as
    long as the warm-up of any regime; None where that is not much less than the whole experiment,
    which takes `seconds`."""
    from augury.core.naming import command

    most = loaded.training.max_epochs
    if report.unreachable or not most or not seconds or seconds < LONG:
        return None
    epochs = int(most * FIRST_LOOK * len(loaded.seeds) / seconds)
    for name, system in systems.items():
        if cost := report.costs[name]:
            onset = system.regime.onset(cost.updates_per_epoch) / cost.updates_per_epoch
            epochs = max(epochs, math.ceil(2 * onset))
    if not 1 <= epochs <= most / 2:
        return None
    shorter = ("--seeds", str(loaded.seeds[0]), "--set", f"training.max_epochs={epochs}")
    overrides = [word for assignment in assignments for word in ("--set", assignment)]
    return command("augury", "train", path, *overrides, *shorter)


def _budget(baseline: Cost | None) -> str:
    """Return a budget for a race of all augmentations, in which one seed of all fits."""
    hours = RACE_COST * baseline.seconds / 3600 if baseline else 0.0
    return next(
        (name for name, limit in BUDGETS.items() if hours <= limit), f"{math.ceil(hours / 24)}d"
    )


def _labels(texts: Sequence[TextSummary]) -> Iterator[str]:
    """Yield the shares of labels, once for texts with equal ones."""
    names: dict[str, list[str]] = {}
    for text in texts:
        shares = [
            f"{label} {100 * count / text.rows:.1f} %" for label, count in text.labels.items()
        ]
        more = [f"and {len(shares) - MOST_LABELS} more"] if len(shares) > MOST_LABELS else []
        if shares:
            names.setdefault(", ".join([*shares[:MOST_LABELS], *more]), []).append(text.name)
    if names:
        yield ""
    for described, of in names.items():
        yield f"labels of {', '.join(of)}: {described}"


def _left_out(name: str, left_out: LeftOutRows) -> Iterator[str]:
    value = left_out.value
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    remedy = (
        f"setting {left_out.setting}: {value}"
        if left_out.setting
        else "no setting includes them: fix the rows"
    )
    yield f"{counted(left_out.rows, 'row')} of {name} excluded: {left_out.reason} ({remedy})"
    for example in left_out.examples:
        sides = (text for key, text in example.items() if key != "place")
        yield f"  {example['place']}: {' | '.join(_truncate(text) for text in sides)}"


def _truncate(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


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


def _graph(path: str, assignments: Sequence[str], form: str, as_json: bool) -> int:
    """Print the graph of what an experiment needs."""
    from augury.core import config
    from augury.experiments.systems import expand, load
    from augury.reporting import graphs
    from augury.reporting.graphs import nodes

    loaded = load(path, config.parse_assignments(assignments))
    known = nodes(_preflight(loaded, expand(loaded)).graph)
    if as_json:
        print_json([asdict(node) for node in known])
    else:
        print(graphs.text(known) if form == "text" else graphs.mermaid(known), end="")
    return 0


def _resolved(path: str, assignments: Sequence[str], as_json: bool) -> int:
    """Print all settings of every system and the addresses of their runs."""
    import yaml

    from augury.core import config
    from augury.core.store import Store
    from augury.experiments.graph import Graph
    from augury.experiments.systems import expand, load

    loaded = load(path, config.parse_assignments(assignments))
    systems = expand(loaded)
    plans = Graph(Store(loaded.storage)).add(systems)
    addresses = {name: plan.address for name, plan in plans.items()}
    if as_json:
        print_json(
            {
                name: {"address": addresses[name], "settings": system.to_dict()}
                for name, system in systems.items()
            }
        )
        return 0
    for name, system in systems.items():
        print(f"# {name}: run {addresses[name]}")
        yaml.safe_dump(system.to_dict(), sys.stdout, sort_keys=False, allow_unicode=True)
        print()
    return 0
