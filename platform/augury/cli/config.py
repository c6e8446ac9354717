"""`augury config`: check an experiment file and show what it means."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from augury.cli.common import add_experiment, print_json

HELP = "Check an experiment file; with --resolved, show every setting of every system and the addresses of their runs."
EXAMPLE = "augury config search_spaces/experiments/multi30k_5k_cipherdaug.yaml --resolved --set model.dropout=0.1"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    add_experiment(parser)
    parser.add_argument("--resolved", action="store_true", help="print all settings, defaults included, and addresses")


def run(arguments: argparse.Namespace) -> int:
    import yaml

    from augury import experiment, trainable
    from augury.store import Store

    loaded = experiment.load(arguments.experiment, arguments.assignments)
    systems = experiment.systems(loaded)
    if not arguments.resolved:
        if arguments.json:
            print_json({"name": loaded.name, "systems": list(systems), "seeds": list(loaded.seeds)})
        else:
            named = f"{len(systems)} systems ({', '.join(systems)})"
            print(f"{arguments.experiment} is valid: {named} × {len(loaded.seeds)} seeds")
        return 0
    store, task = Store(loaded.storage), trainable.find(loaded.task)
    addresses = {name: task.address(system, store) for name, system in systems.items()}
    if arguments.json:
        print_json({name: {"address": addresses[name], "settings": system.plain()} for name, system in systems.items()})
        return 0
    for name, system in systems.items():
        print(f"# {name}: run {addresses[name]}")
        yaml.safe_dump(system.plain(), sys.stdout, sort_keys=False, allow_unicode=True)
        print()
    return 0
