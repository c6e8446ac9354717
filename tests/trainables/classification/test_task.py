"""Finished runs on sentences and pairs under every form of augmentation: scores, labels of free
text, export."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.run import Run
from augury.reporting.exporting import export
from augury.scoring.registry import metric
from augury.sweeping.driver import run_experiment
from tests import tiny
from trainables.classification import TASK

pytestmark = pytest.mark.trains

LABELS = {
    "sentences": ["affirmative", "negative"],
    "pairs": ["contradiction", "entailment", "neutral"],
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "EDA": {"augment": [{"operator": "eda"}]},
    "agreement": {
        "augment": [{"operator": "eda", "copies": 1, "use": "view"}],
        "regime": "coregularised",
    },
    "draws and FGM": {
        "augment": [{"operator": "word_drop"}],
        "regime": {"name": "adversarial", "preset": "fgm"},
    },
}


@pytest.fixture(scope="module", params=LABELS)
def trained(
    request: Any, checkpoint: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> SimpleNamespace:
    """The runs of all systems on a form of the built-in corpus; those of pairs have a pretrained
    model, which is gone since."""
    storage, form = tmp_path_factory.mktemp(request.param), request.param
    corpus = {
        "form": form,
        "language": "qaa",
        "labels": LABELS[form],
        "train": {"builtin": 40},
        "valid": {"builtin": 12},
        "tests": {"test": {"builtin": 12}},
        "filter": {"lowercase": True},
    }
    pretrained = checkpoint("bert", LABELS[form])
    experiment = tiny.experiment(
        "classification",
        storage,
        corpus=corpus,
        training={"max_updates": 3, "max_examples": 10},
        systems=SYSTEMS,
        **({"model": {"name": str(pretrained)}} if form == "pairs" else {}),
    )
    runs, failures, *_ = run_experiment(experiment)
    assert not failures
    shutil.rmtree(pretrained)
    folders = {name: folders[1] for name, folders in runs.items()}
    return SimpleNamespace(folders=folders, store=Store(storage), labels=LABELS[form])


def test_every_system_is_scored_by_accuracy_and_macro_f1(trained: SimpleNamespace) -> None:
    assert list(trained.folders) == list(SYSTEMS)
    for folder in trained.folders.values():
        scores = folder.read_record("scores.json")["tests"]["test"]
        outputs = folder.sub("hypotheses").read("test.txt").decode().splitlines()
        assert set(outputs) <= set(trained.labels)
        references = Run.read(folder).corpus("test").column("label")
        for stored, name in zip(scores, ("accuracy", "macro_f1"), strict=True):
            scorer = metric(name)
            value = scorer.value(scorer.statistics(outputs, references).sum(0))
            assert (stored["name"], stored["n"]) == (name, 12)
            assert stored["value"] == pytest.approx(value)


def test_lines_are_cleaned_and_labelled_like_test_sets(trained: SimpleNamespace) -> None:
    folder = trained.folders["EDA"]
    run = Run.read(folder)
    columns = map(run.corpus("test").column, TASK.columns(run.experiment))
    lines = ["\t".join(row).upper() for row in zip(*columns, strict=True)]
    outputs = folder.sub("hypotheses").read("test.txt").decode().splitlines()
    assert TASK.translate(run, lines) == outputs
    with pytest.raises(UserError, match="line 2 has 2 tabs: give "):
        TASK.translate(run, [lines[0], "a\tb\tc"])


def test_the_exported_model_gives_the_same_probabilities_and_labels(
    trained: SimpleNamespace, run_card: Any, tmp_path: Path
) -> None:
    folder = trained.folders["EDA"]
    run = Run.read(folder)
    export(folder, "hf", tmp_path / "hf")
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "hf").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    columns = [run.corpus("test").column(name) for name in TASK.columns(run.experiment)]
    with torch.no_grad():
        expected = model(**tokenizer(*columns, padding=True, return_tensors="pt")).logits.softmax(1)
    probabilities = torch.from_numpy(TASK.probabilities(run, *columns))
    torch.testing.assert_close(probabilities, expected, atol=1e-5, rtol=0)
    assert [*model.config.id2label.values()] == trained.labels

    first = [column[0] for column in columns]
    (prediction,) = run_card(tmp_path / "hf", lines=["\t".join(first)])
    assert ast.literal_eval(prediction)["label"] == TASK.translate(run, ["\t".join(first)])[0]
