"""`augury train`: run an experiment file and compare its systems."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from augury.cli.common import (
    add_executor,
    add_experiment,
    add_limits,
    elsewhere,
    example_input,
    print_json,
    print_missing,
)
from augury.core import config
from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.naming import command, counted, mlflow_command
from augury.core.plugin_files import allowing
from augury.core.store import Store
from augury.experiments import preflight
from augury.experiments.record import EXPERIMENT, REPORTS
from augury.experiments.recording import mlflow_uri
from augury.experiments.systems import expand, load
from augury.sweeping.request import seconds
from augury.sweeping.state import DEFINITION

EXAMPLE = "augury train search_spaces/experiments/multi30k_5k_cipherdaug.yaml --seeds 1 2 3"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser)
    add_limits(parser)
    add_executor(parser)


def run(arguments: argparse.Namespace) -> int:
    budget = seconds(arguments.budget)
    settings = config.parse_assignments(arguments.assignments)
    for name in ("storage", "seeds"):
        if (value := getattr(arguments, name)) is not None:
            settings[name] = value
    if arguments.executor:
        settings["execution.executor"] = arguments.executor
    file = Path(arguments.experiment)
    if not file.exists() and (file.parent / DEFINITION).exists():
        raise UserError(
            f"sweep {file.parent.name} recommends nothing yet: the command that began it continues "
            "it, until trials have finished"
        )
    loaded = load(arguments.experiment, settings)

    from augury.reporting import experiment, find, rendering, results, tables
    from augury.reporting.comparison import scored_sets
    from augury.sweeping.driver import run_experiment
    from augury.tracking.tracker import Tracker

    described = expand(loaded)
    if len(described) > 2 and budget is None:
        say(f"trains all {len(described)} systems to their end; `augury sweep` races methods")
    store, report = Store(loaded.storage), None
    page = store.folder(REPORTS, loaded.name)
    with Tracker(loaded.tracking, store) as recorder:
        trained = run_experiment(loaded, lambda *_: nullcontext(recorder), budget=budget)
        runs, failures = trained.runs, trained.failures
        folders = [folder for of_system in runs.values() for folder in of_system.values()]
        systems = results.load_experiment(runs, described)
        if scored_sets(systems):
            report = experiment.report(systems, loaded.name, failures)
            if experiment.write(report, page, systems):
                for folder in folders:
                    recorder(folder)
    text_warnings = preflight.text_warnings(described.values(), store)
    location = page.location(find.PAGE)
    if arguments.json:
        facts = {"answer": None, "tables": [], "systems": [system.to_dict() for system in systems]}
        further = {
            "runs": [folder.uri for folder in folders],
            "validations": {folder.uri: results.best_validations(folder) for folder in folders},
            "page": location if report else None,
            "warnings": [*preflight.setting_warnings(described.values()), *text_warnings],
            "failures": failures,
            "missing": trained.missing,
        }
        print_json({**(report.data if report else facts), **further})
        return 1 if failures else 0
    if report:
        print(rendering.text(report))
        print(f"page     {location}")
    elif folders:
        print(f"{tables.plain_text(experiment.validations(systems))}\n")
    if folders:
        for warning in text_warnings:  # said at the start too
            print(f"warning: {warning}")
        if loaded.tracking.enabled:
            print("MLflow  ", mlflow_command(mlflow_uri(loaded.tracking, store)))
        system, of_seeds = next(reversed(runs.items()))
        seed, last = next(reversed(of_seeds.items()))
        name = f"{loaded.name}/{system}/{seed}" if report else last.uri
        flags = [*elsewhere(loaded.storage), *allowing(last.read(EXPERIMENT))]
        example = command("augury", "translate", name, *flags)
        print(f"next     {example_input(last)} | {example}")
    if trained.missing:
        left = counted(trained.missing, "training")
        print_missing(left, trained.missing_seconds, arguments.typed)
    return 1 if failures else 0
