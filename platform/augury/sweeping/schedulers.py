"""Which configuration to train next with which seed: schedulers, pure functions of scores.

A trial is one configuration with one seed, and trains to its end. A scheduler names the trials that
can be trained now (`work`), is told their scores in validation (`tell`), and chooses. Test scores
are never told. Decisions depend on the scores only, not on when and in which order they arrive:
to continue a sweep, or to add configurations or seeds, tell a new scheduler all that is known.

    Listed      every configuration with every seed
    Race        every configuration once, then seeds where they improve the choice (`race`)
    Confirmed   either, then the reference and the winner with seeds that chose nothing

Both can have further `rounds`, which begin when the choice is made: they add what the scores so far
suggest.

Scores are told less the price of a configuration, in points of the metric: `worth` for each
doubling of the training time. Times are estimates, known before the first trial, so that the same
scores lead to the same decisions.
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from augury.sweeping.knowledge_gradient import pooled_deviation

CONFIDENCE = 0.95
AT_ONCE = 4
"""How many configurations get another seed before the next decision, at most: trials run side by
side, and a decision does not depend on how many."""

FRESH = 3
"""Seeds that confirm a choice."""

Mode = Literal["max", "min"]
Action = Literal["seed added", "chosen", "confirmed"]
Standings = Mapping[str, float]
"""Configuration -> its expected mean over seeds, best first; of a race without the reference."""
Propose = Callable[[Standings], Mapping[str, Collection[str]]]
"""Plans the configurations of the next round: each with those that it is made of."""


class Trial(NamedTuple):
    """A configuration, by its address, with one seed."""

    configuration: str
    seed: int


class Decision(NamedTuple):
    """A decision on a configuration."""

    configuration: str
    action: Action
    seeds: int
    """Number of seeds it is based on."""
    mean: float
    low: float
    high: float
    """`low` and `high` equal the mean where no configuration has two seeds."""
    cut: float
    """What the mean is held against: the best, the next best, or the reference."""


def price(factor: float, worth: float) -> float:
    """Return the points that a training of `factor` times the reference's time has to bring; below
    0 where it is shorter."""
    return worth * math.log2(factor)


def net(value: float, price: float, mode: Mode) -> float:
    """Return a value of the metric less the price of its configuration."""
    return value - price if mode == "max" else value + price


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


class Scored(ABC):
    """Base class of schedulers over configurations and seeds; larger is better inside it."""

    def __init__(self, configurations: Iterable[str], seeds: Iterable[int], mode: Mode = "max"):
        self.configurations, self.seeds, self.mode = [*configurations], [*seeds], mode
        assert len({*self.configurations}) == len(self.configurations), "each configuration once"
        assert self.seeds and len({*self.seeds}) == len(self.seeds), "each seed once"
        self.rounds: list[Propose] = []
        """What proposes configurations once the choice is made, which is then made anew."""
        self.decisions: list[Decision] = []
        self.best: str | None = None
        """The chosen configuration, of the last round that has ended; None before the first, and
        where all have failed."""
        self.finished = False
        """Whether nothing is left to train."""
        self._sign = 1 if mode == "max" else -1
        self._values: dict[Trial, float] = {}
        self._failed: set[Trial] = set()

    def work(self) -> list[Trial]:
        """Return what can be trained now, one seed of all configurations before the next."""
        return [] if self.finished else list(filter(self._pending, self._requested()))

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; one that is not finite counts as a failure."""
        if math.isfinite(value):
            self._values.setdefault(Trial(configuration, seed), self._sign * value)
        else:
            self._failed.add(Trial(configuration, seed))
        self._go_on()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial cannot be trained."""
        self._failed.add(Trial(configuration, seed))
        self._go_on()

    def choose(self) -> None:
        """Choose among what is known, as where a budget allows no further trials or rounds."""
        self.rounds.clear()
        self._choose()

    def _go_on(self) -> None:
        self._advance()
        while self.rounds and self.finished and self.best:
            if proposed := self.rounds.pop(0)(self.standings()):
                self.add(proposed)

    @abstractmethod
    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of."""

    @abstractmethod
    def standings(self) -> dict[str, float]:
        """Return the expected means of configurations, the best first."""

    @abstractmethod
    def _requested(self) -> list[Trial]:
        """Return the trials that the next decision is based on, most urgent first."""

    @abstractmethod
    def _advance(self) -> None:
        """Make all decisions that the known scores allow."""

    @abstractmethod
    def _choose(self) -> None:
        """Choose among what is known, unless that is done."""

    def _pending(self, trial: Trial) -> bool:
        return trial not in self._values and trial not in self._failed

    def _has_failed(self, name: str) -> bool:
        """Return whether a seed of a configuration failed that a decision is based on."""
        of_name = [trial for trial in self._requested() if trial.configuration == name]
        return any(trial in self._failed and trial not in self._values for trial in of_name)

    def _scores(self) -> dict[str, dict[int, float]]:
        """Return the requested scores by configuration and seed, the best mean first."""
        scores: dict[str, dict[int, float]] = {}
        for trial in self._requested():
            if trial in self._values:
                scores.setdefault(trial.configuration, {})[trial.seed] = self._values[trial]
        known = [name for name in self.configurations if name in scores]
        known.sort(key=lambda name: -statistics.fmean(scores[name].values()))
        return {name: scores[name] for name in known}

    def _decide(
        self, action: Action, name: str, seeds: int, mean: float, half: float, cut: float
    ) -> None:
        mean = self._sign * mean
        self.decisions.append(
            Decision(name, action, seeds, mean, mean - half, mean + half, self._sign * cut)
        )


class Listed(Scored):
    """Trains every configuration with every seed; the best mean wins.

    Configurations can be added once the choice is made, which is then made anew among all. One with
    a failed seed is never chosen.
    """

    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of."""
        self.configurations += [name for name in parents if name not in self.configurations]
        self.finished = False
        self._advance()

    def standings(self) -> dict[str, float]:
        """Return the mean of every configuration that did not fail, the best first."""
        return {
            name: self._sign * statistics.fmean(of.values())
            for name, of in self._scores().items()
            if not self._has_failed(name)
        }

    def _choose(self) -> None:
        if self.finished:
            return
        self.finished = True
        scores = {
            name: list(of.values())
            for name, of in self._scores().items()
            if not self._has_failed(name)
        }
        if scores:
            self.best, *others = scores
            means = {name: statistics.fmean(of) for name, of in scores.items()}
            half = half_widths(scores).get(self.best, 0.0)
            cut = means[others[0]] if others else means[self.best]
            seeds, mean = len(scores[self.best]), means[self.best]
            self._decide("chosen", self.best, seeds, mean, half, cut)

    def _requested(self) -> list[Trial]:
        # Seed by seed: a limit that ends the command leaves all configurations comparable.
        return [Trial(name, seed) for seed in self.seeds for name in self.configurations]

    def _advance(self) -> None:
        if not self.work():
            self._choose()


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


class Confirmed:
    """Lets another scheduler choose, then trains the reference and the winner with fresh seeds: the
    best score of many is mostly one that was lucky.

    Their scores choose nothing, and are what the winner is tested by. Where the reference wins,
    there is nothing to confirm. To estimate what a confirmation will cost before there is a winner:
    `Confirmation(reference, candidate, fresh).trials`.
    """

    def __init__(self, choosing: Scored, reference: str, fresh: Iterable[int]):
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


Scheduler: TypeAlias = Scored | Confirmed
"""What says which trial comes next."""
