"""Augury from Python: frames in, frames out, and an import that costs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

import augury
from augury.core.errors import UserError
from tests.cli.test_train import CONTENT

PAIRS = pd.DataFrame(
    {
        "premise": ["a small dog runs home", "she reads"],
        "hypothesis": ["a dog moves", "no"],
        "label": ["entailment"] * 2,
    },
    index=["x", "y"],
)


def test_importing_augury_imports_nothing_that_takes_time() -> None:
    code = "import augury, json, sys; print(json.dumps([*sys.modules])); augury.run"
    result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    modules = set(json.loads(result.stdout))
    assert "augury" in modules and not modules & {"augury.api", "numpy", "pandas", "pydantic", "torch", "ray"}


def test_encipher_keeps_the_index() -> None:
    texts = pd.Series(["hey, warum nicht?", "zwölf große übungen"], index=[3, 4], name="source")
    enciphered = augury.encipher(texts, 2, alphabet="abcdefghijklmnopqrstuvwxyzßäöü")
    assert enciphered.to_dict() == {3: "jgß, yctwo pkejv?", 4: "äyanh itqög bdwpigp"}
    assert augury.encipher(["ab", "ba"], 1).tolist() == ["ba", "ab"]


def test_an_operator_makes_rows_that_name_their_parents() -> None:
    copies = augury.apply(PAIRS, "eda", copies=3)
    assert list(copies.columns) == ["premise", "hypothesis", "label", "origin", "parent"]
    assert copies["parent"].tolist() == ["x"] * 3 + ["y"] * 3 and set(copies["origin"]) == {"eda"}
    assert set(copies["label"]) == {"entailment"} and (copies["premise"] != PAIRS["premise"]["x"]).any()
    assert augury.apply(PAIRS, "eda", copies=3).equals(copies)


def test_an_operator_of_views_makes_a_row_for_every_view() -> None:
    frame = pd.DataFrame({"source": ["ab", "bc"], "target": ["x", "y"]})
    views = augury.apply(frame, "cipher", keys=[1, 2])
    assert views.to_dict("list") == {
        "source": ["bc", "ca", "ca", "ab"],
        "target": ["x", "y"] * 2,
        "origin": ["rot-1"] * 2 + ["rot-2"] * 2,
        "parent": [0, 1] * 2,
    }


@pytest.mark.parametrize(
    ("frame", "operator", "parameters", "told"),
    [
        (PAIRS, "cipher", {}, "no source"),
        (PAIRS, "eda", {"copys": 2}, "unknown key 'copys'"),
        (PAIRS, "edda", {}, "unknown operator 'edda'"),
        (PAIRS, "semantic", {}, "augury augment FILE"),
    ],
)
def test_what_an_operator_cannot_use(frame: pd.DataFrame, operator: str, parameters: dict, told: str) -> None:
    with pytest.raises(UserError, match=told):
        augury.apply(frame, operator, **parameters)


@pytest.mark.skipif(find_spec("augury.reporting.frames") is None, reason="augury.reporting.frames is not there yet")
def test_an_experiment_is_run_and_its_results_are_rows(tmp_path: Path) -> None:
    tests = {**CONTENT["corpus"], "tests": {"news": {"builtin": 3}}}  # type: ignore[dict-item]
    settings = {"storage": str(tmp_path), "corpus": tests, "seeds": [1, 2], "training.max_updates": 2}
    frame = augury.run(CONTENT, **settings)
    assert sorted(frame["seed"]) == [1, 2] and set(frame["test"]) == {"news"} and set(frame["metric"]) == {"bleu"}
    assert augury.results(tmp_path).equals(frame)
    with pytest.raises(UserError, match="training.max_updates"):
        augury.run(CONTENT, **{"training.max_updates": "many"})
