"""Help texts: all can be shown, all examples are valid, and none needs slow imports."""

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
from augury.core import config
from augury.experiments import systems
from augury.reporting.papers import table as published
from augury.sweeping import space
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
"""Packages that take more than 0.1 s to import."""
UNUSED_BY_HELP = HEAVY | {"_hashlib", "numpy", "pyarrow", "pydantic", "uuid", "yaml"}
"""What `augury --help` does not use; its goal is 0.1 s."""
UNUSED = HEAVY | {"google.protobuf", "psutil", "pyarrow.compute", "augury.scoring.comet"}
"""What neither `config` nor `translate` uses; the lighter ones are a twentieth of their time."""

PROGRAM = """
import contextlib, io, json, sys
from augury.cli import main, verbs

def shown(*argv):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(argv)
    return out.getvalue()

imported, helps = {}, {"augury": shown(), "augury --help": shown("--help")}
imported["--help"] = sorted(sys.modules)
for name in sys.argv[1:]:
    assert "is valid" in shown("config", f"search_spaces/experiments/{name}.yaml", "--syntax")
imported["config --syntax"] = sorted(sys.modules)
from augury.augment import operator
for verb in verbs.VERBS:
    helps[verb] = shown(verb, "--help")
for name in operator.names():
    helps[f"augment --operator {name}"] = shown("augment", "--operator", name, "--help")
imported["augment --help"] = sorted(sys.modules)
import augury.experiments.graph, trainables.nli, trainables.nmt, trainables.seq2seq
from augury.sweeping import declarations, plan, space
for name in declarations.known():
    space.find(name, "toy")
imported["sweep --dry-run"] = sorted(sys.modules)
assert "cost" in shown("config", f"search_spaces/experiments/{sys.argv[1]}.yaml")
# pyarrow imports pandas where it makes an array; power needs scipy's quantiles of Student's t
imported["config"] = sorted(set(sys.modules) - {"pandas", "scipy"})
json.dump({"imported": imported, "helps": helps}, sys.stdout)
"""


@pytest.fixture(scope="module")
def session() -> dict[str, Any]:
    """The help texts of a new process, and the modules imported after each step."""
    return dict(
        json.loads(
            _python(PROGRAM, "demo_nmt", "demo_nli", "multi30k_5k_cipherdaug", "nli_ling_in_loop")
        )
    )


def test_config_imports_only_what_it_uses_where_the_texts_are_stored(tmp_path: Path) -> None:
    program = (
        "import sys, augury.cli as cli; cli.main(sys.argv[1:]); "
        "print('imported:', *sorted(sys.modules))"
    )
    command = ["config", "search_spaces/experiments/demo_nmt.yaml", "--set", f"storage={tmp_path}"]
    for _ in range(2):
        imported = set(_python(program, *command).rpartition("imported:")[2].split())
        # pyarrow imports pandas where it makes an array
        assert HEAVY & imported <= {"pandas"}


def test_the_overview_imports_next_to_nothing(session: dict[str, Any]) -> None:
    assert not UNUSED_BY_HELP.intersection(session["imported"]["--help"])


@pytest.mark.parametrize(
    "step", ["--help", "config --syntax", "augment --help", "sweep --dry-run", "config"]
)
def test_help_and_checks_do_not_import_slow_packages(session: dict[str, Any], step: str) -> None:
    assert not HEAVY.intersection(session["imported"][step])


def test_the_overview_has_every_verb_in_its_group(session: dict[str, Any]) -> None:
    with_help = [
        name
        for name in _modules()
        if hasattr(importlib.import_module(f"augury.cli.{name}"), "HELP")
    ]
    assert sorted(with_help) == sorted(verbs.MODULES.get(verb, verb) for verb in verbs.VERBS)
    assert session["helps"]["augury"] == session["helps"]["augury --help"]
    assert all(f"\n  {verb} " in session["helps"]["augury"] for verb in verbs.VERBS)


def test_every_help_has_a_valid_example(session: dict[str, Any]) -> None:
    helps = {name: text for name, text in session["helps"].items() if not name.startswith("augury")}
    assert {"augment --operator cipher", "augment --operator reorder", *verbs.VERBS} <= helps.keys()
    for name, text in helps.items():
        examples = list(parsed(text.rpartition("example:\n")[2]))
        verb, _, operator = name.partition(" --operator ")
        expected = (
            "train" if operator and issubclass(schema(operator), TokenDraw) else verb.split()[0]
        )
        assert examples and all(verb == expected for verb, _ in examples), name
        for _, arguments in examples:
            _check(arguments)
    assert len(list(parsed("\n".join(line for line, _ in verbs.FIRST_STEPS)))) == 3


def _python(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout


def _modules() -> Iterator[str]:
    return (
        module.name
        for module in pkgutil.iter_modules(augury.cli.__path__)
        if module.name != "__main__"
    )


def _check(arguments: Any) -> None:
    """Raise UserError unless the experiments, spaces and tables in arguments exist and are
    valid."""
    if getattr(arguments, "experiment", None):
        systems.load(ROOT / arguments.experiment, config.parse_assignments(arguments.assignments))
    if hasattr(arguments, "space"):
        space.find(arguments.space, arguments.scale)
    if getattr(arguments, "table", None):
        table = published.find(arguments.table, arguments.scale)
        assert set(arguments.rows or ()) <= set(table.rows)
