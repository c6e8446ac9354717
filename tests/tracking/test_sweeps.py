"""What MLflow has of a sweep."""

from __future__ import annotations

from typing import Any

from augury.core.locks import locked
from augury.experiments.recording import Tracking
from augury.tracking.export import Exporter
from augury.training.trained import FAILURE
from tests.tracking.conftest import A, B
from tests.tracking.reading import logged_runs, parents, states

STOPPED = ("FINISHED", "stopped: the same command continues it")


def export(trials: Any, uri: str) -> None:
    Exporter(Tracking(uri=uri), trials.store).send(trials.folder.name)


def test_seeds_stand_below_the_sweep_that_has_the_scores_of_its_best(
    trials: Any, database: str
) -> None:
    trials.finish()
    export(trials, database)
    seeds = ("aa seed 1", "aa seed 2", "bb seed 1", "bb seed 2")
    assert parents(database) == {"beta": None, **dict.fromkeys(seeds, "beta")}
    runs = logged_runs(database)
    beta, seed = runs["beta"].data, runs["bb seed 2"].data
    assert beta.tags["mlflow.note.content"] == "Which beta helps?\n\n5 helps.\n\nOne corpus."
    assert beta.tags["augury.sweep"] == seed.tags["augury.sweep"] == "beta"
    ends = {"test/test/bleu/low": 29.0, "test/test/bleu/high": 34.0}
    scores = {"best/valid/bleu": 16.0, "test/test/bleu": 25.0, **ends}
    costs = {name: value for name, value in seed.metrics.items() if name.startswith("cost/")}
    assert beta.metrics == {**scores, **costs}
    trials.state["confirmation"] = {"reference": A, "winner": B, "seeds": [3, 4]}
    for address, seed_number, bleu in ((A, 3, 20), (A, 4, 20), (B, 3, 27), (B, 4, 29)):
        trials.trial(address, seed_number, "finished", 18, bleu)
    trials.write(ended=True)
    export(trials, database)
    assert logged_runs(database)["beta"].data.metrics["test/test/bleu"] == 28  # of fresh seeds


def test_swept_keys_are_columns(trials: Any, database: str) -> None:
    trials.configuration("cc" * 8, {"regime.beta": 0.5, "augment": [{"keys": [1, 2]}]})
    parameters = {"regime.beta": 0.5, "augment.0.keys": [1, 2], "decoding.beam": 5}
    run = trials.trial("cc" * 8, 1, "stopped", 5)
    run.describe(name="cc", address="cc" * 8, seed=1, parameters=parameters)
    trials.finish()
    export(trials, database)
    runs = logged_runs(database)
    none = {"regime.beta": "none", "augment.0.keys": "none"}  # a value of parallel coordinates
    assert runs["aa seed 1"].data.params == {"system": "aa", **none}
    assert runs["bb seed 1"].data.params == {"system": "bb", **none, "regime.beta": "5"}
    swept = {"system": "cc", "regime.beta": "0.5", "augment.0.keys": "[1, 2]"}
    assert runs["cc seed 1"].data.params == swept


def test_what_became_of_trials(trials: Any, database: str) -> None:
    """One that waits for its first update is not there yet: it would begin too early."""
    for index, progress in enumerate(("failed", "stopped", "running")):
        address = f"{index}" * 16
        trials.configuration(address, {"regime.beta": index})
        run = trials.trial(address, 1, progress, 5)
        run.describe(name=progress, address=address, seed=1)
    trials.trial(B, 1, "running")
    trials.store.folder("runs", f"{'0' * 16}/seed-1").write_record(FAILURE, {"error": "NaN"})
    trials.write()
    with locked(run.folder):
        export(trials, database)
    failed, running = ("FAILED", "failed: NaN"), ("RUNNING", "running")
    assert states(database) == {
        "beta": ("RUNNING", "failed, running, stopped"),
        "failed seed 1": failed,
        "stopped seed 1": STOPPED,
        "running seed 1": running,
    }
