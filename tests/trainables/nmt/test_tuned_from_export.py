"""A run on clean text is exported and tuned on noisy text: it starts as what was exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.make import prepare
from augury.experiments.record import run_folder
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.training.trained import WEIGHTS
from tests import tiny
from tests.trainables.nmt.tuned import finished
from trainables.nmt import TASK

pytestmark = pytest.mark.trains

CIPHERS: dict[str, Any] = {
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "warmup_steps": 0},
    "vocabulary": {"size": 200, "size_per_key": 60},
}


def train(directory: Path, name: str, **changes: Any) -> Run:
    """Train an experiment on the command line; return its run."""
    content = tiny.content("nmt", directory / "results", name=name, **changes)
    file = directory / f"{name}.yaml"
    file.write_text(yaml.safe_dump(content))
    assert main(["train", str(file)]) == 0
    experiment, store = parse(content), Store(directory / "results")
    return Run.read(run_folder(store, Graph(store).plan(experiment).address, 1))


def test_a_tuned_run_starts_as_the_exported_one(tmp_path: Path) -> None:
    first = train(tmp_path, "clean", **CIPHERS)
    assert main(["export", first.folder.uri, "--to", "hf", "--output", str(tmp_path / "hf")]) == 0
    tuning: dict[str, Any] = {
        "model": {"name": str(tmp_path / "hf")},
        "vocabulary": {},
        "max_pieces": 400,
        "training": {"max_tokens": 400, "max_epochs": 2, "learning_rate": 0.01},
        "augment": [{"operator": "noise", "keyboard": 0.1}],
    }
    texts = [*first.corpus("test").column("source"), "", "zu   Ωmega"]
    content = tiny.content("nmt", tmp_path / "other", name="noisy", **tuning)
    start = finished(prepare(parse(content), Store(tmp_path / "other")))
    for beam in (1, 4):
        decoding = first.experiment.decoding.model_copy(update={"beam": beam})
        expected = TASK.translate(first, texts, decoding=decoding)
        assert TASK.translate(start, texts, decoding=decoding) == expected
    assert start.experiment.decoding == first.experiment.decoding
    tuned = train(tmp_path, "noisy", **tuning)
    assert tuned.folder.read(WEIGHTS) != start.folder.read(WEIGHTS)
    assert len(TASK.translate(tuned, texts)) == len(texts)
