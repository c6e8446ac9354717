"""The test of what a sweep chose, on trainings that had no part in the choice.

The best of many trainings is mostly one that was lucky, and it is so on other text, too: tested on
the trainings that chose it, a system that helps nothing is said to help in 5 to 14 % of sweeps
(`benchmarks/race.py`), where 2.5 % are promised. The reference and the winner are therefore trained
with fresh seeds, and tested on those alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.core.naming import counted
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.experiments import record
from augury.reporting import results
from augury.reporting.comparison import Comparison, scored_sets
from augury.reporting.mean import compare_all
from augury.sweeping.confirmation import Confirmation
from augury.sweeping.state import Curves, Sweep, Trial

LEAST = 2
"""Seeds of both that a confirmation has, where a budget or failures end it early."""


@dataclass(frozen=True)
class Confirmed:
    """A choice and the reference with fresh seeds."""

    confirmation: Confirmation
    comparisons: tuple[Comparison, ...]
    """Of the two alone, on the mean of several test sets and on every one."""
    reference: float
    winner: float
    """Means in validation over the fresh seeds."""

    @property
    def deciding(self) -> Comparison:
        """The comparison on the test set, or on the mean of several."""
        return self.comparisons[0]

    @property
    def seeds_text(self) -> str:
        """The seeds, as the end of a sentence."""
        seeds = ", ".join(map(str, self.confirmation.seeds))
        return f"with fresh seeds ({seeds}), which had no part in the choice"

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON-like values."""
        row = self.deciding.rows[-1]
        return {
            **self.confirmation._asdict(),
            "validation": {"reference": self.reference, "winner": self.winner},
            "test": self.deciding.test,
            "difference": row.difference,
            "low": row.tested.low if row.tested else None,
            "high": row.tested.high if row.tested else None,
            "p": row.corrected,
        }


@dataclass(frozen=True)
class Price:
    """What confirming a choice would still cost."""

    trainings: int
    seconds: float | None
    """Of training, one after the other; None where no time is known."""

    def __str__(self) -> str:
        time = f", about {duration(self.seconds)} of training" if self.seconds else ""
        return f"{counted(self.trainings, 'training')}{time}"


def scored(sweep: Sweep, confirmation: Confirmation) -> dict[str, dict[int, Folder]]:
    """Return the scored runs of a confirmation by address and seed."""
    store = Store(sweep.folder.root)
    runs: dict[str, dict[int, Folder]] = {confirmation.reference: {}, confirmation.winner: {}}
    for address, seed in confirmation.trials:
        folder = record.run_folder(store, address, seed)
        if folder.exists(record.SCORES):
            runs[address][seed] = folder
    return runs


def confirmed(sweep: Sweep, winner: str) -> Confirmed | None:
    """Return the test of a winner; None before all of its fresh seeds are scored or, where the
    sweep has ended, two of both."""
    known = sweep.confirmation
    if known is None or known.winner != winner:
        return None
    runs = scored(sweep, known)
    least = LEAST if sweep.ended else len(known.seeds)
    if min(map(len, runs.values())) < least:
        return None
    names = [sweep.by_address[address].name for address in runs]
    systems = results.load_groups([*runs.values()], names)
    reference, its = (_validated(sweep, of) for of in runs.values())
    return Confirmed(known, tuple(compare_all(systems, scored_sets(systems))), reference, its)


def price_of(
    sweep: Sweep, confirmation: Confirmation, seconds: Mapping[str, float | None]
) -> Price:
    """Return what is missing of a confirmation; `seconds` are those of a training by address."""
    runs = scored(sweep, confirmation)
    missing = [
        trial for trial in confirmation.trials if trial.seed not in runs[trial.configuration]
    ]
    times = [seconds.get(trial.configuration) for trial in missing]
    known: Sequence[float] = [time for time in times if time is not None]
    return Price(len(missing), sum(known) if len(known) == len(missing) else None)


def _validated(sweep: Sweep, runs: Mapping[int, Folder]) -> float:
    """Return the mean of the best validations of runs."""
    curves = Curves(sweep.metric)
    trials = [Trial(seed, run, "finished", None, curves.of(run)) for seed, run in runs.items()]
    values = [value for trial in trials if (value := sweep.best(trial)) is not None]
    return statistics.fmean(values) if values else float("nan")
