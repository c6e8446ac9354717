"""Run and sweep folders as training writes them, and a SQLite store of MLflow."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.reporting.sweeps.report import SUMMARY, data
from augury.reporting.sweeps.summary import summarise
from augury.sweeping import state
from augury.tracking.client import MlflowExperiment
from tests.run_folders import Run


@pytest.fixture(autouse=True)
def no_store_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, created once because that takes MLflow seconds."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    tracking = Tracking(uri=f"sqlite:///{path}", experiment="empty")
    MlflowExperiment(tracking, Store(path.parent)).id  # noqa: B018
    return path


@pytest.fixture
def database(tmp_path: Path, empty_database: Path) -> str:
    """The URI of an empty SQLite store."""
    path = tmp_path / "mlflow" / "runs.db"
    path.parent.mkdir()
    shutil.copyfile(empty_database, path)
    return f"sqlite:///{path}"


A, B = "aa" * 8, "bb" * 8


class Trials:
    """A sweep as its driver writes it: definition, state, and the runs of its seeds."""

    def __init__(self, store: Store, name: str = "beta"):
        self.store, self.folder = store, store.folder(state.SWEEPS, name)
        self.definition: dict[str, Any] = {
            "name": name,
            "question": "Which beta helps?",
            "metric": "valid/bleu",
            "mode": "max",
            "scale": "toy",
            "keys": ["regime.beta"],
            "seeds": [1, 2],
            "tests": ["test"],
            "metrics": ["bleu"],
            "command": "",
            "scheduler": "all",
            "reference": "",
            "configurations": [],
            "merged": [],
            "started": 1.7e9,
        }
        self.state: dict[str, Any] = {"time": time.time(), "ended": False, "trials": {}}

    def configuration(self, address: str, point: Mapping[str, Any]) -> None:
        """Add a configuration; the first is the reference."""
        name = ", ".join(f"{key}={value}" for key, value in point.items()) or "baseline"
        entry = {"name": name, "address": address, "point": dict(point)}
        self.definition["configurations"].append(entry)
        self.definition["reference"] = self.definition["reference"] or address

    def trial(
        self,
        address: str,
        seed: int,
        progress: str,
        valid: float | None = None,
        test: float | None = None,
    ) -> Run:
        """Add a trial with the validations `valid` / 2 and `valid`, and a test score, a second
        after the seed before; return its run."""
        run = Run(self.store.folder("runs", f"{address}/seed-{seed}"))
        entries = self.definition["configurations"]
        point = next(entry["point"] for entry in entries if entry["address"] == address)
        run.describe(name=address[:2], address=address, seed=seed, parameters=point)
        for at in (1, 2) if valid is not None else ():
            metrics = {"valid/bleu": valid * at / 2, "train/seconds": 18.0 * at}
            line = {"update": 50 * at, "epochs": 0.0, "time": 1.7e9 + 10 * at + seed - 1}
            run.record({**line, "metrics": metrics})
        if test is not None:
            run.scores(test)
        if progress == "finished":
            run.folder.finish({})
        else:
            self.report(address, seed, progress)
        return run

    def report(self, address: str, seed: int, progress: str, error: str | None = None) -> None:
        """Set the driver's state of a trial."""
        self.state["trials"][f"{address}/seed-{seed}"] = {"progress": progress, "error": error}

    def write(self, ended: bool = False) -> None:
        """Write the sweep, a second after the last time."""
        self.state |= {"time": self.state["time"] + 1.0, "ended": ended}
        self.folder.write_record(state.DEFINITION, self.definition)
        self.folder.write_record(state.STATE, self.state)
        summary = data(summarise(state.load(self.store, self.definition["name"])))
        known = {"answer": "5 helps.", "notes": ["One corpus."], "best": B}
        self.folder.write_record(SUMMARY, summary | known)

    def finish(self) -> None:
        """Finish both configurations with both seeds."""
        results = [(A, 1, 10, 20), (A, 2, 12, 21), (B, 1, 14, 24), (B, 2, 18, 26)]
        for address, seed, valid, test in results:
            self.trial(address, seed, "finished", valid, test)
        self.write(ended=True)


@pytest.fixture
def trials(store: Store) -> Trials:
    """A sweep over two values of one key, before any trial has started."""
    trials = Trials(store)
    trials.configuration(A, {})
    trials.configuration(B, {"regime.beta": 5})
    return trials
