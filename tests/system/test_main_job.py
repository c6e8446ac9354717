"""Training a translation system on the command line: learning, reuse, translation, export,
tracking and restarts."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

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
        "execution": {"executor": "local", "launcher": "direct", "threads": 1},
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
    return SimpleNamespace(path=path, result=result)


@pytest.mark.trains
def test_system_and_baseline_learn_the_task(trained: SimpleNamespace) -> None:
    baseline, words = trained.result["systems"]
    assert (baseline["name"], words["name"]) == ("baseline", "words")
    for system in (baseline, words):
        bleu = system["tests"]["test"]["bleu"]
        assert bleu["low"] <= bleu["value"] <= bleu["high"] and bleu["value"] > 60
        assert "tok:13a" in bleu["signature"] and bleu["n"] == 60
    assert (baseline["cost"]["data_factor"], words["cost"]["data_factor"]) == (1.0, 2.0)
    assert Path(trained.result["page"]).read_text().startswith("<!doctype html>")
