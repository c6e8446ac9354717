"""Training a translation system on the command line: learning, reuse, translation, export,
tracking and restarts."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

WORDS = {
    "eins": "one",
    "zwei": "two",
    "drei": "three",
    "vier": "four",
    "fünf": "five",
    "groß": "big",
    "Haus": "house",
    "Maus": "mouse",
    "läuft": "runs",
    "schläft": "sleeps",
    "gut": "well",
    "nie": "never",
}


def write_corpus(directory: Path, name: str, count: int, seed: int) -> dict[str, str]:
    """Write sentences translated word by word, a task that a small model learns in seconds."""
    drawn = random.Random(seed)
    sentences = [drawn.choices(list(WORDS), k=drawn.randint(3, 7)) for _ in range(count)]
    paths = {side: directory / f"{name}.{side}" for side in ("de", "en")}
    paths["de"].write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    paths["en"].write_text(
        "".join(" ".join(WORDS[word] for word in words) + "\n" for words in sentences)
    )
    return {"source": str(paths["de"]), "target": str(paths["en"])}


def write_experiment(directory: Path, **changes: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    content = {
        "name": "words",
        "task": "nmt",
        "storage": str(directory / "store"),
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": write_corpus(directory, "train", 1000, 1),
            "valid": write_corpus(directory, "valid", 40, 2),
            "tests": {"test": write_corpus(directory, "test", 60, 3)},
        },
        "augment": [{"operator": "cipher", "keys": [1]}],
        "vocabulary": {"size": 60, "size_per_key": 40},
        "model": {
            "architecture": "tiny",
            "hidden_size": 64,
            "feedforward_size": 128,
            "attention_heads": 2,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "dropout": 0.0,
        },
        "regime": {"name": "coregularised", "beta": 1, "warmup_steps": 20},
        "training": {
            "max_tokens": 300,
            "learning_rate": 0.006,
            "warmup_updates": 60,
            "max_updates": 600,
            "validate_every": 150,
            "average_last": 2,
        },
        "execution": {"executor": "local", "threads": 1},
        **changes,
    }
    path = directory / "words.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


def augury(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "augury.cli", *arguments],
        text=True,
        capture_output=True,
        check=False,
        timeout=600,
        **options,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    directory = tmp_path_factory.mktemp("main-job")
    path = write_experiment(directory)
    done = augury("train", str(path), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    hypotheses = (
        (Path(result["runs"][1]) / "hypotheses" / "test.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    sources = (directory / "test.de").read_text(encoding="utf-8").splitlines()
    return SimpleNamespace(
        path=path, result=result, directory=directory, sources=sources, hypotheses=hypotheses
    )


@pytest.mark.trains
def test_system_and_baseline_learn_the_task(trained: SimpleNamespace) -> None:
    rows = trained.result["tables"][0]["rows"]
    baseline, words = (row for row in rows if row["metric"] == "bleu")
    assert (baseline["system"], words["system"]) == ("baseline", "words")
    for bleu in (baseline, words):
        assert bleu["low"] <= bleu["value"] <= bleu["high"] and bleu["value"] > 60
        assert "tok:13a" in bleu["signature"] and bleu["n"] == 60
    assert (baseline["data_factor"], words["data_factor"]) == (1.0, 2.0)
    assert len(trained.hypotheses) == 60
    assert Path(trained.result["page"]).read_text().startswith("<!doctype html>")


def test_finished_runs_are_found_and_scored_again_with_another_beam(
    trained: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    before = time.time()
    assert main(["train", str(trained.path), "--json"]) == 0
    out, messages = capsys.readouterr()
    assert json.loads(out)["systems"] == trained.result["systems"]
    assert messages.count("found, not trained again") == 2
    assert main(["train", str(trained.path), "--json", "--set", "decoding.beam=1"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == trained.result["runs"]
    files = [Path(run) / "weights.safetensors" for run in trained.result["runs"]]
    assert all(file.stat().st_mtime < before for file in files)


def wait_for_update(store: Store, update: int, process: subprocess.Popen[str]) -> None:
    """Wait until a run has a checkpoint of `update`; fail if the process exits before."""
    from augury.training.checkpoint import Checkpoints

    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        for address in store.addresses("runs"):
            run = store.folder("runs", f"{address}/seed-1")
            if max(Checkpoints(run).updates(), default=0) >= update:
                return
        time.sleep(0.05)
    raise AssertionError(f"no checkpoint of update {update}: {process.returncode}")
