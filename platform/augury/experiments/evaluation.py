"""A finished run on its test sets: outputs, scores, and what it cost."""

from __future__ import annotations

from typing import Any

from augury.core import config
from augury.core.store import Folder, Store
from augury.corpora.corpus import COLUMNS, Corpus
from augury.experiments.description import describe_scores
from augury.experiments.experiment import Experiment
from augury.experiments.trainable import Prepared, Trainable
from augury.scoring.scores import score, write_statistics


def evaluated(run: Folder, system: Experiment, prepared: Prepared) -> bool:
    """Whether a run has the scores that this experiment asks for."""
    return run.exists("scores.json") and bool(
        run.read_json("scores.json")["evaluation"] == _evaluation(system, prepared)
    )


def evaluate(task: Trainable, system: Experiment, prepared: Prepared, run: Folder, store: Store) -> None:
    """Score the run on every test set and write down what it was scored on, and what it cost."""
    outcome = run.read_json("outcome.json")
    tests = {
        role: _scored(task, system, run, store, role, address)
        for role, address, _ in prepared.inputs
        if role not in ("train", "valid")
    }
    describe_scores(run, system, prepared)
    run.write_json(
        "scores.json",
        {
            "evaluation": _evaluation(system, prepared),
            "tests": tests,
            "cost": {
                "parameters": outcome["parameters"],
                "data_factor": prepared.data_factor,
                "updates": outcome["updates"],
                "passes": outcome["passes"],
                "passes_by_view": {view: outcome["passes"] * share for view, share in prepared.passes_by_view.items()},
                "onset": outcome["onset"],
                "pieces": prepared.pieces,
                "weights": outcome["weights"],
                "target_tokens": outcome["rows"],
                "train_seconds": outcome["train_seconds"],
                "device": outcome["device"],
                "device_hours": outcome["train_seconds"] * outcome["workers"] / 3600,
            },
        },
    )


def _scored(
    task: Trainable, system: Experiment, run: Folder, store: Store, test: str, address: str
) -> list[dict[str, Any]]:
    """The scores of a test set; outputs, and the counts of every example that scores come from, stay with the run."""
    corpus = Corpus.load(store, address)
    columns = COLUMNS[corpus.kind]
    outputs = task.outputs(system, run, store, corpus, test)
    run.sub("hypotheses").write(f"{test}.txt", "".join(f"{line}\n" for line in outputs))
    (language,) = set(corpus.column(columns.expected_language))
    found = score(
        outputs,
        corpus.column(columns.expected),
        sources=["\t".join(texts) for texts in zip(*map(corpus.column, columns.read), strict=True)],
        language=language,
        metrics=system.scoring.metrics,
        samples=system.scoring.bootstrap_samples,
    )
    write_statistics(run, test, found)
    return [each.plain() for each in found]


def _evaluation(system: Experiment, prepared: Prepared) -> str:
    """The address of what determines the scores of a trained model."""
    sections = system.plain()
    return config.address(
        {
            "inputs": [list(given) for given in prepared.inputs],
            "decoding": sections.get("decoding"),
            "scoring": sections.get("scoring"),
        }
    )
