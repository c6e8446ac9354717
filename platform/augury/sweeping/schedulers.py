"""Which configuration to train next with which seed: schedulers, pure functions of scores.

A trial is one configuration with one seed, and trains to its end. A scheduler names the trials that
can be trained now (`work`), is told their scores in validation (`tell`), and chooses. Test scores
are never told. The choice depends on the scores only, not on when and in which order they arrive:
to continue a sweep, or to add configurations or seeds, tell a new scheduler all that is known.

    Scheduler   every configuration with every seed
    Race        every configuration once, then further seeds of the reference and the best

Both can have further `rounds`, which begin when all is trained: they add what the scores so far
suggest. At the end the reference and the winner are trained with seeds that chose nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from augury.experiments.spec import LAST_SEED, Direction

CONFIDENCE = 0.95
FRESH = 3
"""Seeds that confirm a choice."""
FINALISTS = 3
"""How many of the best get further seeds, besides the reference."""

Standings = Mapping[str, float]
"""Configuration -> its mean over seeds, best first."""
Propose = Callable[[Standings], Collection[str]]
"""Plans the configurations of the next round."""


class Trial(NamedTuple):
    """A configuration, by its address, with one seed."""

    configuration: str
    seed: int


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
    """Return seeds that confirm what `seeds` have chosen: those that follow them, or the first
    others where these would be too large."""
    first = max(seeds) + 1 if max(seeds) + count <= LAST_SEED else 0
    others = (seed for seed in range(first, LAST_SEED + 1) if seed not in seeds)
    return tuple(next(others) for _ in range(count))


def pooled_deviation(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """Return the standard deviation pooled over groups and its degrees of freedom; (0, 0) if it
    cannot be estimated."""
    squares, degrees = 0.0, 0
    for group in groups:
        mean = statistics.fmean(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        degrees += len(group) - 1
    return (math.sqrt(squares / degrees), degrees) if degrees else (0.0, 0)


def half_widths(groups: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return half the width of the 95 % confidence interval of every group's mean.

    Empty if no group has two values. Two or three seeds are too few to estimate a variance, so it
    is assumed equal for all groups and pooled; Student's t uses the pooled degrees of freedom.
    """
    from scipy.special import stdtrit  # plans need none, and it takes a moment

    deviation, degrees = pooled_deviation(groups.values())
    if not degrees:
        return {}
    scale = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * deviation
    return {name: scale / math.sqrt(len(group)) for name, group in groups.items()}


class Scheduler:
    """Trains every configuration, the reference first, with every seed; the best mean is chosen.

    One with a failed seed is never chosen. With `fresh` seeds, the reference and the chosen
    configuration are trained once more: the best score of many is mostly one that was lucky. These
    scores choose nothing, and are what the winner is tested by. Where the reference wins, there is
    nothing to confirm.
    """

    def __init__(
        self,
        configurations: Iterable[str],
        seeds: Iterable[int],
        mode: Direction = "max",
        fresh: Iterable[int] = (),
    ):
        self.configurations, self.seeds, self.mode = [*configurations], [*seeds], mode
        self.fresh = tuple(fresh)
        assert len({*self.configurations}) == len(self.configurations), "each configuration once"
        assert self.seeds and len({*self.seeds}) == len(self.seeds), "each seed once"
        self.rounds: list[Propose] = []
        """What proposes further configurations once all others are trained."""
        self.chosen = False
        """Whether the choice is made."""
        self.best: str | None = None
        """The chosen configuration; None before, and where all have failed."""
        self._values: dict[Trial, float] = {}
        self._failed: set[Trial] = set()

    @property
    def reference(self) -> str:
        """What the others are compared with."""
        return self.configurations[0]

    def work(self) -> list[Trial]:
        """Return what can be trained now, most urgent first: one seed of all configurations before
        the next, and what confirms the choice once it is made."""
        trials = self._requested()
        if self.chosen:
            trials = self.confirmation.trials if self.confirmation else []
        # Asks for one after the other: another thread writes the state of a sweep meanwhile.
        values, failed = self._values, self._failed
        return [trial for trial in trials if trial not in values and trial not in failed]

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        return self.chosen and not self.work()

    @property
    def confirmation(self) -> Confirmation | None:
        """What confirms the choice; None before it is made, and where there is nothing to."""
        if not self.fresh or self.best is None or self.best == self.reference:
            return None
        return Confirmation(self.reference, self.best, self.fresh)

    @property
    def leader(self) -> str | None:
        """What would be chosen now, besides the reference; None before anything is known."""
        return next((name for name in self.standings() if name != self.reference), None)

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; one that is not finite counts as a failure."""
        if not math.isfinite(value):
            self.fail(configuration, seed)
            return
        self._values.setdefault(Trial(configuration, seed), value)
        self._go_on()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial cannot be trained."""
        self._failed.add(Trial(configuration, seed))
        self._go_on()

    def choose(self) -> None:
        """Choose among what is known, as where a budget allows no further trials or rounds."""
        if not self.chosen:
            self.chosen, self.best = True, self._best(self.standings())

    def standings(self) -> dict[str, float]:
        """Return the mean of every configuration that did not fail, the best first."""
        means = {name: statistics.fmean(values) for name, values in self._scores().items()}
        best_first = sorted(means, key=means.__getitem__, reverse=self.mode == "max")
        return {name: means[name] for name in best_first}

    def _go_on(self) -> None:
        """Make all decisions that the known scores allow."""
        while not self.chosen and not self.work():
            if not self._request_more() and not self._begin_round():
                self.choose()

    def _begin_round(self) -> bool:
        """Add the configurations of the next round that has any; return whether there is one."""
        while self.rounds and (standings := self.standings()):
            proposed = self.rounds.pop(0)(standings)
            if added := [name for name in proposed if name not in self.configurations]:
                self.configurations += added
                return True
        return False

    def _requested(self) -> list[Trial]:
        """Return the trials that the next decision is based on, most urgent first."""
        # Seed by seed: a limit that ends the command leaves all configurations comparable.
        return [Trial(name, seed) for seed in self.seeds for name in self.configurations]

    def _request_more(self) -> bool:
        """Request further trials where they would improve the choice; return whether they do."""
        return False

    def _best(self, standings: Standings) -> str | None:
        return next(iter(standings), None)

    def _scores(self) -> dict[str, list[float]]:
        """Return the scores of the requested trials by configuration, without those of
        configurations of which one failed."""
        requested = self._requested()
        failed = {trial.configuration for trial in requested if trial in self._failed}
        scores: dict[str, list[float]] = {}
        for trial in requested:
            if trial in self._values and trial.configuration not in failed:
                scores.setdefault(trial.configuration, []).append(self._values[trial])
        return scores


class Race(Scheduler):
    """Trains every configuration with its first seed, then the reference and the `FINALISTS` best
    of the others with a second one, which shows the noise; further seeds go to those whose mean is
    within the noise of the best. Where seeds show that one was lucky, another takes its place.

    What rounds add, combinations of the best, is trained with every seed. As methods that help
    alone mostly help together, a combination is chosen if it is within the noise of the best.
    """

    def __init__(
        self,
        configurations: Iterable[str],
        seeds: Iterable[int],
        mode: Direction = "max",
        fresh: Iterable[int] = (),
    ):
        super().__init__(configurations, seeds, mode, fresh)
        self._counts = dict.fromkeys(self.configurations, 1)
        """How many of the seeds are requested, by configuration of the first round."""

    def _requested(self) -> list[Trial]:
        return [
            Trial(name, seed)
            for place, seed in enumerate(self.seeds)
            for name in self.configurations
            if place < self._counts.get(name, len(self.seeds))
        ]

    def _request_more(self) -> bool:
        standings = self.standings()
        others = [name for name in standings if name != self.reference][:FINALISTS]
        finalists = [name for name in standings if name in (self.reference, *others)]
        is_noise_known = any(count > 1 for count in self._counts.values())
        promising = [
            name
            for name in finalists
            if self._counts.get(name, len(self.seeds)) < len(self.seeds)
            and (not is_noise_known or self._is_close(name, finalists[0]))
        ]
        for name in promising:
            self._counts[name] += 1
        return bool(promising)

    def _best(self, standings: Standings) -> str | None:
        best = super()._best(standings)
        for name in standings:
            if best and name not in self._counts and self._is_close(name, best):
                return name
        return best

    def _is_close(self, name: str, best: str) -> bool:
        """Return whether a mean is within the noise of the best: one standard error of their
        difference."""
        scores = self._scores()
        deviation, _ = pooled_deviation(scores.values())
        noise = deviation * math.sqrt(1 / len(scores[name]) + 1 / len(scores[best]))
        return abs(statistics.fmean(scores[best]) - statistics.fmean(scores[name])) <= noise
