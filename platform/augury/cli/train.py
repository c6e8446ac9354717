"""`augury train`: run an experiment file and compare its systems."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import add_experiment, example_input, print_json

if TYPE_CHECKING:
    from augury.experiments.spec import Experiment

HELP = (
    "Run an experiment: prepare its data, train every system and seed, decode, score and compare."
)
EXAMPLE = (
    "augury train search_spaces/experiments/multi30k_5k_cipherdaug.yaml --set seeds='[1, 2, 3]'"
)


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_experiment(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.experiments.systems import load

    return compare(load(arguments.experiment, arguments.assignments), arguments.json)


def compare(loaded: Experiment, as_json: bool) -> int:
    """Run an experiment and print the comparison of its systems, also written as a page.

    Return the exit code.

    Without test sets, prints the best validations of its runs instead.
    """
    from augury.core.commands import command
    from augury.core.store import Store
    from augury.experiments import preflight
    from augury.experiments.execute import run_experiment
    from augury.experiments.graph import Graph
    from augury.experiments.nodes import nodes
    from augury.experiments.systems import expand
    from augury.experiments.tracking import place
    from augury.reporting import report, results, tables, terminal
    from augury.reporting.answer import answer
    from augury.reporting.comparison import scored_sets
    from augury.reporting.mean import compare_all
    from augury.reporting.stages import stage_table
    from augury.tracking.tracker import Tracker

    cautions = preflight.cautions(expand(loaded).values())
    store = Store(loaded.storage)
    graph = Graph(store)
    runs, failures = run_experiment(loaded, Tracker, graph)
    seeds = {name: system.seeds for name, system in expand(loaded).items()}
    systems = results.load_experiment(runs, seeds)
    comparisons = compare_all(systems, scored_sets(systems))
    stages = (
        stage_table(systems, scored_sets(systems), comparisons[0].metrics[0])
        if comparisons
        else None
    )
    folders = [folder for system in systems for folder in system.runs.values()]
    page = store.folder(report.KIND, loaded.name)
    if comparisons:
        report.write(page, systems, loaded.name, failures, nodes(graph))
    if as_json:
        print_json(
            {
                "answer": answer(comparisons[0]) if comparisons else None,
                "tables": [comparison.to_dict() for comparison in comparisons],
                "systems": [system.to_dict() for system in systems],
                "stages": [
                    dict(zip(stages.columns, line, strict=True)) for line in stages.lines()[1:]
                ]
                if stages
                else [],
                "runs": [folder.uri for folder in folders],
                "validations": {folder.uri: results.best_validations(folder) for folder in folders},
                "page": f"{page.uri}/{report.PAGE}" if comparisons else None,
                "cautions": cautions,
                "failures": failures,
            }
        )
    elif folders:
        print(terminal.text(comparisons) if comparisons else terminal.validations(systems))
        if stages:
            print(tables.plain_text([stages]), end="")
        if comparisons:
            print(f"page     {page.uri}/{report.PAGE}")
        print(
            "MLflow  ",
            command("mlflow", "ui", "--backend-store-uri", place(loaded.tracking, store).uri),
        )
        print(
            f"next     {example_input(folders[-1])} | "
            f"{command('augury', 'translate', folders[-1].uri)}"
        )
    return 1 if failures else 0
