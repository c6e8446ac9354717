"""The whole augmented NLI pipeline in one command: aligner, reorderer, generator, teacher,
attack, both languages."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.store import Folder, Store
from augury.corpora.corpus import read_shard
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
        "fallback": True,
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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, messages = train(tmp_path, capsys)
    assert not result["failures"] and "found, not" not in messages
    store, run = Store(tmp_path / "store"), Path(result["runs"][1])
    assert_models_are_trained(run, store)
    rows = ROWS + assert_records(run, store)
    assert_both_languages_are_scored(result, rows)
    assert_pairs_are_labelled(run, store, monkeypatch, capsys)

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


def assert_models_are_trained(run: Path, store: Store) -> None:
    """Assert that the operators' manifests reference finished runs of their models."""
    roles = {}
    for folder in parts(run, store).values():
        roles |= folder.manifest()["side_data"].get("models", {})
    assert [*roles] == ["reorderer", "generator", "teacher"]
    for role, name in roles.items():
        folder = Folder(store.root, name)
        assert folder.complete and folder.exists("weights.safetensors")
        assert folder.read_record("run.json")["name"].startswith(f"{role} of ")
    assert len(store.addresses("runs")) == 5


def assert_records(run: Path, store: Store) -> int:
    """Assert that every operator's records match the counts in its manifest.

    Return the number of records.
    """
    rows, counts = {}, {}
    for origin, folder in parts(run, store).items():
        manifest = folder.manifest()
        counts[origin], rows[origin] = manifest["counts"], 0
        for shard in manifest["shards"]:
            records = read_shard(folder, shard).to_pylist()
            rows[origin] += len(records)
            assert {record["origin"] for record in records} == {origin}
    assert rows["reorder-qab"] == ROWS and rows["eda"] == 2 * ROWS
    semantic = counts["semantic"]
    kept = sum(number for name, number in semantic.items() if name.startswith("kept "))
    assert semantic["generated"] == 2 * ROWS  # one for each of the other two labels
    assert 0 < rows["semantic"] == kept <= 2 * ROWS
    return sum(rows.values())


def assert_both_languages_are_scored(result: dict[str, Any], rows: int) -> None:
    """Assert the cost of training on `rows` and the scores of both languages and their mean."""
    baseline, system = result["systems"]
    assert baseline["cost"]["data_factor"] == 1 and system["cost"]["data_factor"] == pytest.approx(
        rows / ROWS
    )
    assert system["cost"]["updates"] == 3 * math.ceil(rows / 32)
    assert [table["test"] for table in result["tables"]] == ["mean", "qaa", "qab"]
    for row in (0, 1):
        mean, qaa, qab = (table["rows"][row]["scores"]["accuracy"] for table in result["tables"])
        assert (mean["n"], qaa["n"], qab["n"]) == (60, 30, 30)
        assert mean["value"] == pytest.approx((qaa["value"] + qab["value"]) / 2)
        assert mean["low"] <= mean["value"] <= mean["high"] and mean["low"] < mean["high"]


def assert_pairs_are_labelled(
    run: Path, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Assert that `translate` labels pairs from standard input as the test set was."""
    corpus = read(run, store).corpus("qaa")
    pairs = zip(corpus.column("premise"), corpus.column("hypothesis"), strict=True)
    lines = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in pairs)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert main(["translate", str(run)]) == 0
    assert capsys.readouterr().out == (run / "hypotheses" / "qaa.txt").read_text()


def read(run: Path, store: Store) -> Run:
    return Run.read(Folder(store.root, str(run.relative_to(store.root))))


def parts(run: Path, store: Store) -> dict[str, Folder]:
    """Return the folders of the operators' records for a run by origin."""
    return {origin: Folder(store.root, name) for origin, name in read(run, store).records.items()}


def modification_times(directory: Path) -> dict[str, int]:
    """Return the modification time of every file in the store except pages and locks, which
    every call writes."""
    files = [path for path in (directory / "store").rglob("*") if path.is_file()]
    return {
        str(path): path.stat().st_mtime_ns
        for path in files
        if not {"reports", ".locks"} & {*path.parts}
    }
