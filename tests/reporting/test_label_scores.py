"""F1 of each label on the pages of classifiers."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.metrics import f1_score

from augury.core.store import Folder
from augury.reporting.system_tables import label_table
from augury.scoring.scores import score
from augury.scoring.stored import write_statistics
from tests.run_folders import load

GOLD = ["neutral", "entailment", "neutral", "contradiction", "entailment"]
PREDICTED = {
    1: ["neutral", "entailment", "entailment", "contradiction", "neutral"],
    2: ["neutral"] * 5,
}


@pytest.fixture
def runs(results: Any) -> list[Folder]:
    results.inferences([("A dog.", "An animal.", label) for label in GOLD])
    folders = []
    for seed, labels in PREDICTED.items():
        scores = score(labels, GOLD, metrics=["macro_f1"])
        run = results.run("one", "aa" * 8, seed, bleu=0.0, metric="macro_f1")
        write_statistics(run, "test", scores)
        folders.append(run)
    return folders


def test_the_mean_over_seeds_is_that_of_scikit_learn(runs: list[Folder]) -> None:
    shown = label_table(load(runs), "test")
    assert shown is not None
    labels = sorted(set(GOLD))
    by_seed = [f1_score(GOLD, of, labels=labels, average=None) for of in PREDICTED.values()]
    expected = [f"{50 * (first + second):.1f}" for first, second in zip(*by_seed, strict=True)]
    assert [line[0] for line in shown.lines()[1:]] == labels
    assert [line[2] for line in shown.lines()[1:]] == expected


def test_there_is_none_for_translations(results: Any) -> None:
    results.corpus([("ein Satz", "a sentence")])
    assert label_table(load([results.run("one", "aa" * 8, bleu=30.0)]), "test") is None
