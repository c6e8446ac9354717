"""The options of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from augury.core.errors import UserError
from augury.sweeping.declarations import SchedulerName, SearchName


@dataclass(frozen=True)
class SweepOptions:
    """The options of one sweep command."""

    storage: str
    name: str
    seeds: tuple[int, ...]
    scheduler: SchedulerName
    search: SearchName
    samples: int | None = None
    at_once: int | None = None
    """Maximum number of concurrent trials; None: as many as fit."""
    trials: int | None = None
    """Maximum number of trials to start."""
    budget: float | None = None
    """Seconds after which no trial is started."""
    fail_fast: bool = False
    rows: tuple[str, ...] = ()
    """The rows that the sweep was restricted to; empty: all of the space."""
    worth: float = 0.0
    """Points of the metric that twice the training time has to bring."""
    assignments: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys set for all trials (`--set`)."""

    def check(self) -> None:
        """Raise UserError for options that do not go together."""
        if self.search == "optuna" and self.scheduler != "all":
            raise UserError(
                f"scheduler {self.scheduler} needs all configurations in advance, but search "
                "optuna suggests them one at a time: use --scheduler all, or --search random "
                "--samples N"
            )
        limits = {
            "--at-once": self.at_once,
            "--trials": self.trials,
            "--budget": self.budget,
            "--fail-fast": self.fail_fast or None,
        }
        limiting = [flag for flag, value in limits.items() if value is not None]
        if self.scheduler == "pbt" and limiting:
            raise UserError(
                "scheduler pbt trains its whole population concurrently: leave out "
                f"{', '.join(limiting)}, or use another "
                "--scheduler"
            )
        if self.worth and (self.search == "optuna" or self.scheduler == "pbt"):
            other = "--scheduler pbt" if self.scheduler == "pbt" else "search optuna"
            raise UserError(
                "--worth weighs the training time of configurations that are known in advance: "
                f"leave it out with {other}"
            )
        if self.search == "optuna" and self.samples is None:
            raise UserError(
                "search optuna has no end of its own: give the number of points with --samples N"
            )
