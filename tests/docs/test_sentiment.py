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


@pytest.fixture
def content(tmp_path: Path) -> dict[str, Any]:
    """An experiment file with four systems."""
    for name, count in (("train", 120), ("valid", 20), ("test", 40)):
        (tmp_path / f"{name}.tsv").write_text(rows(count))
    text = {name: {"file": str(tmp_path / f"{name}.tsv")} for name in ("train", "valid", "test")}
    return {
        "name": "sentiment",
        "task": str(EXAMPLE),
        "storage": str(tmp_path / "results"),
        "corpus": {
            "language": "en",
            "labels": ["neg", "pos"],
            "train": text["train"],
            "valid": text["valid"],
            "tests": {"films": text["test"]},
        },
        "model": {
            "architecture": "tiny",
            "vocabulary_size": 120,
            "hidden_size": 16,
            "layers": 1,
            "dropout": 0.0,
        },
        "max_length": 40,
        "training": {"max_examples": 10, "max_epochs": 2, "learning_rate": 0.01},
        "execution": {"executor": "local", "launcher": "direct", "threads": 1},
        "tracking": {"enabled": False},
        "systems": {
            "baseline": {
                "training.max_epochs": 40,
                "training.patience": 8,
            },  # until every label of valid is right
            "eda": {"augment": [{"operator": "eda", "copies": 1}]},
            "agreement": {
                "augment": [{"operator": "eda", "copies": 1, "use": "view"}],
                "regime": {"name": "coregularised", "warmup_epochs": 1},
            },
            "word_drop": {
                "augment": [{"operator": "word_drop"}],
                "regime": {"name": "adversarial", "epsilon": 0.1},
            },
        },
    }


def test_a_task_in_one_file_learns_under_every_form_of_augmentation(
    content: dict[str, Any],
) -> None:
    runs, failures, _ = run_experiment(parse(content))
    assert not failures and list(runs) == list(content["systems"])
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


def test_it_learns_from_nothing_with_the_defaults_it_ships(content: dict[str, Any]) -> None:
    del content["training"], content["systems"]
    shipped = parse({**content, "model": {"architecture": "tiny"}})
    runs, failures, _ = run_experiment(shipped)
    (run,) = (of_seed[1] for of_seed in runs.values())
    (accuracy,) = run.read_record("scores.json")["tests"]["films"]
    assert not failures and accuracy["value"] > 80  # chance: 50
