"""The way in: every help text can be shown, every example can be typed, and none of it takes long to import."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import augury.cli
from augury.augment.draw import TokenDraw
from augury.augment.operator import schema
from augury.cli import verbs
from augury.experiments import experiment
from augury.sweeping import published, space
from tests.commands import parsed

ROOT = Path(__file__).parents[2]
HEAVY = {
    "ctranslate2",
    "datasets",
    "mlflow",
    "optuna",
    "pandas",
    "plotly",
    "ray",
    "sacrebleu",
    "sacremoses",
    "scipy",
    "torch",
    "transformers",
}
"""Packages that take a tenth of a second and more to import."""

NEWCOMER = """
import contextlib, io, json, sys
from augury.cli import main, verbs

def shown(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(words)
    return out.getvalue()

imported, helps = {}, {"augury": shown(), "augury --help": shown("--help")}
imported["--help"] = sorted(sys.modules)
for name in sys.argv[1:]:
    assert "is valid" in shown("config", f"search_spaces/experiments/{name}.yaml", "--syntax")
imported["config --syntax"] = sorted(sys.modules)
from augury.augment import operator
for verb in verbs.VERBS:
    helps[verb] = shown(verb, "--help")
helps["analyze keys"] = shown("analyze", "keys", "--help")
for name in operator.names():
    helps[f"augment --operator {name}"] = shown("augment", "--operator", name, "--help")
imported["augment --help"] = sorted(sys.modules)
import augury.experiments.preparation, trainables.nli, trainables.nmt, trainables.seq2seq
from augury.sweeping import plan, points, settings, space
for name in space.known():
    space.find(name, "toy")
imported["sweep --dry-run"] = sorted(sys.modules)
json.dump({"imported": imported, "helps": helps}, sys.stdout)
"""


@pytest.fixture(scope="module")
def newcomer() -> dict[str, Any]:
    """What a fresh process shows and imports, one step after the other."""
    experiments = ["demo_nmt", "demo_nli", "multi30k_5k_cipherdaug", "nli_ling_in_loop"]
    command = [sys.executable, "-c", NEWCOMER, *experiments]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize("step", ["--help", "config --syntax", "augment --help", "sweep --dry-run"])
def test_what_is_read_takes_nothing_heavy_to_import(newcomer: dict[str, Any], step: str) -> None:
    assert not HEAVY.intersection(newcomer["imported"][step])


def test_the_map_has_every_verb_in_its_group(newcomer: dict[str, Any]) -> None:
    with_help = [name for name in _modules() if hasattr(importlib.import_module(f"augury.cli.{name}"), "HELP")]
    assert sorted(with_help) == sorted(verbs.VERBS)
    assert newcomer["helps"]["augury"] == newcomer["helps"]["augury --help"]
    assert all(f"\n  {verb} " in newcomer["helps"]["augury"] for verb in verbs.VERBS)


def test_every_help_has_an_example_that_can_be_typed(newcomer: dict[str, Any]) -> None:
    helps = {name: text for name, text in newcomer["helps"].items() if not name.startswith("augury")}
    assert {"augment --operator cipher", "augment --operator reorder", *verbs.VERBS} <= helps.keys()
    for name, text in helps.items():
        examples = list(parsed(text.rpartition("example:\n")[2]))
        verb, _, operator = name.partition(" --operator ")
        shown = "train" if operator and issubclass(schema(operator), TokenDraw) else verb.split()[0]
        assert examples and all(verb == shown for verb, _ in examples), name
        for _, arguments in examples:
            _check(arguments)
    assert len(list(parsed("\n".join(line for line, _ in verbs.BEGINNING)))) == 3


def _modules() -> Iterator[str]:
    return (module.name for module in pkgutil.iter_modules(augury.cli.__path__) if module.name != "__main__")


def _check(arguments: Any) -> None:
    """UserError unless experiments, spaces and tables that are named are there and valid."""
    if getattr(arguments, "experiment", None):
        experiment.load(ROOT / arguments.experiment, arguments.assignments)
    if hasattr(arguments, "space"):
        space.find(arguments.space, arguments.scale)
    if getattr(arguments, "table", None):
        table = published.find(arguments.table, arguments.scale)
        assert set(arguments.rows or ()) <= set(table.rows)
