"""The worked example of a task of one's own: one file learns, under every regime, and labels
text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.experiments.task import find_task
from augury.sweeping.driver import run_experiment
from tests import tiny

pytestmark = pytest.mark.trains

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sentiment.py"
WORDS = {"neg": ("poor", "dull", "sad", "weak"), "pos": ("fine", "great", "lovely", "bright")}


def rows(count: int) -> str:
    nouns = ("film", "book", "song", "play")
    lines = [
        f"the {nouns[number % 4]} of {number} is {words[number % 3 + number % 2]}\t{label}"
        for number in range(count // 2)
        for label, words in WORDS.items()
    ]
    return "\n".join(["text\tlabel", *lines]) + "\n"


SYSTEMS: dict[str, Any] = {
    "baseline": {"training.max_epochs": 40, "training.patience": 8},  # until all of valid is right
    "eda": {"augment": [{"operator": "eda", "copies": 1}]},
    "agreement": {
        "augment": [{"operator": "eda", "copies": 1, "use": "view"}],
        "regime": {"name": "coregularised", "warmup_epochs": 1},
    },
    "word_drop": {
        "augment": [{"operator": "word_drop"}],
        "regime": {"name": "adversarial", "epsilon": 0.1},
    },
}


def test_a_task_in_one_file_learns_under_every_form_of_augmentation(tmp_path: Path) -> None:
    text = {}
    for name, count in (("train", 120), ("valid", 20), ("test", 40)):
        text[name] = {"file": str(tmp_path / f"{name}.tsv")}
        (tmp_path / f"{name}.tsv").write_text(rows(count))
    content = tiny.content(
        "classification",
        tmp_path / "results",
        corpus={
            "language": "en",
            "labels": ["neg", "pos"],
            "train": text["train"],
            "valid": text["valid"],
            "tests": {"films": text["test"]},
        },
        model={"architecture": "tiny", "vocabulary_size": 120, "hidden_size": 16, "layers": 1},
        training={"max_examples": 10, "max_epochs": 2, "learning_rate": 0.01},
        systems=SYSTEMS,
    )
    runs, failures, *_ = run_experiment(parse(content | {"task": str(EXAMPLE)}))
    assert not failures and list(runs) == list(SYSTEMS)
    scores = {
        name: run[1].read_record("scores.json")["tests"]["films"][0] for name, run in runs.items()
    }
    assert {score["n"] for score in scores.values()} == {40}
    assert scores["baseline"]["value"] > 80  # chance: 50
    run = Run.read(runs["baseline"][1])
    task = find_task(run.experiment.task)
    written = run.folder.sub("hypotheses").read("films.txt").decode().splitlines()
    assert task.translate(run, run.corpus("films").column("text")) == written and {*written} == {
        "neg",
        "pos",
    }
