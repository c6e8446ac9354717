"""Run folders as training leaves them, and a SQLite store of MLflow."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.experiments.tracking import Place
from augury.sweeping import state
from augury.sweeping.state import Sweep
from augury.tracking.mirror import Mirror
from tests.run_folders import ADDRESS, Run


@pytest.fixture(autouse=True)
def no_store_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh store's tables; making them takes MLflow seconds."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    Mirror(Place(f"sqlite:///{path}", str(path.parent / "mlartifacts"), path), "empty").open()
    return path


@pytest.fixture
def database(tmp_path: Path, empty_database: Path) -> str:
    """The address of a SQLite store that holds nothing yet."""
    path = tmp_path / "mlflow" / "runs.db"
    path.parent.mkdir()
    shutil.copyfile(empty_database, path)
    return f"sqlite:///{path}"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def run(store: Store) -> Run:
    """A run that is about to begin."""
    return Run(store.folder("runs", f"{ADDRESS}/seed-3"))


class Trials:
    """A sweep as its driver leaves it in the storage: what was asked, where it stands, and the runs of its seeds."""

    def __init__(self, store: Store, name: str = "beta"):
        self.store, self.folder = store, store.folder(state.KIND, name)
        self.asked: dict[str, Any] = {
            "name": name,
            "question": "Which beta helps?",
            "metric": "valid/bleu",
            "mode": "max",
            "scale": "toy",
            "keys": ["regime.beta"],
            "seeds": [1, 2],
            "scheduler": "all",
            "reference": "",
            "configurations": [],
            "merged": [],
            "started": 1.7e9,
        }
        self.stands: dict[str, Any] = {"time": 1.7e9 + 1000, "ended": False, "trials": {}, "decisions": []}

    def configuration(self, address: str, point: Mapping[str, Any]) -> None:
        """One more configuration; the first is the reference."""
        name = ", ".join(f"{key}={value}" for key, value in point.items()) or "baseline"
        self.asked["configurations"].append({"name": name, "address": address, "point": dict(point)})
        self.asked["reference"] = self.asked["reference"] or address

    def trial(
        self, address: str, seed: int, progress: str, valid: float | None = None, test: float | None = None
    ) -> Run:
        """A trial with validations of half of `valid` and then `valid`, and a test score; one that waits has no run."""
        point = next(each["point"] for each in self.asked["configurations"] if each["address"] == address)
        run = Run(self.store.folder("runs", f"{address}/seed-{seed}"))
        run.describe(address=address, seed=seed, parameters={"training.precision": "fp32", "model.layers": 2, **point})
        if valid is not None:
            run.raw(
                "00000050",
                *(
                    {
                        "update": 50 * at,
                        "passes": 0.0,
                        "time": 1.7e9 + 10 * at,
                        "metrics": {"valid/bleu": valid * at / 2, "train/seconds": 18.0 * at},
                    }
                    for at in (1, 2)
                ),
            )
        if test is not None:
            run.scores(test)
        if progress == "finished":
            run.folder.finish({})
        else:
            self.say(address, seed, progress)
        return run

    def say(self, address: str, seed: int, progress: str, error: str | None = None) -> None:
        """What the driver says of a trial."""
        self.stands["trials"][f"{address}/seed-{seed}"] = {"progress": progress, "error": error}

    def stop(self, address: str, rung: int = 1) -> None:
        """The race has stopped a configuration."""
        self.stands["decisions"].append(
            {
                "time": 1.7e9 + 50,
                "rung": rung,
                "validations": 2,
                "address": address,
                "action": "stopped",
                "seeds": 1,
                "mean": 5.0,
                "low": 4.0,
                "high": 6.0,
                "cut": 9.0,
            }
        )

    def load(self, ended: bool | None = None) -> Sweep:
        """The sweep as it stands now, a second later than the last time."""
        self.stands["time"] += 1.0
        self.stands["ended"] = self.stands["ended"] if ended is None else ended
        self.folder.write_json(state.DEFINITION, self.asked)
        self.folder.write_json(state.STATE, self.stands)
        return state.load(self.store, self.asked["name"])


@pytest.fixture
def trials(store: Store) -> Trials:
    """A sweep over two values of one key, of which nothing has begun."""
    found = Trials(store)
    found.configuration("aa" * 8, {})
    found.configuration("bb" * 8, {"regime.beta": 5})
    return found
