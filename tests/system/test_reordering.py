"""Training a reorderer: word alignment, a small T5 trained on reordered sentences, and held-out
sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.sweeping.driver import run_experiment

pytestmark = pytest.mark.trains


@pytest.mark.slow
def test_held_out_sentences_are_reordered_like_the_other_language(tmp_path: Path) -> None:
    def text(size: int) -> dict[str, int]:
        return {"builtin": size, "lexicon": 48}

    runs, failures, _ = run_experiment(
        parse(
            {
                "name": "reorderer",
                "task": "seq2seq",
                "storage": str(tmp_path),
                "baseline": False,
                "max_pieces": 40,
                "corpus": {
                    "form": "reorder",
                    "source_language": "qaa",
                    "target_language": "qab",
                    "train": text(1500),
                    "valid": text(100),
                    "tests": {"test": text(200)},
                },
                "model": {
                    "architecture": "tiny",
                    "vocabulary_size": 200,
                    "feedforward_size": 128,
                    "dropout": 0,
                },
                "training": {
                    "max_epochs": 10,
                    "max_examples": None,
                    "max_tokens": 500,
                    "learning_rate": 0.004,
                },
                "tracking": {"enabled": False},
                "execution": {"executor": "local", "threads": 1},
            }
        )
    )
    assert not failures
    run = Run.read(runs["reorderer"][1])
    corpus = run.corpus("test")
    sources, references = corpus.column("source"), corpus.column("target")
    hypotheses = run.folder.sub("hypotheses").read("test.txt").decode().splitlines()
    already_ordered = sum(
        f"reorder: {target}" == source for source, target in zip(sources, references, strict=True)
    )
    correct = sum(
        hypothesis == reference
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    )
    assert already_ordered < 10 and correct > 80  # of 200
