"""The whole augmented NLI pipeline in one command: aligner, reorderer, generator, teacher,
attack, both languages; and what a reorderer learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.augment.health import Health
from augury.cli import main
from augury.core.store import Folder, Store
from augury.experiments.run import Run
from tests import tiny

pytestmark = pytest.mark.trains

ROWS = 60
SHORT = {"learning_rate": 0.004, "max_epochs": 1}
SAMPLING = {"max_length": 40}


def text(size: int, **settings: Any) -> dict[str, Any]:
    return {"builtin": size, "lexicon": 24, **settings}


def experiment(directory: Path) -> dict[str, Any]:
    """Return an experiment whose generators are trained for one epoch, and may write anything."""
    reorder = {
        "operator": "reorder",
        "parallel": {**tiny.PARALLEL, "train": text(ROWS), "valid": text(10)},
        "sampling": SAMPLING,
        "model": tiny.T5,
        "training": {**SHORT, "max_examples": None, "max_tokens": 500},
    }
    semantic = {
        "operator": "semantic",
        "copies": 1,
        "rectify": "agreement",
        "sampling": SAMPLING,
        "generator": {"model": tiny.T5, "training": SHORT},
        "teacher": {"model": tiny.ENCODER, "training": SHORT},
    }
    corpus = {
        "language": "qaa",
        "train": text(ROWS),
        "valid": text(30),
        "tests": {"qaa": text(30), "qab": text(30, language="qab")},
    }
    return tiny.content(
        "nli",
        directory / "store",
        baseline=True,
        corpus=corpus,
        max_length=48,
        augment=[reorder, semantic, {"operator": "eda", "copies": 2}],
        regime={"name": "adversarial", "epsilon": 0.02, "alpha_share": 1.0, "clean_weight": 1.0},
        training={"learning_rate": 0.004, "max_epochs": 3},
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_stage_runs_once_and_is_reused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, messages = train(tmp_path, capsys)
    assert not result["failures"] and "found, not" not in messages
    store = Store(tmp_path / "store")
    assert len(store.addresses("runs")) == 5  # of three models, the baseline and the system
    run = Run.read(Folder(store.root, str(Path(result["runs"][1]).relative_to(store.root))))
    assert_all_records_are_read(run, store, result)

    before = modification_times(tmp_path)
    again, messages = train(tmp_path, capsys)
    assert messages.count("found, not trained again") == 2  # the baseline and the system
    assert "found, not made again: reorder-qab, semantic, eda" in messages
    assert modification_times(tmp_path) == before and again["tables"] == result["tables"]


def train(directory: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """Run `augury train --json`; return its result and its messages."""
    path = directory / "whole.yaml"
    path.write_text(yaml.safe_dump(experiment(directory)))
    assert main(["train", str(path), "--json"]) == 0
    out, messages = capsys.readouterr()
    return json.loads(out), messages


def assert_all_records_are_read(run: Run, store: Store, result: dict[str, Any]) -> None:
    """Assert that the system is trained on what each operator says that it has made."""
    manifests = {
        origin: Folder(store.root, name).manifest() for origin, name in run.records.items()
    }
    rows = {origin: manifest["rows"] for origin, manifest in manifests.items()}
    made = Health(**manifests["semantic"]["health"])
    assert made.requested == 2 * ROWS  # one for each of the other two labels
    assert rows == {"reorder-qab": ROWS, "semantic": made.made, "eda": 2 * ROWS} and made.made > 0
    every = ROWS + sum(rows.values())
    assert result["tables"][0]["rows"][-1]["data_factor"] == pytest.approx(every / ROWS)
    assert [table["test"] for table in result["tables"]] == ["mean", "qaa", "qab"]
    mean, *languages = (table["rows"][-1] for table in result["tables"])
    assert mean["value"] == pytest.approx(sum(score["value"] for score in languages) / 2)


def modification_times(directory: Path) -> dict[str, int]:
    """Return the modification time of every file in the store except pages and locks, which
    every call writes."""
    files = [path for path in (directory / "store").rglob("*") if path.is_file()]
    return {
        str(path): path.stat().st_mtime_ns
        for path in files
        if not {"reports", ".locks"} & {*path.parts}
    }
