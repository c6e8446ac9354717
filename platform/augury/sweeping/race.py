"""Successive halving over groups of seeds: which configuration to train with which seed, and how
far.

The noise between seeds is as large as the effects under study, and early validations rank
configurations only roughly. A configuration is therefore not stopped on its mean, as in successive
halving (Jamieson and Talwalkar, 2016), but only if the confidence interval of its mean lies below
the cut. Additional seeds are spent at the end of training, on the configurations that may still be
the best, as in racing (Maron and Moore, 1994). `benchmarks/halving.py` compares this and its
defaults with training every configuration with every seed.
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

FIRST, REDUCTION, CONFIDENCE = 0.5, 3, 0.95
PILOTS = 6
"""Number of configurations that get a second seed to estimate the variance between seeds at a
rung."""

Action = Literal["promoted", "stopped", "seed added", "chosen"]


class Work(NamedTuple):
    """A configuration to train with a seed up to a rung."""

    configuration: str
    seed: int
    rung: int
    """Counted from 0; the last rung is the end of training."""


class RungDecision(NamedTuple):
    """A decision on a configuration at a rung."""

    configuration: str
    rung: int
    """Counted from 0."""
    action: Action
    seeds: int
    """Number of seeds the decision is based on."""
    mean: float
    low: float
    high: float
    """`low` and `high` equal the mean until some configuration has two seeds at the rung."""
    cut: float
    """The midpoint between the last promotion slot and the next mean.

    The lowest mean if there are slots for all.
    """


def rungs(validations: int, reduction: int = REDUCTION, first: float = FIRST) -> list[int | None]:
    """Return the rungs, as numbers of validations, for a training that has `validations` in total.

    The first rung is at the fraction `first` of training, each further one `reduction` times later,
    rounded up; the last is None, the end of training. The first rung is late by default because
    augmentation and regularisation slow learning down: early rungs would stop configurations that
    start slowly and end best.
    """
    assert validations > 0 and reduction > 1 and 0 < first <= 1
    validations_at, fraction = [], first
    while (validation := math.ceil(fraction * validations - 1e-9)) < validations:
        validations_at.append(validation)
        fraction *= reduction
    return [*dict.fromkeys(validations_at), None]


def pooled_deviation(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """Return the standard deviation pooled over groups and its degrees of freedom; (0, 0) if it
    cannot be estimated."""
    squares, degrees = 0.0, 0
    for group in groups:
        mean = statistics.fmean(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        degrees += len(group) - 1
    return (math.sqrt(squares / degrees), degrees) if degrees else (0.0, 0)


def half_widths(groups: Mapping[str, Sequence[float]], confidence: float) -> dict[str, float]:
    """Return half the width of the confidence interval of every group's mean.

    Empty if no group has two values.

    Two or three seeds are too few to estimate a variance, so it is assumed equal for all groups and
    pooled; Student's t uses the pooled degrees of freedom. An outlier run widens all intervals,
    which makes the race more expensive but not less reliable.
    """
    from scipy.special import stdtrit  # plans need none, and it takes a moment

    deviation, degrees = pooled_deviation(groups.values())
    if not degrees:
        return {}
    scale = float(stdtrit(degrees, (1 + confidence) / 2)) * deviation
    return {name: scale / math.sqrt(len(group)) for name, group in groups.items()}


class GroupScheduler(ABC):
    """Base class of schedulers that decide on configurations by the values of their seeds."""

    def __init__(
        self,
        configurations: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        *,
        mode: Literal["max", "min"],
        confidence: float = CONFIDENCE,
    ):
        assert configurations and len(set(configurations)) == len(configurations), (
            "each configuration once"
        )
        assert seeds and len(set(seeds)) == len(seeds), "each seed once"
        assert rungs and 0 < confidence < 1
        self.configurations = tuple(configurations)
        self.seeds = tuple(seeds)
        self.last = len(rungs) - 1
        self.mode, self.confidence = mode, confidence
        self.decisions: list[RungDecision] = []
        """Append-only; the order does not depend on the order in which values arrive."""
        self.best: str | None = None
        """The chosen configuration; None before the end and if all have failed."""
        self.finished = False
        self._sign = 1 if mode == "max" else -1
        self._values: dict[Work, float] = {}  # larger is better
        self._failed: set[tuple[str, int]] = set()

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung.

        A training that ended early reports its best value for all remaining rungs. Only the first
        value at a rung counts; a value that is not finite counts as a failure.
        """
        assert (
            configuration in self.configurations and seed in self.seeds and 0 <= rung <= self.last
        )
        if math.isfinite(value):
            self._values.setdefault(Work(configuration, seed, rung), self._sign * value)
        else:
            self._failed.add((configuration, seed))
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed.

        Its earlier values still count.
        """
        assert configuration in self.configurations and seed in self.seeds
        self._failed.add((configuration, seed))
        self._advance()

    @property
    @abstractmethod
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that were stopped or have failed."""

    @abstractmethod
    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first, a configuration's earlier rungs
        before later ones."""

    @abstractmethod
    def _advance(self) -> None:
        """Make all decisions that the recorded values allow."""

    def missing(self, configuration: str) -> list[Work]:
        """Return the seeds of a configuration that are not trained to the end."""
        works = [Work(configuration, seed, self.last) for seed in self.seeds]
        return list(filter(self._pending, works))

    def _pending(self, work: Work) -> bool:
        return work not in self._values and work[:2] not in self._failed

    def _has_failure(self, configuration: str, seeds: Sequence[int], rung: int) -> bool:
        """Return whether any of the seeds failed before it reached the rung."""
        requested = [Work(configuration, seed, rung) for seed in seeds]
        return any(work[:2] in self._failed and work not in self._values for work in requested)

    def _groups(self, seeds: Mapping[str, Sequence[int]], rung: int) -> dict[str, list[float]]:
        """Return the values recorded at a rung by configuration, best mean first."""
        groups: dict[str, list[float]] = {}
        for name in self.configurations:
            if name in seeds:
                works = [Work(name, seed, rung) for seed in seeds[name]]
                groups[name] = [self._values[work] for work in works if work in self._values]
        filled = [name for name, group in groups.items() if group]
        return {
            name: groups[name]
            for name in sorted(filled, key=lambda name: -statistics.fmean(groups[name]))
        }

    def _decide(
        self,
        action: Action,
        configuration: str,
        rung: int,
        seeds: int,
        mean: float,
        half: float,
        cut: float,
    ) -> None:
        mean = self._sign * mean
        self.decisions.append(
            RungDecision(
                configuration,
                rung,
                action,
                seeds,
                mean,
                mean - half,
                mean + half,
                self._sign * cut,
            )
        )


class Race(GroupScheduler):
    """Successive halving over groups of seeds.

    A rung reached by n configurations has n / `reduction` promotion slots, rounded up; the last
    rung has one. The cut is the midpoint between the mean of the last slot and the next mean.

    - Every configuration starts with its first seed. Then the best `pilots`, which are most likely
      to need more seeds
      later, get their second. The variance between their seeds gives every mean its interval
      (`half_widths`).
    - A configuration is stopped if its interval lies below the cut, and promoted otherwise. At a
      noisy rung this
      promotes more configurations than there are slots; more seeds would measure precisely a value
      that predicts the final one poorly.
    - At the last rung the remaining configurations get further seeds, one at a time, until one is
      left; once all seeds
      are used, the best mean wins.

    With one seed there are no intervals, and this is plain successive halving.

    A configuration with a seed that failed before a rung for which it was requested is eliminated
    there, without a decision. It still counts towards the n of that rung.

    Decisions depend on the values only, not on when and in which order they arrive: a rung waits
    for the values it requested and ignores all others. To continue an interrupted race, or to add
    configurations or seeds, tell a new race all known values.
    """

    def __init__(
        self,
        configurations: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        *,
        mode: Literal["max", "min"],
        reduction: int = REDUCTION,
        confidence: float = CONFIDENCE,
        pilots: int = PILOTS,
    ):
        assert reduction > 1 and pilots > 0
        super().__init__(configurations, seeds, rungs, mode=mode, confidence=confidence)
        self.reduction, self.pilots = reduction, pilots
        self._eliminated: set[str] = set()
        self._enter(0, self.configurations)

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that were stopped or have failed."""
        return frozenset(self._eliminated)

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first, a configuration's earlier rungs before
        later ones.

        With one seed, configurations that are certain of a slot continue before the rung has all
        its values.
        """
        if self.finished:
            return []
        targets = [work for work in self._requested() if self._pending(work)]
        if len(self.seeds) == 1 and self._rung < self.last:
            certain = list(self._groups(self._used, self._rung))[
                : max(0, self._slots - len(targets))
            ]
            targets += [Work(name, self.seeds[0], self._rung + 1) for name in certain]
        # A seed that joins the race at a late rung still has to pass the earlier ones.
        pending: list[Work] = []
        for target in targets:
            up_to = [target._replace(rung=rung) for rung in range(target.rung + 1)]
            pending += filter(self._pending, up_to)
        return pending

    def _enter(self, rung: int, configurations: Sequence[str]) -> None:
        self._rung, self._racing = rung, list(configurations)
        # Rounded up, so that at least one configuration goes on.
        self._slots = 1 if rung == self.last else math.ceil(len(configurations) / self.reduction)
        self._used: dict[str, Sequence[int]] = {name: self.seeds[:1] for name in configurations}
        """The seeds requested at this rung, including those of configurations eliminated at it."""

    def _requested(self) -> list[Work]:
        return [Work(name, seed, self._rung) for name in self._racing for seed in self._used[name]]

    def _advance(self) -> None:
        # A value may decide several rungs: after a restart, or with a seed that was ahead of the
        # others, the values of later ones are there already.
        while not self.finished:
            self._remove_failed()
            if any(self._pending(work) for work in self._requested()):
                return
            if self._racing:
                self._decide_rung()
            else:
                self.finished = True

    def _remove_failed(self) -> None:
        for name in list(self._racing):
            if self._has_failure(name, self._used[name], self._rung):
                self._racing.remove(name)
                self._eliminated.add(name)

    def _decide_rung(self) -> None:
        """Decide on the configurations at the current rung once all requested values are known."""
        # Configurations stopped at this rung are out of the ranking, but the spread of their seeds
        # still says how noisy the rung is.
        groups = self._groups(self._used, self._rung)
        means = {
            name: statistics.fmean(group) for name, group in groups.items() if name in self._racing
        }
        ranked = list(means)
        cut = statistics.fmean(
            [means[name] for name in ranked[self._slots - 1 : self._slots + 1] or ranked[-1:]]
        )
        half = half_widths(groups, self.confidence)
        kept, more = self._select(
            ranked, {name: means[name] + half[name] for name in ranked if half}, cut
        )

        def decide(action: Action, names: Sequence[str]) -> None:
            for name in names:
                seeds, mean = len(groups[name]), statistics.fmean(groups[name])
                self._decide(action, name, self._rung, seeds, mean, half.get(name, 0.0), cut)

        stopped = [name for name in ranked if name not in kept]
        self._eliminated |= set(stopped)
        decide("stopped", stopped)
        if more:
            decide("seed added", more)
            self._racing = list(kept)
            self._used |= {name: self.seeds[: len(self._used[name]) + 1] for name in more}
        elif self._rung < self.last:
            decide("promoted", kept)
            self._enter(self._rung + 1, kept)
        else:
            decide("chosen", kept)
            self.best, self.finished = kept[0], True

    def _select(
        self, ranked: Sequence[str], upper: Mapping[str, float], cut: float
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return the configurations to keep, best first, and those that get another seed before the
        rung is decided.

        `upper` has the upper ends of the intervals; it is empty while there are no intervals.
        """
        if len(self.seeds) == 1 or len(ranked) <= self._slots:
            return ranked[: self._slots], []
        # Without a variance nothing can be told apart: the best get a second seed to estimate it,
        # as they are the likeliest to need more seeds later.
        if not upper:
            return ranked, ranked[: self.pilots]
        kept = [name for name in ranked if upper[name] >= cut]
        # More seeds at an early rung would measure better what predicts the end poorly.
        if self._rung < self.last:
            return kept, []
        extensible = [name for name in kept if len(self._used[name]) < len(self.seeds)]
        return (kept, extensible) if len(kept) > 1 and extensible else (kept[:1], [])


class Exhaustive(GroupScheduler):
    """Trains every configuration with every seed to the end; the best mean wins.

    A configuration with a failed seed is never chosen.
    """

    @property
    def eliminated(self) -> frozenset[str]:
        """Return an empty set: nothing is stopped."""
        return frozenset()

    def work(self) -> list[Work]:
        """Return what can be trained now: one seed of every configuration, then the next."""
        # Seed by seed: a limit that ends the command leaves all configurations comparable.
        trainings: list[Work] = []
        for seed in self.seeds:
            trainings += [Work(name, seed, self.last) for name in self.configurations]
        return list(filter(self._pending, trainings))

    def _advance(self) -> None:
        if self.finished or self.work():
            return
        self.finished = True
        complete = {
            name: self.seeds
            for name in self.configurations
            if not self._has_failure(name, self.seeds, self.last)
        }
        groups = self._groups(complete, self.last)
        if groups:
            self.best = next(iter(groups))
            means = [statistics.fmean(group) for group in groups.values()]
            half = half_widths(groups, self.confidence).get(self.best, 0.0)
            cut, seeds = statistics.fmean(means[:2]), len(groups[self.best])
            self._decide("chosen", self.best, self.last, seeds, means[0], half, cut)
