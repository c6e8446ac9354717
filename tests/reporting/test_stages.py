"""The stages of a system: their table, and the words that name them."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.reporting.experiment import stage_table
from augury.reporting.find import load_systems
from augury.reporting.results import load_groups
from tests import tiny


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
