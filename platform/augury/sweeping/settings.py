"""The options of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
