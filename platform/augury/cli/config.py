"""`augury config`: check an experiment and its texts before training."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from augury.cli.common import add_experiment, print_json, print_settings, print_table
from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import command, counted
from augury.core.store import Store
from augury.corpora.filters import NOT_SELECTED, REASONS
from augury.experiments import preflight
from augury.experiments.cost import ERROR_FACTOR, estimate_all
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand, load
from augury.reporting.numbers import number

EXAMPLE = "augury config search_spaces/experiments/multi30k.yaml --set regime.label_smoothing=0.2"
RACE_COST = 40
"""One seed of all systems of a race of `augmentations`, in trainings of the baseline, at most: by
its estimates 38 for translation, 18 to 20 for labels."""
LEAST_HOURS = 8
"""A race ends before its budget where all is decided; estimates, which hang on how fast this
machine is just now, are rounded up to a multiple of this."""
LEAST_ROWS = 1000
"""A race on a smaller part of the text would say little."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser, required=False)
    text = "print all settings with defaults, and run addresses"
    parser.add_argument("--resolved", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    path, assignments = arguments.experiment, arguments.assignments
    if path is None:
        raise UserError(
            "no experiment file is given: use augury config FILE; `augury init` writes a file"
        )
    if not arguments.resolved:
        return show(path, assignments, as_json=arguments.json)
    loaded = load(path, config.parse_assignments(assignments))
    systems = expand(loaded)
    plans = Graph(Store(loaded.storage)).add(systems)
    settings = {
        name: {"address": plans[name].address, "settings": system.to_dict()}
        for name, system in systems.items()
    }
    print_settings(settings, arguments.json)
    return 0


def _preflight(loaded: Experiment) -> preflight.Findings:
    """Return what preflight finds of an experiment's systems, computed without Ray."""
    execution = loaded.execution.model_copy(update={"executor": "local"})
    local = {
        name: system.model_copy(update={"execution": execution})
        for name, system in expand(loaded).items()
    }
    return preflight.examine(local, Store(loaded.storage))


def show(
    path: str, assignments: Sequence[str], *, as_json: bool, without_model: str | None = None
) -> int:
    """Check an experiment file and its texts; print the result.

    `without_model` is the next command where the pretrained model cannot be had.
    """
    loaded = load(path, config.parse_assignments(assignments))
    report = _preflight(loaded)
    facts = _facts(path, assignments, loaded, report)
    if report.unreachable and without_model:
        facts["next"] = without_model
    if as_json:
        print_json(facts)
    else:
        _print(facts, report)
    return 0


def _facts(
    path: str, assignments: Sequence[str], loaded: Experiment, report: preflight.Findings
) -> dict[str, Any]:
    """Return what is known of an experiment before it runs, and the commands that come next."""
    from augury.reporting.power import planned_power  # imports SciPy

    systems = expand(loaded)
    overrides = [word for assignment in assignments for word in ("--set", assignment)]
    tests = dict.fromkeys(test for system in systems.values() for test in system.test_sets)
    whole, baseline = estimate_all(report.graph, loaded), report.costs[next(iter(systems))]
    unknown = ", ".join(name for name, cost in report.costs.items() if cost is None)
    facts: dict[str, Any] = {
        "file": path,
        "set": list(assignments),
        "name": loaded.name,
        "systems": list(systems),
        "seeds": list(loaded.seeds),
        "runs": len(systems) * len(loaded.seeds),
        "test_sets": list(tests),
        "next": command("augury", "train", path, *overrides),
        "texts": [asdict(text) for text in report.texts],
        "warnings": report.warnings,
        "power": planned_power([*systems.values()], Store(loaded.storage), len(loaded.seeds)),
        "cost": {
            "seconds": whole and whole.all_seeds,
            "bytes": whole and whole.bytes,
            "at_once": whole and whole.at_once,
            "rough": ERROR_FACTOR,
            "text": str(whole or f"not known before the models of {unknown} are fetched"),
            "by_system": {name: cost and cost._asdict() for name, cost in report.costs.items()},
        },
        "sweep": None,
        "sweep_of_part": None,
    }
    if report.unreachable:
        tiny = ("--set", "model={architecture: tiny}")
        facts["next"] = command("augury", "config", path, *overrides, *tiny)
    else:
        takes = RACE_COST * baseline.seconds if baseline else 0.0
        hours = LEAST_HOURS * max(1, math.ceil(takes / 3600 / LEAST_HOURS))
        race = ("augury", "sweep", "augmentations", path, *overrides)
        facts["sweep"] = command(*race, "--budget", f"{hours}h")
        rows = [text.rows for text in report.texts if text.name == "train"]
        if hours > LEAST_HOURS and len(rows) == 1:
            part = rows[0] * LEAST_HOURS // hours
            if part >= LEAST_ROWS:
                of_part = ("--budget", f"{LEAST_HOURS}h", "--set", f"corpus.train.subset={part}")
                facts["sweep_of_part"] = command(*race, *of_part)
    return facts


def _print(facts: dict[str, Any], report: preflight.Findings) -> None:
    """Print facts for people, with what preflight left out and warns of."""
    systems = facts["systems"]
    listed = f"{counted(len(systems), 'system')} ({', '.join(systems)})"
    listed += f" × {counted(len(facts['seeds']), 'seed')} = {counted(facts['runs'], 'run')}"
    hint = "; see the warnings at the end" if report.warnings else ""
    print(f"{facts['file']} is valid{hint}: {listed}")
    labelled = any(text.labels for text in report.texts)
    print_table([_row(text, labelled) for text in report.texts])
    for text in report.texts:
        for left_out in text.left_out:
            if left_out.reason != REASONS[NOT_SELECTED]:  # which is as the file says
                print(_left_out(text.name, left_out))
    for line in facts["power"]:
        print(f"power  {line}")
    print(f"cost   {facts['cost']['text']}")
    print(f"next   {facts['next']}")
    if facts["sweep"]:
        print(f"race   {facts['sweep']}    # a seed of each; with less, the dearest are left out")
    if facts["sweep_of_part"]:
        print(f"or     {facts['sweep_of_part']}    # on a part of the text")
    for warning in report.warnings:  # last, where they are seen
        print(f"warning: {warning}")


def _row(text: preflight.TextSummary, labelled: bool) -> dict[str, object]:
    """Return a text as a row of the table, with the number of labels and the most frequent one."""
    row: dict[str, object] = {"text": text.name, "languages": "-".join(text.languages)}
    row |= {"rows": number(text.rows_in, "count"), "kept": number(text.rows, "count")}
    if labelled:
        shares = {label: number(n / text.rows, "share") for label, n in text.labels.items()}
        counts = [f"{share} {label}" for label, share in shares.items()]
        row["labels"] = f"{len(counts)}, {counts[0]}" if counts else "none"
    return row


def _left_out(name: str, left_out: preflight.LeftOutRows) -> str:
    """Return why rows of a text are excluded, and the setting that keeps them."""
    value = left_out.value
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    remedy = "no setting includes them: fix the rows"
    if left_out.setting:
        remedy = f"setting {left_out.setting}: {value}"
    return f"{counted(left_out.rows, 'row')} of {name} excluded: {left_out.reason} ({remedy})"
