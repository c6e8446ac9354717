"""Which configuration to train next with which seed: schedulers, pure functions of scores.

A trial is one configuration with one seed, and trains to its end. A scheduler names the trials that
can be trained now (`work`), is told their scores in validation (`tell`), and chooses. Test scores
are never told. Decisions depend on the scores only, not on when and in which order they arrive:
to continue a sweep, or to add configurations or seeds, tell a new scheduler all that is known.

    Listed      every configuration with every seed
    Race        every configuration once, then seeds where they improve the choice (`race`)

Both can have further `rounds`, which begin when the choice is made: they add what the scores so far
suggest. At the end the reference and the winner are trained with seeds that chose nothing.

Scores are told less the price of a configuration, in points of the metric: `worth` for each
doubling of the training time. Times are estimates, known before the first trial, so that the same
scores lead to the same decisions.
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

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
    time: float = 0.0
    """When it was stored, in Unix time; 0: not yet."""


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


class Scheduler(ABC):
    """Base class of schedulers over configurations, the reference first, and seeds.

    With `fresh` seeds, the reference and the chosen configuration are trained once more: the best
    score of many is mostly one that was lucky. These scores choose nothing, and are what the winner
    is tested by. Where the reference wins, there is nothing to confirm.
    """

    def __init__(
        self,
        configurations: Iterable[str],
        seeds: Iterable[int],
        mode: Mode = "max",
        fresh: Iterable[int] = (),
    ):
        self.configurations, self.seeds, self.mode = [*configurations], [*seeds], mode
        self.fresh = tuple(fresh)
        assert len({*self.configurations}) == len(self.configurations), "each configuration once"
        assert self.seeds and len({*self.seeds}) == len(self.seeds), "each seed once"
        self.rounds: list[Propose] = []
        """What proposes configurations once the choice is made, which is then made anew."""
        self.best: str | None = None
        """The chosen configuration, of the last round that has ended; None before the first, and
        where all have failed."""
        self.chosen = False
        """Whether the choice is made."""
        self._sign = 1 if mode == "max" else -1  # larger is better in here
        self._values: dict[Trial, float] = {}
        self._failed: set[Trial] = set()
        self._decisions: list[Decision] = []

    @property
    def reference(self) -> str:
        """What the others are compared with."""
        return self.configurations[0]

    def work(self) -> list[Trial]:
        """Return what can be trained now, most urgent first: one seed of all configurations before
        the next, and what confirms the choice once it is made."""
        if not self.chosen:
            return self._pending(self._requested())
        return self._pending(self.confirmation.trials) if self.confirmation else []

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        return self.chosen and not self.work()

    @property
    def confirmation(self) -> Confirmation | None:
        """What confirms the choice; None before it is made, and where there is nothing to."""
        if not (self.chosen and self.fresh) or self.best in (None, self.reference):
            return None
        assert self.best is not None
        return Confirmation(self.reference, self.best, self.fresh)

    @property
    def decisions(self) -> list[Decision]:
        """The decisions so far: those of the choice and, at the end, that it is confirmed."""
        confirmed = self._confirmed() if self.finished else None
        return [*self._decisions, *([confirmed] if confirmed else [])]

    @property
    def leader(self) -> str | None:
        """What would be chosen now, besides the reference; None before anything is known."""
        return next((name for name in self.standings() if name != self.reference), None)

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; one that is not finite counts as a failure."""
        if math.isfinite(value):
            self._values.setdefault(Trial(configuration, seed), self._sign * value)
            self._go_on()
        else:
            self.fail(configuration, seed)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial cannot be trained."""
        self._failed.add(Trial(configuration, seed))
        self._go_on()

    def choose(self) -> None:
        """Choose among what is known, as where a budget allows no further trials or rounds."""
        self.rounds.clear()
        if not self.chosen:
            self.chosen = True
            self._choose()

    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of; the choice is made anew."""
        self.configurations += [name for name in parents if name not in self.configurations]
        self.chosen = False
        self._advance()

    def _go_on(self) -> None:
        if not self.chosen:
            self._advance()
        while self.rounds and self.chosen and self.best:
            if proposed := self.rounds.pop(0)(self.standings()):
                self.add(proposed)

    def _advance(self) -> None:
        """Make all decisions that the known scores allow."""
        while not self.work():
            if not self._request_more():
                self.chosen = True
                self._choose()
                return

    @abstractmethod
    def standings(self) -> dict[str, float]:
        """Return the expected means of configurations, the best first."""

    @abstractmethod
    def _requested(self) -> list[Trial]:
        """Return the trials that the next decision is based on, most urgent first."""

    def _request_more(self) -> bool:
        """Request further trials where they would improve the choice; return whether they do."""
        return False

    @abstractmethod
    def _choose(self) -> None:
        """Choose among what is known."""

    def _pending(self, trials: Iterable[Trial]) -> list[Trial]:
        # Asks for one after the other: another thread writes the state of a sweep meanwhile.
        values, failed = self._values, self._failed
        return [trial for trial in trials if trial not in values and trial not in failed]

    def _has_failed(self, name: str) -> bool:
        """Return whether a seed of a configuration failed that a decision is based on."""
        of_name = [trial for trial in self._requested() if trial.configuration == name]
        return any(trial in self._failed and trial not in self._values for trial in of_name)

    def _scores(self, trials: Iterable[Trial] | None = None) -> dict[str, dict[int, float]]:
        """Return the scores of trials, by default of the requested ones, by configuration and seed,
        the best mean first."""
        scores: dict[str, dict[int, float]] = {}
        for trial in self._requested() if trials is None else trials:
            if trial in self._values:
                scores.setdefault(trial.configuration, {})[trial.seed] = self._values[trial]
        known = [name for name in self.configurations if name in scores]
        known.sort(key=lambda name: -statistics.fmean(scores[name].values()))
        return {name: scores[name] for name in known}

    def _decision(
        self, action: Action, name: str, seeds: int, mean: float, half: float, cut: float
    ) -> Decision:
        mean = self._sign * mean
        return Decision(name, action, seeds, mean, mean - half, mean + half, self._sign * cut)

    def _confirmed(self) -> Decision | None:
        """Return the scores of the winner on fresh seeds beside the reference's; None where either
        has none."""
        scores = self._scores(self.confirmation.trials) if self.confirmation else {}
        if len(scores) < 2 or self.best is None:
            return None
        groups = {name: list(of.values()) for name, of in scores.items()}
        half = half_widths(groups).get(self.best, 0.0)
        means = {name: statistics.fmean(of) for name, of in groups.items()}
        seeds, cut = len(groups[self.best]), means[self.reference]
        return self._decision("confirmed", self.best, seeds, means[self.best], half, cut)


class Listed(Scheduler):
    """Trains every configuration with every seed; the best mean wins.

    One with a failed seed is never chosen.
    """

    def standings(self) -> dict[str, float]:
        """Return the mean of every configuration that did not fail, the best first."""
        return {name: self._sign * statistics.fmean(of) for name, of in self._complete().items()}

    def _complete(self) -> dict[str, list[float]]:
        scores = self._scores().items()
        return {name: list(of.values()) for name, of in scores if not self._has_failed(name)}

    def _choose(self) -> None:
        if scores := self._complete():
            self.best, *others = scores
            means = {name: statistics.fmean(of) for name, of in scores.items()}
            half = half_widths(scores).get(self.best, 0.0)
            seeds, cut = len(scores[self.best]), means[others[0] if others else self.best]
            decision = self._decision("chosen", self.best, seeds, means[self.best], half, cut)
            self._decisions.append(decision)

    def _requested(self) -> list[Trial]:
        # Seed by seed: a limit that ends the command leaves all configurations comparable.
        return [Trial(name, seed) for seed in self.seeds for name in self.configurations]
