"""Help texts: all can be shown, all examples are valid, and none needs slow imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from augury.cli import verbs
from augury.core import config
from augury.experiments import systems
from augury.reporting.papers import table as published
from augury.sweeping import space
from tests.commands import parsed

ROOT = Path(__file__).parents[2]
HEAVY = {"ctranslate2", "datasets", "mlflow", "pandas", "plotly", "ray", "sacrebleu"}
HEAVY |= {"sacremoses", "scipy", "torch", "transformers"}
"""Packages that take more than 0.1 s to import."""
UNUSED_BY_HELP = HEAVY | {"_hashlib", "numpy", "pyarrow", "pydantic", "uuid", "yaml"}
"""What `augury --help` does not use; its goal is 0.1 s."""

PROGRAM = """
import contextlib, io, json, sys
from augury.cli import main, verbs

def shown(*argv):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(argv)
    return out.getvalue()

imported, helps = {}, {"augury": shown(), "augury --help": shown("--help")}
imported["--help"] = sorted(sys.modules)
from augury.experiments import systems
for name in sys.argv[2:]:
    systems.load(f"search_spaces/experiments/{name}.yaml", {})
imported["an experiment file"] = sorted(sys.modules)
from augury.augment import operator
for verb in verbs.VERBS:
    helps[verb] = shown(verb, "--help")
for name in operator.OPERATORS.names():
    helps[f"augment --operator {name}"] = shown("augment", "--operator", name, "--help")
import augury.experiments.graph, trainables.nli, trainables.nmt, trainables.seq2seq
from augury.sweeping import declarations, plan, space
for name in declarations.SPACES.names():
    space.find(name, "toy")
imported["sweep --dry-run"] = sorted(sys.modules)
for _ in range(2):  # the texts are stored then
    stored = ("--set", f"storage={sys.argv[1]}")
    assert "cost" in shown("config", f"search_spaces/experiments/{sys.argv[2]}.yaml", *stored)
# pyarrow imports pandas where it makes an array; power needs scipy's quantiles of Student's t
imported["config"] = sorted(set(sys.modules) - {"pandas", "scipy"})
json.dump({"imported": imported, "helps": helps}, sys.stdout)
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The help texts of a new process, and the modules imported after each step."""
    storage, wide = tmp_path_factory.mktemp("help"), {**os.environ, "COLUMNS": "100"}
    names = ["demo_nmt", "demo_nli", "multi30k_5k_cipherdaug", "nli_ling_in_loop"]
    command = [sys.executable, "-c", PROGRAM, str(storage), *names]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True, env=wide)
    return dict(json.loads(done.stdout))


def test_help_and_checks_do_not_import_slow_packages(session: dict[str, Any]) -> None:
    assert not UNUSED_BY_HELP.intersection(session["imported"]["--help"])
    slow = {step: HEAVY.intersection(modules) for step, modules in session["imported"].items()}
    assert not any(slow.values()), slow


def test_every_help_has_a_valid_example(session: dict[str, Any]) -> None:
    """What an experiment, a space or a table is called in it exists and is valid."""
    helps = {name: text for name, text in session["helps"].items() if not name.startswith("augury")}
    assert {"augment --operator cipher", "augment --operator reorder", *verbs.VERBS} <= helps.keys()
    for name, text in helps.items():
        examples = list(parsed(text.rpartition("example:\n")[2]))
        assert {verb for verb, _ in examples} == {name.partition(" --operator ")[0]}, name
        for _, arguments in examples:
            if file := getattr(arguments, "experiment", None):
                systems.load(ROOT / file, config.parse_assignments(arguments.assignments))
            if hasattr(arguments, "space"):
                space.find(arguments.space, arguments.scale)
            if hasattr(arguments, "table"):
                table = published.find(arguments.table, arguments.scale)
                assert set(arguments.rows or ()) <= set(table.rows)
    assert len(list(parsed("\n".join(verbs.FIRST_STEPS)))) == 3


def test_completion_knows_every_verb_with_its_flags() -> None:
    whole = verbs.all_verbs()
    (of_verbs,) = (action.choices for action in whole._actions if action.choices)
    assert list(of_verbs) == list(verbs.VERBS)
    for verb, of_verb in of_verbs.items():
        alone = verbs.parser(verb, ())
        assert of_verb._option_string_actions.keys() == alone._option_string_actions.keys()
