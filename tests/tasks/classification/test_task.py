"""A finished run: its scores, labels of free text, probabilities for operators, export."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELS
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


def test_scores_are_those_of_the_labels(finished: SimpleNamespace) -> None:
    scores = finished.folder.read_record("scores.json")
    (score,) = scores["tests"]["words"]
    labels = finished.folder.sub("hypotheses").read("words.txt").decode().split()
    right = [label == row[2] for label, row in zip(labels, finished.rows, strict=True)]
    assert (score["name"], score["n"]) == ("accuracy", 20)
    assert (
        score["value"] == pytest.approx(100 * np.mean(right))
        and score["low"] <= score["value"] <= score["high"]
    )


def test_probabilities_are_those_of_the_exported_model(
    finished: SimpleNamespace, tmp_path: Path
) -> None:
    export(finished.folder, finished.store, "hf", tmp_path / "hf")
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "hf").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    assert [model.config.id2label[index] for index in range(3)] == list(LABELS)
    premises, hypotheses = (
        [row[0] for row in finished.rows[:4]],
        [row[1] for row in finished.rows[:4]],
    )
    with torch.no_grad():
        encoding = tokenizer(premises, hypotheses, padding=True, return_tensors="pt")
        expected = model(**encoding).logits.softmax(1).numpy()
    probabilities = nli.TASK.probabilities(finished.run, premises, hypotheses)
    assert probabilities.dtype == np.float32 and probabilities.shape == (4, 3)
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
    assert nli.TASK.probabilities(finished.run, [], []).shape == (0, 3)
    with pytest.raises(UserError, match="has no form 'ctranslate2'"):
        export(finished.folder, finished.store, "ctranslate2", tmp_path / "other")


def test_the_card_of_a_classifier_says_how_it_is_used_and_what_it_scores(
    finished: SimpleNamespace, run_card: Any, tmp_path: Path
) -> None:
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


def test_the_order_of_examples_does_not_matter(finished: SimpleNamespace) -> None:
    premises, hypotheses = [row[0] for row in finished.rows], [row[1] for row in finished.rows]
    forward = nli.TASK.probabilities(finished.run, premises, hypotheses)
    backward = nli.TASK.probabilities(finished.run, premises[::-1], hypotheses[::-1])
    np.testing.assert_allclose(forward, backward[::-1], atol=1e-6)
