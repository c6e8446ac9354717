"""`augury train`: run an experiment file and compare its systems."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from augury.cli.common import (
    RESULTS,
    add_experiment,
    add_storage_and_seeds,
    example_input,
    print_json,
    settings_of,
)
from augury.cli.sweep import add_budget
from augury.core.naming import command, counted
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.core.store import Folder
    from augury.experiments.spec import Experiment

HELP = (
    "Run an experiment: prepare its data, train every system and seed, decode, score and compare."
)
EXAMPLE = "augury train search_spaces/experiments/multi30k_5k_cipherdaug.yaml --seeds 1 2 3"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser)
    add_storage_and_seeds(parser)
    add_budget(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.experiments.systems import load
    from augury.sweeping.request import seconds

    budget = seconds(arguments.budget)
    loaded = load(arguments.experiment, settings_of(arguments))
    rows = [name for name, system in loaded.systems.items() if system]
    if len(rows) > 1 and budget is None and loaded.training.validations is not None:
        choosing = ("augury", "sweep", "augmentations", arguments.experiment, "--rows", *rows)
        say(
            f"trains all {len(loaded.systems)} systems with every seed, however long that takes: "
            f"{command(*choosing, '--budget', '2h')} answers within a time"
        )
    return compare(loaded, arguments.json, budget, arguments.typed)


def compare(loaded: Experiment, as_json: bool, budget: float | None = None, typed: str = "") -> int:
    """Run an experiment and print the comparison of its systems, also written as a page.

    Return the exit code.

    Without test sets, prints the best validations of its runs instead.
    """
    from augury.core.naming import mlflow_command
    from augury.core.store import Store
    from augury.experiments import preflight
    from augury.experiments.recording import place
    from augury.experiments.systems import expand
    from augury.reporting import (
        experiment,
        rendering,
        reported,
        results,
        run_names,
        tables,
    )
    from augury.reporting.comparison import scored_sets
    from augury.sweeping.driver import run_experiment
    from augury.tracking.tracker import Tracker

    described = expand(loaded)
    trained = run_experiment(loaded, Tracker, budget=budget)
    runs, failures = trained.runs, trained.failures
    seeds = {name: system.seeds for name, system in described.items()}
    folders = [folder for of_system in runs.values() for folder in of_system.values()]
    store, report = Store(loaded.storage), None
    addresses = {
        name: next((run.name.split("/")[1] for run in runs.get(name, {}).values()), "")
        for name in seeds
    }
    page = reported.folder_of(store, loaded.name, addresses)
    systems = results.load_experiment(reported.with_earlier_seeds(page, runs), seeds)
    if scored_sets(systems):
        title = page.name.rpartition("/")[2]
        state = experiment.page_state(systems, title, failures)
        current = experiment.is_current(page, state)
        report = experiment.report(systems, title, failures, page=not current)
        if not current:
            experiment.write(report, page, systems, state)
            with Tracker(loaded.tracking, store) as tracker:
                tracker.report(loaded.name)
    if as_json:
        nothing: dict[str, Any] = {"answer": None, "tables": [], "stages": []}
        unscored = nothing | {"systems": [system.to_dict() for system in systems]}
        print_json(
            {
                **(report.data if report else unscored),
                "runs": [folder.uri for folder in folders],
                "validations": {folder.uri: results.best_validations(folder) for folder in folders},
                "page": page.location(reported.PAGE) if report else None,
                "cautions": [
                    *preflight.cautions(described.values()),
                    *preflight.text_cautions(described.values(), store),
                ],
                "failures": failures,
                "missing": trained.missing,
            }
        )
    elif folders:
        validations = tables.plain_text([experiment.validations(systems)]) if not report else ""
        print(rendering.text(report) if report else validations)
        if report:
            print(f"page     {page.location(reported.PAGE)}")
        for caution in preflight.text_cautions(described.values(), store):  # said at the start too
            print(f"warning  {caution}")
        print("MLflow  ", mlflow_command(place(loaded.tracking, store).uri))
        best = _best_run(runs, loaded.scoring.metrics)
        elsewhere = [] if store.root == Store(RESULTS).root else ["--storage", loaded.storage]
        print(
            f"next     {example_input(best)} | "
            f"{command('augury', 'translate', run_names.name_of(best), *elsewhere)}"
        )
    if trained.missing and not as_json:
        print(f"missing  {counted(trained.missing, 'training')}, for which the budget had no time")
        print(f"continue {typed}")
    return 1 if failures else 0


def _best_run(runs: Mapping[str, Mapping[int, Folder]], metrics: Sequence[str]) -> Folder:
    """Return the first run of the system that is best in validation, by the first of these metrics
    that all systems are validated by, or else by the loss; the last system where there is none."""
    from statistics import mean

    from augury.reporting.results import best_validations
    from augury.scoring.registry import lower_is_better

    values = {
        name: [best_validations(folder) for folder in seeds.values()]
        for name, seeds in runs.items()
    }
    shared = set.intersection(*(set(seed) for seeds in values.values() for seed in seeds))
    chosen = list(runs)[-1]
    if metric := next((name for name in (*metrics, "loss") if name in shared), None):
        means = {name: mean(seed[metric] for seed in seeds) for name, seeds in values.items()}
        chosen = (min if lower_is_better(metric) else max)(means, key=lambda name: means[name])
    return next(iter(runs[chosen].values()))
