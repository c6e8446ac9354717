"""The options of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from augury.sweeping.space import SchedulerName, SearchName


@dataclass(frozen=True)
class SweepOptions:
    """The options of a command on a sweep."""

    storage: str
    name: str
    seeds: tuple[int, ...]
    scheduler: SchedulerName
    search: SearchName
    samples: int | None = None
    at_once: int | None = None
    """Trials that run side by side; none: as many as fit."""
    trials: int | None = None
    """Trials that this command may begin."""
    budget: float | None = None
    """Seconds after which nothing begins."""
    fail_fast: bool = False
    assignments: Mapping[str, Any] = field(default_factory=dict)
