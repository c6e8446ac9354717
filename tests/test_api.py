"""Augury from Python: frames in, frames out, and an import that costs nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import augury
from augury.core import config
from augury.core.errors import UserError
from tests import tiny
from tests.cli.test_train import TESTED, TOY

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
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    modules = set(json.loads(printed))
    slow = {"augury.api", "numpy", "pandas", "pydantic", "torch", "ray"}
    assert "augury" in modules and not modules & slow


def test_an_operator_makes_rows_that_name_their_parents() -> None:
    copies = augury.apply(PAIRS, "eda", copies=3, language="en")
    assert list(copies.columns) == ["premise", "hypothesis", "label", "origin", "parent"]
    assert copies["parent"].tolist() == ["x"] * 3 + ["y"] * 3 and set(copies["origin"]) == {"eda"}
    assert set(copies["label"]) == {"entailment"}
    assert (copies["premise"] != PAIRS["premise"]["x"]).any()
    assert augury.apply(PAIRS, "eda", copies=3, language="en").equals(copies)


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
    ("operator", "message"),
    [("cipher", "no source"), ("edda", "'eda'"), ("fuzzy_match", "works on a whole corpus")],
)
def test_what_an_operator_cannot_use(operator: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        augury.apply(PAIRS, operator)
    with pytest.raises(UserError, match="among review: call it text"):
        augury.apply(pd.DataFrame({"review": ["good"]}), "eda", language="en")
    with pytest.raises(UserError, match="'origin' is one that new rows get"):
        augury.apply(PAIRS.assign(origin="news"), "eda", language="en")


@pytest.mark.trains
def test_the_documented_lines_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = tiny.content("nmt", tmp_path / "results", **TOY)
    systems = {"baseline": {"regime": "plain", "augment": []}, "CipherDAug": {}}
    content |= {"name": "my", "systems": systems}
    content = config.merge(content, {**TESTED, "training.max_updates": 2})
    Path("my.yaml").write_text(yaml.safe_dump(content))
    lines = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", lines, re.DOTALL):
        if "augury.sweep" not in block and "augury.recommend" not in block:
            exec(block, names)  # those of sweeps: tests/sweeping/test_sweep.py
    assert sorted(names["frame"]["seed"]) == [1, 1, 2, 2]
    assert set(names["frame"]["metric"]) == {"bleu"}
    assert names["results"].equals(names["frame"])
    assert {"difference", "p"} <= set(names["comparison"].columns) and len(names["comparison"]) == 2
    assert set(names["enciphered"]["origin"]) == {"rot-1", "rot-2"}
    assert len(names["enciphered"]) == 4 and len(names["larger"]) == 6
    for name in ("frame", "comparison"):
        assert "differences mean nothing" in names[name].attrs["answer"]
    assert any("not shown to have learnt" in line for line in names["frame"].attrs["warnings"])
    with pytest.raises(UserError, match="training.max_updates"):
        augury.run("my.yaml", set={"training.max_updates": "many"})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: augury.run({"name": "x"}, set="seeds=1"), "a mapping of dotted keys"),
        (lambda: augury.run(3), "no experiment file '3'"),
        (lambda: augury.results(3), "no storage '3'"),
        (lambda: augury.apply(["ab"], "cipher"), "a DataFrame, not a list"),
        (lambda: augury.sweep("agreement", scheduler="fast"), "unknown scheduler 'fast'"),
        (lambda: augury.sweep("agreement", rows="ROT-1"), "a list of names"),
    ],
)
def test_an_argument_that_cannot_be_used_is_said_in_a_line(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        call()
