"""A run as the loop sees it; imports no torch, so that stored runs are read quickly."""

from __future__ import annotations

from dataclasses import dataclass

from augury.core.store import Folder

PREFIXES = "prefixes"
"""Kind of the folders that name the runs which differ only in their end."""
FAILURE = "failure.json"
"""The file of a run whose training failed: `kind` and `error`."""


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """The folder of a run, its seed, and the address of what determines it."""

    folder: Folder
    address: str
    seed: int
    prefix: str | None = None
    """The address of everything that determines training but its end, by which a longer run
    finds a shorter one."""


class Diverged(ArithmeticError):
    """A loss or a gradient is not finite.

    The message names the update, the records and the last good checkpoint.
    """


class Crashed(RuntimeError):
    """The workers of a run died more often than they may; its checkpoints are kept."""
