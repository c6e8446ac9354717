"""What MLflow has of a sweep."""

from __future__ import annotations

from typing import Any

import pytest

from augury.experiments.recording import Tracking
from augury.tracking.export import Exporter
from augury.training.trained import FAILURE
from tests.tracking.conftest import B
from tests.tracking.reading import artifacts, logged_runs, parents, states

CONFIGURATIONS = "tags.augury.sweep = 'beta' and tags.augury.level = 'configuration'"
STOPPED = ("FINISHED", "stopped: the same command continues it")


def export(trials: Any, uri: str) -> None:
    Exporter(Tracking(uri=uri), trials.store).sweep(trials.folder.name.partition("/")[2])


def test_seeds_stand_below_configurations_and_these_below_the_sweep(
    trials: Any, database: str
) -> None:
    trials.folder.write("index.html", "<p>31")
    trials.finish()
    export(trials, database)
    assert parents(database) == {
        "beta": None,
        "baseline": "beta",
        "regime.beta=5": "beta",
        "aa seed 1": "baseline",
        "aa seed 2": "baseline",
        "bb seed 1": "regime.beta=5",
        "bb seed 2": "regime.beta=5",
    }
    runs = logged_runs(database)
    beta, leader = runs["beta"].data, runs["regime.beta=5"]
    assert leader.info.run_name == "regime.beta=5 (recommended)"
    assert "Which beta helps?" in beta.tags["mlflow.note.content"]
    assert beta.metrics == leader.data.metrics
    assert artifacts(database, runs["beta"]) == {"index.html", "summary.json", "sweep.json"}


def test_swept_keys_and_means_are_columns(trials: Any, database: str) -> None:
    point = {"regime.beta": 0.5, "augment": [{"keys": [1, 2]}]}
    trials.configuration("cc" * 8, point)
    trials.trial("cc" * 8, 1, "stopped", 5)
    trials.finish()
    export(trials, database)
    runs = logged_runs(database, CONFIGURATIONS)
    stopped = "regime.beta=0.5, augment=[{'keys': [1, 2]}]"
    assert {name: run.data.params for name, run in runs.items()} == {
        "baseline": {"system": "baseline"},
        "regime.beta=5": {"system": "regime.beta=5", "regime.beta": "5"},
        stopped: {"system": stopped, "regime.beta": "0.5", "augment.0.keys": "[1, 2]"},
    }
    assert logged_runs(database)["bb seed 1"].data.params == runs["regime.beta=5"].data.params
    assert not runs[stopped].data.metrics  # of finished seeds alone
    metrics = runs["regime.beta=5"].data.metrics
    assert metrics["best/valid/bleu/sd"] == pytest.approx(8**0.5)
    assert (metrics["test/test/bleu"], metrics["test/test/bleu/seeds"]) == (25.0, 2.0)
    assert metrics["test/test/bleu/sd"] == pytest.approx(2**0.5)
    assert logged_runs(database)["bb seed 2"].data.metrics["best/valid/bleu"] == 18.0


def test_what_became_of_trials(trials: Any, database: str) -> None:
    """One that waits for its first update is not there yet: it would begin too early."""
    for index, progress in enumerate(("failed", "stopped", "running")):
        address = f"{index}" * 16
        trials.configuration(address, {"regime.beta": index})
        trials.trial(address, 1, progress, 5).describe(name=progress, address=address, seed=1)
    trials.trial(B, 1, "running")
    trials.store.folder("runs", f"{'0' * 16}/seed-1").write_record(FAILURE, {"error": "NaN"})
    trials.write()
    export(trials, database)
    failed, running = ("FAILED", "failed: NaN"), ("RUNNING", "running")
    assert states(database) == {
        "beta": ("RUNNING", "failed, running, stopped"),
        "regime.beta=0": ("FAILED", "failed"),
        "regime.beta=1": ("FINISHED", "stopped"),
        "regime.beta=2": running,
        "failed seed 1": failed,
        "stopped seed 1": STOPPED,
        "running seed 1": running,
    }
