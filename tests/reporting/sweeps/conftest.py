"""Sweeps as their driver leaves them: what was asked, how far it is, and the folders of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from augury.store import Folder
from augury.sweeping import state
from augury.sweeping.points import title
from augury.sweeping.state import Sweep
from augury.training.history import History


class Sweeps:
    """Writes one sweep into the storage of `results`."""

    def __init__(self, results: Any, name: str = "beta"):
        self.results, self.name = results, name
        self.folder = results.store.folder(state.KIND, name)
        self.configurations: list[dict[str, Any]] = []
        self.trials: dict[str, dict[str, Any]] = {}
        self.decisions: list[dict[str, Any]] = []
        self.merged: list[dict[str, Any]] = []

    def configuration(self, point: Mapping[str, Any], name: str | None = None) -> str:
        """A configuration without trials; returns its address."""
        address = f"{len(self.configurations):016x}"
        self.configurations.append({"name": name or title(point), "address": address, "point": dict(point)})
        return address

    def trial(
        self,
        address: str,
        seed: int,
        values: Sequence[float],
        progress: str = "finished",
        *,
        error: str | None = None,
        bleu: float | None = None,
        seconds: float = 60.0,
        **run: Any,
    ) -> Folder:
        """A trial with its validations, one in `seconds`; finished ones are scored with the last value or `bleu`."""
        name = next(each["name"] for each in self.configurations if each["address"] == address)
        scored = bleu if bleu is not None else values[-1] if progress == "finished" else None
        folder: Folder = self.results.run(name, address, seed, bleu=scored, seconds=seconds * len(values), **run)
        history = History(folder)
        for index, value in enumerate(values, start=1):
            history.add(100 * index, 0, {"valid/bleu": value, "train/seconds": seconds * index})
        history.flush()
        if progress == "finished":
            folder.finish({})
        self.trials[f"{address}/seed-{seed}"] = {"progress": progress, "error": error}
        return folder

    def decide(
        self, address: str, rung: int, action: str, mean: float, half: float, cut: float, seeds: int = 1
    ) -> None:
        """A decision of the race at a rung of two validations more than the one before."""
        self.decisions.append({"time": 1.7e9 + 600 * rung, "rung": rung, "validations": 2 * rung, "address": address,
                               "action": action, "seeds": seeds, "mean": mean, "low": mean - half, "high": mean + half,
                               "cut": cut})  # fmt: skip

    def load(
        self, seeds: Sequence[int] = (1, 2, 3), *, scheduler: str = "all", mode: str = "max", ended: bool = True,
        question: str = "Does a stronger pull between views help?",
    ) -> Sweep:  # fmt: skip
        """Write the sweep's two files and read it."""
        keys = list(dict.fromkeys(key for each in self.configurations for key in each["point"]))
        self.folder.write_json(state.DEFINITION, {
            "name": self.name, "question": question, "metric": "valid/bleu", "mode": mode, "scale": "smoke",
            "keys": keys, "seeds": list(seeds), "scheduler": scheduler,
            "reference": self.configurations[0]["address"], "configurations": self.configurations,
            "merged": self.merged, "started": 1.7e9,
        })  # fmt: skip
        self.folder.write_json(state.STATE, {
            "time": 1.7e9 + 3600, "ended": ended, "trials": self.trials, "decisions": self.decisions,
        })  # fmt: skip
        return state.load(self.results.store, self.name)


@pytest.fixture
def sweeps(results: Any) -> Sweeps:
    return Sweeps(results)
