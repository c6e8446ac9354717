"""Tables of systems: the settings in which they differ, their stages; what operators made."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.augment.health import Health
from augury.augment.operator import Rate
from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.reporting.comparison import comparison
from augury.reporting.find import load_systems
from augury.reporting.results import load_groups
from augury.reporting.system_tables import setting_table, stage_table
from tests import tiny
from tests.run_folders import load

NAMED = ["regime.name", "plain", "coregularised"]
USUAL = {"regime.name": "coregularised", "regime.beta": 5.0, "regime.tau": 1.0}
CIPHER = {"augment.0.operator": "cipher", "augment.0.keys": [1]}


@pytest.mark.parametrize(
    ("base", "other", "differing", "rows"),
    [
        ({"regime.name": "plain"}, USUAL, ["regime.name"], [NAMED]),
        (
            {"regime.name": "plain"},
            USUAL | {"regime.beta": 7.5},
            ["regime.name", "regime.beta"],
            [NAMED, ["regime.beta", "–", "7.5"]],
        ),
        ({}, CIPHER, [], [["augment.0.operator", "–", "cipher"], ["augment.0.keys", "–", "[1]"]]),
        ({"regime.name": "plain"}, {"regime.name": "plain", "keys": []}, [], []),
    ],
)
def test_settings_that_are_unset_or_defaults_are_no_difference(
    results: Any,
    base: Mapping[str, Any],
    other: Mapping[str, Any],
    differing: list[str],
    rows: list[list[str]],
) -> None:
    runs = [
        results.run(f"system {index}", f"{index}a" * 8, parameters={"augment": [], **parameters})
        for index, parameters in enumerate((base, other))
    ]
    first, second = load(runs)
    second = replace(second, record=replace(second.record, differing=tuple(differing)))
    shown = setting_table([first, second])
    assert ([] if shown is None else shown.lines()[1:]) == rows


def test_outputs_beyond_a_limit_are_a_warning_and_those_of_earlier_stages_count(
    results: Any,
) -> None:
    good = Health("rot-1", "cipher", 998, empty=0.0, copied=0.001, repeated=0.0, length=1.0)
    bad = Health("back_translation", "back_translation", 1, {"empty": 99}, empty=0.99)
    noise = Health("noise", "noise", 5, rates={"asr": Rate(0.1, 0.098, 900)}, measures={"WER": 12})

    def described(name: str, address: str, output: Health, **run: Any) -> Folder:
        folder: Folder = results.run(name, address, bleu=30.0)
        facts = {"run": {"health": [output.to_dict()], **run}}
        folder.write_record("run.json", {**folder.read_record("run.json"), **facts})
        return folder

    base = described("base", "aa" * 8, good)
    systems = load([base, described("+BT", "bb" * 8, bad)])
    (warning,) = comparison(systems, "test").warnings
    assert "made for +BT" in warning
    (system,) = load([described("tuned", "cc" * 8, noise, before="aa" * 8)])
    assert system.outputs == (good, noise)
    assert system.to_dict()["outputs"][1]["rates"]["asr"]["realised"] == 0.098


@pytest.mark.trains
def test_every_stage_has_its_scores_and_is_named_behind_its_run(tmp_path: Path) -> None:
    tests = {f"test-{number}": {"builtin": 6, "seed": number} for number in range(1, 6)}
    tune = {"corpus.train": {"builtin": 30, "seed": 5}, "training.max_epochs": 1}
    again = {"carry": "optimizer", "corpus.train.builtin": 20}
    content = tiny.content(
        "nmt",
        tmp_path / "store",
        corpus={**tiny.PARALLEL, "tests": tests},
        training={"max_tokens": 400, "max_epochs": 1, "weights": "best"},
        scoring={"metrics": ["bleu", "bleu:lower"], "bootstrap_samples": 20},
        systems={"baseline": {}, "double": {"stages": {"tune": tune, "again": again}}},
    )
    (tmp_path / "staged.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["train", str(tmp_path / "staged.yaml"), "--json"]) == 0
    trained = json.loads(out.getvalue())
    stages, systems = trained["stages"], trained["systems"]
    columns = {
        "stage": ["baseline", "double, tune", "double"],
        "begins with": ["–", "baseline", "double, tune"],
        "takes over": ["–", "weights", "optimizer"],
        "pairs": ["60", "30", "20"],
    }
    assert {name: [stage[name] for stage in stages] for name in columns} == columns
    known = [stage["run"] for stage in stages]
    assert known[::2] == [system["address"] for system in systems]
    for stage, system in zip(stages[::2], systems, strict=True):
        scores = {test: of["bleu"]["value"] for test, of in system["tests"].items()}
        assert {test: stage[test] for test in tests} == {
            test: f"{value:.1f}" for test, value in scores.items()
        }
    root, _, name = trained["runs"][0].partition("/runs/")
    baseline = load_groups([{1: Folder(root, f"runs/{name}")}])
    assert stage_table(baseline, list(tests), "bleu") is None
    address, run = systems[1]["address"], trained["runs"][1]
    for of_stage, expected in zip(("first", "tune", "again"), known, strict=True):
        for word in (f"{address[:6]}:{of_stage}", f"{run}:{of_stage}"):
            assert stored_runs.locate(word, root).name == f"runs/{expected}/seed-1"
    compared = load_systems([f"{run}:first", f"{run}:tune", run], root)
    assert [system.address for system in compared] == known
    with pytest.raises(UserError, match="'tun': did you mean 'tune'"):
        stored_runs.locate(f"{run}:tun")
