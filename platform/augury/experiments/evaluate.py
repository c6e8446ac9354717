"""Score finished runs on their test sets."""

from __future__ import annotations

from typing import Any

from augury.core import config
from augury.corpora.corpus import KINDS
from augury.experiments.description import describe_scores
from augury.experiments.run import Run
from augury.experiments.stored_runs import SCORES
from augury.experiments.task import find_task
from augury.scoring.scores import score, write_statistics
from augury.training.trained import OUTCOME


def evaluated(run: Run) -> bool:
    """Return whether a run has the scores that its experiment asks for."""
    return run.folder.exists(SCORES) and bool(
        run.folder.read_json(SCORES)["evaluation"] == _evaluation(run)
    )


def evaluate(run: Run) -> None:
    """Score a run on every test set; write outputs, scores, test sets and cost into its folder."""
    outcome = run.folder.read_json(OUTCOME)
    tests = {test: _scored(run, test) for test in run.tests}
    describe_scores(run)
    run.folder.write_json(
        SCORES,
        {
            "evaluation": _evaluation(run),
            "tests": tests,
            "cost": {
                "parameters": outcome["parameters"],
                "data_factor": run.data_factor,
                "updates": outcome["updates"],
                "passes": outcome["passes"],
                "passes_by_view": {
                    view: outcome["passes"] * share for view, share in run.passes_by_view.items()
                },
                "onset": outcome["onset"],
                "pieces": run.pieces,
                "weights": outcome["weights"],
                "target_tokens": outcome["rows"],
                "train_seconds": outcome["train_seconds"],
                "cpu_seconds": outcome.get("cpu_seconds"),
                "device": outcome["device"],
                "processor": outcome.get("processor"),
                "device_hours": outcome["train_seconds"] * outcome["workers"] / 3600,
            },
        },
    )


def _scored(run: Run, test: str) -> list[dict[str, Any]]:
    """Score a test set; write its outputs and the statistics of every example into the run's
    folder."""
    corpus = run.corpus(test)
    columns = KINDS[corpus.kind]
    outputs = find_task(run.experiment.task).outputs(run, corpus, test)
    run.folder.sub("hypotheses").write(f"{test}.txt", "".join(f"{line}\n" for line in outputs))
    (language,) = set(corpus.column(columns.target_language))
    scores = score(
        outputs,
        corpus.column(columns.target),
        sources=[
            "\t".join(texts) for texts in zip(*map(corpus.column, columns.inputs), strict=True)
        ],
        language=language,
        metrics=run.experiment.scoring.metrics,
        samples=run.experiment.scoring.bootstrap_samples,
    )
    write_statistics(run.folder, test, scores)
    return [result.to_dict() for result in scores]


def _evaluation(run: Run) -> str:
    """Return the hash of everything that determines the scores of a trained model."""
    sections = run.experiment.to_dict()
    tags = {test: tag for test in run.tests if (tag := run.experiment.corpus.tag(test))}
    return config.address(
        {
            **({"tags": tags} if tags else {}),
            "inputs": [list(corpus) for corpus in run.inputs],
            "decoding": sections.get("decoding"),
            "scoring": sections.get("scoring"),
        }
    )
