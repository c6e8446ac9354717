"""A sweep as it lies in the storage: its definition, how far every trial is, and what was decided.

The driver writes two files into the sweep's folder: `sweep.json`, the definition, and `state.json`, how far it is.
Curves, scores and errors are those of the run folders. Whoever shows a sweep, live or afterwards, reads it here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from augury.core.errors import UserError, nearest
from augury.core.naming import title
from augury.core.plugins import file_of, is_path
from augury.core.store import Folder, Store
from augury.experiments import runs
from augury.scoring.metrics import bounds
from augury.training import history
from augury.training.trained import OUTCOME

KIND = "sweeps"
SILENCE_SECONDS = 180.0  # a driver says every 30 seconds that it lives
DEFINITION, STATE, PAGE = "sweep.json", "state.json", "index.html"

Progress = Literal["waiting", "running", "paused", "stopped", "finished", "failed"]


@dataclass(frozen=True)
class Point:
    """The sweep's metric after a validation."""

    validation: int
    """Counted from 1."""
    update: int
    seconds: float
    """Of training, pauses left out."""
    value: float


@dataclass(frozen=True)
class Trial:
    """One configuration with one seed."""

    seed: int
    folder: Folder
    """The run's folder; it need not exist yet."""
    progress: Progress
    """waiting: not started; paused: waits for a decision; stopped: the race ended it before the end of training."""
    error: str | None
    """Why it failed."""
    curve: tuple[Point, ...]

    @property
    def parameters(self) -> int | None:
        """Of the model, once training has ended."""
        return int(self.folder.read_json(OUTCOME)["parameters"]) if self.folder.exists(OUTCOME) else None

    @property
    def seconds(self) -> float:
        """Spent in training up to the last validation."""
        return self.curve[-1].seconds if self.curve else 0.0


@dataclass(frozen=True)
class Configuration:
    """One point of the search space; its trials differ in the seed alone."""

    name: str
    """The values of the swept keys, for people: `beta=5, tau=1`."""
    address: str
    """Of the run: `runs/<address>/seed-<n>`."""
    point: Mapping[str, Any]
    """Dotted key -> value; empty for the plain baseline beside the space."""
    trials: tuple[Trial, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON-like values, without curves."""
        return {
            "name": self.name,
            "address": self.address,
            "point": dict(self.point),
            "trials": [
                {
                    "seed": trial.seed,
                    "run": trial.folder.uri,
                    "progress": trial.progress,
                    "error": trial.error,
                    "validations": len(trial.curve),
                    "train_seconds": trial.seconds,
                }
                for trial in self.trials
            ],
        }


@dataclass(frozen=True)
class Merged:
    """A point that is the same experiment as another one, and runs once with it."""

    point: Mapping[str, Any]
    same_as: str
    """The name of the configuration that stands for it."""
    reason: str
    name: str = ""
    """Its own; without one it is called by its values."""

    @property
    def called(self) -> str:
        """The name for people."""
        return self.name or title(self.point)


@dataclass(frozen=True)
class Decision:
    """A decision of the race on a configuration at a rung."""

    time: float
    """Seconds since 1970."""
    rung: int
    """Counted from 1."""
    validations: int | None
    """At which the rung stands; None: at the end of training."""
    address: str
    """Of the configuration."""
    action: Literal["promoted", "stopped", "seed added", "chosen"]
    seeds: int
    """That the decision rests on."""
    mean: float
    low: float
    high: float
    cut: float
    """The value that the interval was held against."""


@dataclass(frozen=True)
class Sweep:
    """Everything there is to show of a sweep."""

    name: str
    question: str
    metric: str
    """The metric that decides, as the history calls it: `valid/bleu`."""
    mode: Literal["max", "min"]
    scale: str
    keys: tuple[str, ...]
    """The swept dotted keys."""
    seeds: tuple[int, ...]
    """The seeds a configuration may be trained with."""
    tests: tuple[str, ...] | None
    """The test sets; without any, validation decides. None where an older version of Augury did not write them down."""
    scheduler: str
    """`all`, `halving` or `pbt`."""
    reference: str
    """The address of the configuration that the others are compared with."""
    configurations: tuple[Configuration, ...]
    """The reference first."""
    merged: tuple[Merged, ...]
    decisions: tuple[Decision, ...]
    started: float
    """Seconds since 1970, of the first command that ran it."""
    updated: float
    """When its driver was last heard of."""
    ended: bool
    """Whether its driver has come to the end; otherwise it runs, or was killed."""
    folder: Folder

    @property
    def silent(self) -> float | None:
        """The seconds for which nothing was heard of a sweep that has not ended, once they are many."""
        return None if self.ended else silence(self.updated)

    def best(self, trial: Trial) -> float | None:
        """Return the best validation of a trial so far."""
        values = [point.value for point in trial.curve if math.isfinite(point.value)]
        return (max if self.mode == "max" else min)(values, default=None)

    @property
    def by_address(self) -> dict[str, Configuration]:
        """The configurations by the address of their runs."""
        return {configuration.address: configuration for configuration in self.configurations}

    @property
    def trials(self) -> list[tuple[Configuration, Trial]]:
        """All trials with their configurations, the reference's first."""
        return [(configuration, trial) for configuration in self.configurations for trial in configuration.trials]

    @property
    def seconds(self) -> float:
        """Spent in the training of all trials."""
        return sum(trial.seconds for _, trial in self.trials)

    def count(self, progress: Progress) -> int:
        """Return the number of trials in a state."""
        return sum(trial.progress == progress for _, trial in self.trials)

    def scored(self) -> dict[str, dict[int, Folder]]:
        """Return the scored runs of every configuration, by its name and the seed, the reference first."""
        scored: dict[str, dict[int, Folder]] = {configuration.name: {} for configuration in self.configurations}
        for configuration, trial in self.trials:
            if trial.folder.exists(runs.SCORES):
                scored[configuration.name][trial.seed] = trial.folder
        return scored


@dataclass
class Curves:
    """Curves of runs, read again only where a history has grown."""

    metric: str
    _seen: dict[str, tuple[dict[str, int], tuple[Point, ...]]] = field(default_factory=dict)

    def of(self, run: Folder) -> tuple[Point, ...]:
        """Return the validations of a run so far."""
        files = history.files(run)
        known = self._seen.get(run.name)
        if known is None or known[0] != files:
            known = self._seen[run.name] = files, self._read(run)
        return known[1]

    def _read(self, run: Folder) -> tuple[Point, ...]:
        validations = [record for record in history.read(run) if self.metric in record["metrics"]]
        return tuple(
            Point(index, record["update"], record["metrics"].get("train/seconds", 0.0), record["metrics"][self.metric])
            for index, record in enumerate(validations, start=1)
        )


def silence(updated: float) -> float | None:
    """Return the seconds since a driver was last heard of, once they are so many that it must have been killed."""
    seconds = time.time() - updated
    return seconds if seconds > SILENCE_SECONDS else None


def names(store: Store) -> list[str]:
    """Return the names of the sweeps of a storage."""
    return [name for name in store.addresses(KIND) if store.folder(KIND, name).exists(DEFINITION)]


def resolve(store: Store, word: str) -> str:
    """Return the name of the sweep that `word` is, or of the only one of the space of that name or path.

    UserError names the sweeps that there are.
    """
    known = names(store)
    if word in known:
        return word
    space = file_of(word).stem if is_path(word) else word
    scales = {name: store.folder(KIND, name).read_json(DEFINITION)["scale"] for name in known}
    of_space = [name for name, scale in scales.items() if f"{name}-".startswith(f"{space}-{scale}-")]
    if len(of_space) == 1:
        return of_space[0]
    if of_space:
        raise UserError(f"there are {len(of_space)} sweeps of '{word}' in {store.root}: name {' or '.join(of_space)}")
    remedy = nearest(space, known) if known else "there is none yet, `augury sweep SPACE` makes one"
    raise UserError(f"no sweep '{word}' in {store.root}: {remedy}")


def load(store: Store, name: str, curves: Curves | None = None) -> Sweep:
    """Return the sweep of a storage that `name` leads to (see `resolve`).

    `curves`, kept between calls, spares reading what has not changed.
    """
    folder = store.folder(KIND, name)
    if not folder.exists(DEFINITION):
        folder = store.folder(KIND, resolve(store, name))
    definition: Mapping[str, Any] = folder.read_json(DEFINITION)
    state: Mapping[str, Any] = folder.read_json(STATE) if folder.exists(STATE) else {}
    curves = curves or Curves(definition["metric"])
    configurations = tuple(
        _configuration(entry, definition["seeds"], state, store, curves) for entry in definition["configurations"]
    )
    return Sweep(
        name=definition["name"],
        question=definition["question"],
        metric=definition["metric"],
        mode=definition["mode"],
        scale=definition["scale"],
        keys=tuple(definition["keys"]),
        seeds=tuple(definition["seeds"]),
        scheduler=definition["scheduler"],
        reference=definition["reference"],
        configurations=configurations,
        merged=tuple(Merged(**entry) for entry in definition["merged"]),
        decisions=tuple(_decision(entry, definition["metric"]) for entry in state.get("decisions", ())),
        started=definition["started"],
        updated=state.get("time", definition["started"]),
        ended=state.get("ended", False),
        tests=None if definition.get("tests") is None else tuple(definition["tests"]),
        folder=folder,
    )


def _decision(entry: Mapping[str, Any], metric: str) -> Decision:
    """Return a decision of the race with its interval cut to the metric's range."""
    from augury.scoring.significance import Interval  # with scipy, which whoever only asks for a sweep does not need

    between = Interval(entry["low"], entry["high"]).within(bounds(metric.rpartition("/")[2]))
    return Decision(**{**entry, "low": between.low, "high": between.high})


def _configuration(
    definition: Mapping[str, Any], seeds: Sequence[int], state: Mapping[str, Any], store: Store, curves: Curves
) -> Configuration:
    trials = []
    for seed in seeds:
        folder = store.folder(runs.KIND, f"{definition['address']}/seed-{seed}")
        noted = state.get("trials", {}).get(f"{definition['address']}/seed-{seed}", {})
        progress: Progress = "finished" if folder.complete else noted.get("progress", "waiting")
        trials.append(Trial(seed, folder, progress, noted.get("error"), curves.of(folder)))
    return Configuration(definition["name"], definition["address"], definition["point"], tuple(trials))
