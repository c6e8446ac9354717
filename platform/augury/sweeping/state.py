"""The stored state of a sweep: its definition, the progress of every trial, and the choice.

The driver writes two files to the sweep's folder: `sweep.json`, the definition, and `state.json`,
the progress. Curves, scores and errors come from the run folders. Everything that shows a sweep,
live or afterwards, reads it through `load`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pyarrow import fs

from augury.core.errors import UserError, nearest
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.store import Folder, Store
from augury.experiments import record
from augury.experiments.spec import Direction
from augury.sweeping.schedulers import Confirmation
from augury.training import history

SWEEPS = "sweeps"
TUNE = "tune"
"""The folder of a sweep in which Ray Tune leaves its files."""
DEFINITION, STATE, PAGE = "sweep.json", "state.json", "index.html"

TrialProgress = Literal["waiting", "running", "stopped", "finished", "failed"]
STATES: tuple[TrialProgress, ...] = ("finished", "running", "stopped", "failed", "waiting")
"""In the order in which they are shown."""
ENDS: tuple[TrialProgress, ...] = ("finished", "failed")


@dataclass(frozen=True)
class ValidationPoint:
    """The value of the sweep's metric at a validation."""

    update: int
    seconds: float
    """Training time so far, without pauses."""
    value: float


@dataclass(frozen=True)
class TrialState:
    """One configuration with one seed."""

    seed: int
    folder: Folder
    """The run's folder; may not exist yet."""
    progress: TrialProgress
    """waiting: not started; stopped: ended before its end, by a budget or Ctrl-C."""
    error: str | None
    """The error of a failed trial."""
    curve: tuple[ValidationPoint, ...]

    @property
    def seconds(self) -> float:
        """The training time up to the last validation."""
        return self.curve[-1].seconds if self.curve else 0.0


@dataclass(frozen=True)
class Configuration:
    """One point of the search space; its trials differ only in the seed."""

    name: str
    """Display name, the values of the swept keys: `beta=5, tau=1`."""
    address: str
    """Address of its runs, which are `runs/<address>/seed-<n>`."""
    point: Mapping[str, Any]
    """Dotted key -> value; empty for the plain baseline, which is not a point of the space."""
    trials: tuple[TrialState, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON-like values, without curves."""
        return {
            "name": self.name,
            "address": self.address,
            "point": dict(self.point),
            "trials": [
                {
                    "seed": trial.seed,
                    "run": trial.folder.name,
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
    """A point that is the same experiment as another configuration and shares its runs."""

    point: Mapping[str, Any]
    same_as: str
    """Name of that configuration."""
    reason: str
    name: str
    """Display name of the point."""


@dataclass(frozen=True)
class Sweep:
    """A sweep with its trials and what is chosen."""

    name: str
    question: str
    metric: str
    """The deciding metric by its name in the history: `valid/bleu`."""
    mode: Direction
    scale: str
    keys: tuple[str, ...]
    """The swept dotted keys."""
    seeds: tuple[int, ...]
    """The seeds a configuration may be trained with."""
    tests: tuple[str, ...]
    """The test sets; if empty, validation decides."""
    metrics: tuple[str, ...]
    """Those of the test sets, the deciding one first."""
    scheduler: str
    """`all` or `race`."""
    reference: str
    """Address of the configuration that the others are compared with."""
    configurations: tuple[Configuration, ...]
    """The reference first."""
    merged: tuple[Merged, ...]
    chosen: str | None
    """Address of the configuration that the scheduler has chosen; None before, and where all have
    failed."""
    started: float
    """Unix time at which its first command started."""
    updated: float
    """Unix time of the driver's last heartbeat."""
    ended: bool
    """Whether everything is decided; otherwise it is running, was stopped or was killed."""
    folder: Folder
    command: str = ""
    """The last command, as it was typed but without its storage; empty in Python."""
    stopped: bool = False
    """Whether its last command ended before, such as by Ctrl-C or the end of its budget."""
    deadline: float | None = None
    """Unix time at which the budget of its last command is spent; None where it has none."""
    confirmation: Confirmation | None = None
    """The fresh seeds that test the choice; None before it is made, and where the reference won."""
    confirming: tuple[tuple[Configuration, TrialState], ...] = ()
    """Its trials, which are none of the configurations' own."""

    @property
    def budget_left(self) -> float | None:
        """Seconds of the budget that were left at the last heartbeat, 0 where it is spent; None
        without a budget and where the sweep has ended."""
        if self.deadline is None or self.ended:
            return None
        return max(self.deadline - self.updated, 0.0)

    @property
    def metric_name(self) -> str:
        """The deciding metric by its name among scores: `bleu` for `valid/bleu`."""
        return self.metric.rpartition("/")[2]

    def furthest(self, configuration: Configuration) -> dict[TrialState, float]:
        """Return the best validations of the trials of a configuration that have finished; before
        one has, of those that have begun, which have had less training. Failed ones never count."""
        validated: dict[TrialProgress, dict[TrialState, float]] = {}
        for trial in configuration.trials:
            if (value := best_value(trial.curve, self.mode)) is not None:
                validated.setdefault(trial.progress, {})[trial] = value
        begun = {**validated.get("stopped", {}), **validated.get("running", {})}
        return validated.get("finished", begun)

    @property
    def by_address(self) -> dict[str, Configuration]:
        """The configurations by address."""
        return {configuration.address: configuration for configuration in self.configurations}

    @property
    def trials(self) -> list[tuple[Configuration, TrialState]]:
        """All trials with their configurations, the reference's first, and then those of the
        confirmation."""
        choosing = [
            (configuration, trial)
            for configuration in self.configurations
            for trial in configuration.trials
        ]
        return [*choosing, *self.confirming]

    @property
    def seconds(self) -> float:
        """Spent in the training of all trials."""
        return sum(trial.seconds for _, trial in self.trials)

    def count(self, progress: TrialProgress) -> int:
        """Return the number of trials in a state."""
        return sum(trial.progress == progress for _, trial in self.trials)

    def scored(self) -> dict[str, dict[int, Folder]]:
        """Return the scored runs of every configuration, by its name and the seed, the reference
        first, without those of the confirmation."""
        scored: dict[str, dict[int, Folder]] = {}
        for configuration in self.configurations:
            of_seeds = scored.setdefault(configuration.name, {})
            for trial in configuration.trials:
                if trial.folder.exists(record.SCORES):
                    of_seeds[trial.seed] = trial.folder
        return scored


@dataclass
class Curves:
    """A cache of validation curves that rereads a history only if it has grown."""

    metric: str
    _known: dict[str, tuple[fs.FileInfo | str | None, tuple[ValidationPoint, ...]]] = field(
        default_factory=dict
    )
    """By run, with what was known of its history, or that it has ended."""

    def of(self, run: Folder, ended: bool = False) -> tuple[ValidationPoint, ...]:
        """Return the validations of a run so far, which will be no more if it has `ended`."""
        now = "ended" if ended else run.info(history.FILE)
        known, curve = self._known.get(run.name, (None, ()))
        if known != now:
            curve = self._read(run)
            self._known[run.name] = (now, curve)
        return curve

    def _read(self, run: Folder) -> tuple[ValidationPoint, ...]:
        records = history.read(run)
        validations = [record for record in records if self.metric in record["metrics"]]
        return tuple(
            ValidationPoint(
                record["update"],
                record["metrics"].get("train/seconds", 0.0),
                record["metrics"][self.metric],
            )
            for record in validations
        )


def best_value(curve: Iterable[ValidationPoint], mode: Direction) -> float | None:
    """Return the best value of a curve; None where none is finite."""
    values = [point.value for point in curve if math.isfinite(point.value)]
    return (max if mode == "max" else min)(values, default=None)


def names(store: Store) -> list[str]:
    """Return the names of the sweeps in a storage."""
    return [
        name for name in store.addresses(SWEEPS) if store.folder(SWEEPS, name).exists(DEFINITION)
    ]


def definitions(store: Store) -> dict[str, dict[str, Any]]:
    """Return the definitions of the sweeps in a storage by name; a damaged one is left out, with a
    warning."""
    found = {}
    for name in names(store):
        try:
            found[name] = store.folder(SWEEPS, name).read_record(DEFINITION)
        except UserError as error:
            say_once(f"warning: {error}")
    return found


def resolve(store: Store, name: str) -> str:
    """Return the name of a sweep given by its name or, where there is a single one, by that of its
    space, with which it begins.

    Raises UserError listing the existing sweeps if there is none or more than one.
    """
    existing = names(store)
    found = [sweep for sweep in existing if sweep.startswith(f"{name}-")]
    found = [name] if name in existing else found
    if len(found) > 1:
        raise UserError(
            f"{store.root} has {len(found)} sweeps of '{name}': give one of {', '.join(found)}"
        )
    if not found:
        start = "there are none yet; start one with `augury sweep SPACE`"
        remedy = nearest(name, existing) if existing else start
        raise UserError(f"no sweep '{name}' in {store.root}: {remedy}")
    return found[0]


def load(store: Store, name: str, curves: Curves | None = None) -> Sweep:
    """Return a sweep of a storage, its name resolved as by `resolve`.

    Pass the same `curves` to every call to reread only histories that have changed.
    """
    folder = store.folder(SWEEPS, name)
    if not folder.exists(DEFINITION):
        folder = store.folder(SWEEPS, resolve(store, name))
    definition, state = records(folder)
    curves = curves or Curves(definition["metric"])

    def trial(address: str, seed: int) -> TrialState:
        run = record.run_folder(store, address, seed)
        entry = state.get("trials", {}).get(f"{address}/seed-{seed}", {})
        ended = entry.get("progress") == "finished" or run.complete
        progress: TrialProgress = "finished" if ended else entry.get("progress", "waiting")
        curve = () if progress == "waiting" else curves.of(run, ended)
        return TrialState(seed, run, progress, entry.get("error"), curve)

    configurations = tuple(
        Configuration(
            entry["name"],
            entry["address"],
            entry["point"],
            tuple(trial(entry["address"], seed) for seed in definition["seeds"]),
        )
        for entry in definition["configurations"]
    )
    by_address = {configuration.address: configuration for configuration in configurations}
    chosen, entry = state.get("chosen"), state.get("confirmation")
    confirmation = entry and Confirmation(entry["reference"], entry["winner"], (*entry["seeds"],))
    as_stored = ("name", "question", "metric", "mode", "scale", "scheduler", "reference", "started")
    stored = {name: definition[name] for name in (*as_stored, "command")}
    stored |= {name: tuple(definition[name]) for name in ("keys", "seeds", "tests")}
    return Sweep(
        **stored,
        metrics=tuple(definition.get("metrics", ())),
        configurations=configurations,
        merged=tuple(Merged(**entry) for entry in definition["merged"]),
        chosen=chosen if chosen in by_address else None,  # not one that is no longer asked for
        updated=state.get("time", definition["started"]),
        ended=state.get("ended", False),
        folder=folder,
        stopped=state.get("stopped", False),
        deadline=state.get("deadline"),
        confirmation=confirmation,
        confirming=tuple(
            (by_address[address], trial(address, seed))
            for address, seed in (confirmation.trials if confirmation else ())
            if address in by_address
        ),
    )


def records(folder: Folder) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the stored definition of a sweep, and its state, empty before it has begun.

    Damaged, with what to do, where one is not as it was written.
    """
    try:
        state = folder.read_record(STATE) if folder.exists(STATE) else {}
        return folder.read_record(DEFINITION), state
    except Damaged as error:
        raise Damaged(f"{error}; the command of the sweep writes it anew") from error
