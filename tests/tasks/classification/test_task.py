"""A finished run: its scores, labels of free text, probabilities for operators, export."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import ModelCard

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.reporting.exporting import export
from augury.sweeping.driver import run_experiment
from trainables import nli

pytestmark = pytest.mark.trains

Checkpoint = Callable[..., Path]


@pytest.fixture(scope="module")
def finished(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A run of a pretrained model, which is gone since."""
    storage = tmp_path_factory.mktemp("nli")
    model = checkpoint("xlm_roberta", ("contradiction", "neutral", "entailment"))
    rows = [
        ("the dog runs", "a dog runs", "entailment"),
        ("a cat sleeps", "the cat eats fish", "neutral"),
        ("an old man sings", "a man sings not", "contradiction"),
        ("a bird eats", "a bird eats not", "neutral"),
    ]
    file = storage / "pairs.tsv"
    lines = ["\t".join(row) for row in (("premise", "hypothesis", "label"), *rows * 5)]
    file.write_text("".join(f"{line}\n" for line in lines))
    content: dict[str, Any] = {
        "name": "words",
        "task": "nli",
        "storage": str(storage / "store"),
        "corpus": {
            "language": "en",
            "train": {"file": str(file)},
            "valid": {"file": str(file)},
            "tests": {"words": {"file": str(file)}},
            "filter": {"lowercase": True},
        },
        "model": {"name": str(model)},
        "max_length": 16,
        "training": {"max_examples": 4, "learning_rate": 1e-3, "max_epochs": 2, "average_last": 2},
        "execution": {"executor": "local", "launcher": "direct", "threads": 1},
        "tracking": {"enabled": False},
    }
    runs, failures, _ = run_experiment(parse(content))
    assert not failures
    shutil.rmtree(model)
    folder, store = runs[content["name"]][1], Store(storage / "store")
    return SimpleNamespace(run=Run.read(folder), folder=folder, store=store, rows=rows * 5)


def test_the_card_of_a_classifier_says_how_it_is_used_and_what_it_scores(
    finished: SimpleNamespace, run_card: Any, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="has no form 'ctranslate2'"):
        export(finished.folder, finished.store, "ctranslate2", tmp_path / "other")
    export(finished.folder, finished.store, "hf", tmp_path / "hf")
    premise, hypothesis, _ = finished.rows[0]
    prediction = run_card(tmp_path / "hf", row={"text": premise, "text_pair": hypothesis})
    assert prediction["label"] == nli.TASK.translate(finished.run, [f"{premise}\t{hypothesis}"])[0]
    data = ModelCard.load(tmp_path / "hf" / "README.md").data
    (result,) = data.eval_results
    assert (data.pipeline_tag, data.language, data.base_model) == (
        "text-classification",
        ["en"],
        None,
    )
    assert (result.metric_type, result.dataset_name) == ("accuracy", "words")


def test_free_text_is_cleaned_and_labelled_here(
    finished: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "no.cluster:1")
    lines = [f"{premise}\t{hypothesis}" for premise, hypothesis, _ in finished.rows[:3]]
    labels = finished.folder.sub("hypotheses").read("words.txt").decode().split()[:3]
    assert nli.TASK.translate(finished.run, lines) == labels
    assert nli.TASK.translate(finished.run, [line.upper() for line in lines]) == labels
    with pytest.raises(
        UserError, match="line 2 has 0 tabs: give premise<TAB>hypothesis on every line"
    ):
        nli.TASK.translate(finished.run, [lines[0], "no tab"])
