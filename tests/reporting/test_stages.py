"""The table of stages, and stages as people name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.reporting.find import load_systems
from augury.reporting.results import load_groups
from augury.reporting.system_tables import stage_table
from tests import tiny

pytestmark = pytest.mark.trains

TUNE = {"corpus.train": {"builtin": 30, "seed": 5}, "training.max_epochs": 1}
TESTS = {f"test-{number}": {"builtin": 6, "seed": number} for number in range(1, 6)}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `augury train --json` says of a baseline and a double tuning, on five test sets."""
    import contextlib
    import io
    import json

    directory = tmp_path_factory.mktemp("stages")
    content = tiny.content(
        "nmt",
        directory / "store",
        corpus={**tiny.PARALLEL, "tests": TESTS},
        training={"max_tokens": 400, "max_epochs": 1, "weights": "best"},
        scoring={"metrics": ["bleu", "bleu:lower"], "bootstrap_samples": 20},
        systems={
            "baseline": {},
            "double": {
                "stages": {
                    "tune": TUNE,
                    "again": {"carry": "optimizer", "corpus.train.builtin": 20},
                }
            },
        },
    )
    (directory / "staged.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["train", str(directory / "staged.yaml"), "--json"]) == 0
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def test_every_stage_is_listed_behind_the_one_before_with_its_scores(
    trained: dict[str, Any],
) -> None:
    stages = trained["stages"]
    assert [stage["stage"] for stage in stages] == ["baseline", "double, tune", "double"]
    assert [stage["begins with"] for stage in stages] == ["–", "baseline", "double, tune"]
    assert [stage["takes over"] for stage in stages] == ["–", "weights", "optimizer"]
    assert [stage["pairs"] for stage in stages] == ["60", "30", "20"]
    assert [stage["run"] for stage in stages][::2] == [
        system["address"] for system in trained["systems"]
    ]
    for stage, system in zip(stages[::2], trained["systems"], strict=True):
        assert {test: stage[test] for test in TESTS} == {
            test: f"{scores['bleu']['value']:.1f}" for test, scores in system["tests"].items()
        }
        assert all("bleu:lower" in scores for scores in system["tests"].values())
    page = Path(trained["page"]).read_text()
    assert "double (3 trainings)" in page
    assert all(stage["run"] in page for stage in stages)


def test_a_run_without_stages_has_no_table(trained: dict[str, Any]) -> None:
    root, _, name = trained["runs"][0].partition("/runs/")
    baseline = load_groups([{1: Folder(root, f"runs/{name}")}])
    assert stage_table(baseline, list(TESTS), "bleu") is None


def test_a_stage_is_named_behind_its_run(trained: dict[str, Any]) -> None:
    address, run = trained["systems"][1]["address"], trained["runs"][1]
    root = run.partition("/runs/")[0]
    known = [stage["run"] for stage in trained["stages"]]
    for stage, expected in zip(("first", "tune", "again"), known, strict=True):
        assert stored_runs.locate(f"{address[:6]}:{stage}", root).name == f"runs/{expected}/seed-1"
        assert stored_runs.locate(f"{run}:{stage}").name == f"runs/{expected}/seed-1"
    compared = load_systems([f"{run}:first", f"{run}:tune", run], root)
    assert [system.address for system in compared] == known
    with pytest.raises(UserError, match="unknown stage of run .* 'tun': did you mean 'tune'"):
        stored_runs.locate(f"{run}:tun")
