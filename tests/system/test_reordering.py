"""Training a reorderer: word alignment, a small T5 trained on reordered sentences, and held-out
sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.experiments.run import Run
from augury.sweeping.driver import run_experiment
from tests import tiny


@pytest.mark.slow
@pytest.mark.trains
def test_held_out_sentences_are_reordered_like_the_other_language(tmp_path: Path) -> None:
    train, valid, test = ({"builtin": size, "lexicon": 48} for size in (1500, 100, 200))
    texts = {"train": train, "valid": valid, "tests": {"test": test}}
    model = {"architecture": "tiny", "vocabulary_size": 200, "feedforward_size": 128, "dropout": 0}
    limits = {"max_epochs": 10, "max_examples": None, "max_tokens": 500}
    experiment = tiny.experiment(
        "seq2seq",
        tmp_path,
        corpus={**tiny.PARALLEL, **texts, "form": "reorder"},
        model=model,
        max_pieces=40,
        training={**limits, "learning_rate": 0.004},
    )
    runs, failures, _ = run_experiment(experiment)
    assert not failures
    run = Run.read(runs["tiny"][1])
    corpus = run.corpus("test")
    sources, references = corpus.column("source"), corpus.column("target")
    hypotheses = run.folder.sub("hypotheses").read("test.txt").decode().splitlines()
    unchanged = [f"reorder: {target}" for target in references]
    assert sum(map(str.__eq__, sources, unchanged)) < 10
    assert sum(map(str.__eq__, hypotheses, references)) > 80  # of 200
