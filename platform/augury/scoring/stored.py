"""Scores as they are stored with a run: values, and statistics of sentences.

With the statistics, systems can be compared without their outputs. Nothing heavy is imported here,
so that stored runs are read quickly.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from augury.core.integrity import Damaged
from augury.core.store import Folder

SCORES, STATISTICS, HYPOTHESES = "scores.json", "counts", "hypotheses"
"""What a run's folder has when it is scored: the record of scores, and by test set the statistics
of sentences and the outputs, which the record vouches for."""


@dataclass(frozen=True)
class Score:
    """The value of a metric on a corpus, with its 95 % bootstrap interval over sentences."""

    name: str
    value: float
    low: float
    high: float
    signature: str
    """Signature of the metric, with the number of bootstrap samples and their seed."""
    n: int
    """Number of sentences."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-like values, without statistics."""
        return {item.name: getattr(self, item.name) for item in fields(Score)}


@dataclass(frozen=True)
class Measured(Score):
    """A score with the statistics of its sentences."""

    statistics: npt.NDArray[Any] = field(compare=False, repr=False)
    """Shape (sentences, statistics)."""


def write_statistics(run: Folder, test: str, scores: Sequence[Measured]) -> None:
    """Store sentence statistics in a run: `counts/<test>.npz`, an array for each metric."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {result.name: result.statistics for result in scores}
    np.savez_compressed(content, **arrays)
    run.write(f"{STATISTICS}/{test}.npz", content.getvalue())


def read_statistics(run: Folder, test: str) -> dict[str, npt.NDArray[Any]]:
    """Return the stored sentence statistics by metric; empty if there are none."""
    if not run.exists(f"{STATISTICS}/{test}.npz"):
        return {}
    content = read_vouched(run, f"{STATISTICS}/{test}.npz")
    with np.load(io.BytesIO(content)) as arrays:
        return dict(arrays)


def with_statistics(run: Folder, test: str, scores: Sequence[Score]) -> list[Measured]:
    """Return stored scores with the statistics of their sentences, those that have some."""
    known = read_statistics(run, test) if scores else {}
    counted = [score for score in scores if score.name in known]
    return [Measured(**score.to_dict(), statistics=known[score.name]) for score in counted]


def write_outputs(run: Folder, test: str, outputs: Iterable[str]) -> None:
    """Store the outputs on a test set, a line each."""
    run.write(f"{HYPOTHESES}/{test}.txt", "".join(f"{line}\n" for line in outputs))


def read_outputs(run: Folder, test: str) -> list[str]:
    """Return the stored outputs on a test set."""
    return read_vouched(run, f"{HYPOTHESES}/{test}.txt").decode().split("\n")[:-1]


def read_vouched(run: Folder, name: str) -> bytes:
    """Return a file of a run's scores; Damaged where one is not as the record of scores has it."""
    if fault := run.damage(SCORES):
        raise Damaged(
            f"{fault}: repeat the command that scored it, such as `augury train`, which scores it "
            "anew"
        )
    return run.local(name, SCORES).read_bytes()
