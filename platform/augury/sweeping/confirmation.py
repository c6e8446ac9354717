"""What a scheduler has chosen is tested on trainings that had no part in the choice.

The best score of many is mostly one that was lucky: on the seeds that chose it, a system that helps
nothing seems to help.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from augury.sweeping.schedulers import (
    Decision,
    Mode,
    Rounds,
    Scheduler,
    Scored,
    Trial,
    half_widths,
)

FRESH = 3
"""Seeds that confirm a choice."""


class Confirmation(NamedTuple):
    """What tests a choice: two configurations with seeds that had no part in it."""

    reference: str
    winner: str
    seeds: tuple[int, ...]

    @property
    def trials(self) -> list[Trial]:
        """The trials that it takes."""
        names = self.reference, self.winner
        return [Trial(name, seed) for seed in self.seeds for name in names]


def fresh_seeds(seeds: Collection[int], count: int = FRESH) -> tuple[int, ...]:
    """Return seeds that confirm what `seeds` have chosen: those that follow them."""
    return tuple(range(max(seeds) + 1, max(seeds) + 1 + count))


class Confirmed(Scheduler):
    """Lets another scheduler choose, then trains the reference and the winner with fresh seeds.

    Their scores choose nothing, and are what the winner is tested by. Where the reference wins,
    there is nothing to confirm. To estimate what a confirmation will cost before there is a winner:
    `Confirmation(reference, candidate, fresh).trials`.
    """

    def __init__(self, choosing: Scored | Rounds, reference: str, fresh: Iterable[int]):
        self.mode: Mode = choosing.mode
        self.choosing, self.reference, self.fresh = choosing, reference, tuple(fresh)
        assert self.fresh, "a choice is confirmed by seeds"
        self._values: dict[Trial, float] = {}
        self._failed: set[Trial] = set()

    @property
    def confirmation(self) -> Confirmation | None:
        """What confirms the choice; None before it is made, and where the reference won."""
        winner = self.choosing.best if self.choosing.finished else None
        if winner is None or winner == self.reference:
            return None
        return Confirmation(self.reference, winner, self.fresh)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions of the choice, and that it is confirmed."""
        confirmed = [self._confirmed()] if self.finished and self.confirmation else []
        return [*self.choosing.decisions, *filter(None, confirmed)]

    @property
    def best(self) -> str | None:
        """The chosen configuration."""
        return self.choosing.best

    @property
    def leader(self) -> str | None:
        """What would be chosen now, besides the reference; None before anything is known."""
        others = (name for name in self.choosing.standings() if name != self.reference)
        return next(others, None)

    @property
    def finished(self) -> bool:
        """Whether the choice is made and nothing is left to confirm it."""
        return self.choosing.finished and not self.work()

    def work(self) -> list[Trial]:
        """Return what can be trained now, most urgent first."""
        if not self.choosing.finished:
            return self.choosing.work()
        trials = self.confirmation.trials if self.confirmation else []
        return [
            trial for trial in trials if trial not in self._values and trial not in self._failed
        ]

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; one of a fresh seed takes no part in the choice."""
        if seed not in self.fresh:
            self.choosing.tell(configuration, seed, value)
        elif math.isfinite(value):
            self._values.setdefault(Trial(configuration, seed), value)
        else:
            self._failed.add(Trial(configuration, seed))

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial cannot be trained."""
        if seed in self.fresh:
            self._failed.add(Trial(configuration, seed))
        else:
            self.choosing.fail(configuration, seed)

    def choose(self) -> None:
        """Choose among what is known, so that the rest of a budget can confirm it."""
        self.choosing.choose()

    def _confirmed(self) -> Decision | None:
        """Return the scores of the winner on fresh seeds beside the reference's; None where either
        has none."""
        assert self.confirmation
        groups: dict[str, list[float]] = {self.reference: [], self.confirmation.winner: []}
        for trial in self.confirmation.trials:
            if trial in self._values:
                groups[trial.configuration].append(self._values[trial])
        reference, winner = groups.values()
        if not reference or not winner:
            return None
        mean, name = statistics.fmean(winner), self.confirmation.winner
        half = half_widths(groups).get(name, 0.0)
        cut = statistics.fmean(reference)
        return Decision(name, "confirmed", len(winner), mean, mean - half, mean + half, cut)
