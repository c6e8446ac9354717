"""Successive halving over groups of seeds: which configuration trains with which seed, and how far.

A single seed's noise is as large as the effects under study, and the early part of a learning curve ranks
configurations only roughly. So a configuration is never stopped on its mean alone, as in successive halving (Jamieson
and Talwalkar, 2016), but where the interval of its mean lies below the cut; and further seeds are spent at the end of
training, where they measure what is asked for, on those that may still be the best, as in a race (Maron and Moore,
1994). `benchmarks/halving.py` measures it and its defaults against training everything with every seed.
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from scipy.special import stdtrit

FIRST, REDUCTION, CONFIDENCE = 0.5, 3, 0.95
PILOTS = 6
"""Configurations whose second seed tells how much seeds differ at a rung."""

Action = Literal["promoted", "stopped", "seed added", "chosen"]


class Work(NamedTuple):
    """A configuration to be trained with a seed up to a rung."""

    configuration: str
    seed: int
    rung: int
    """Counted from 0; the last rung is the end of training."""


class Verdict(NamedTuple):
    """A decision on a configuration at a rung."""

    configuration: str
    rung: int
    """Counted from 0."""
    action: Action
    seeds: int
    """That the decision rests on."""
    mean: float
    low: float
    high: float
    """Both are the mean as long as no configuration has two seeds at the rung."""
    cut: float
    """Midway between the last place and the first below it; with a place for all, the lowest mean."""


def rungs(validations: int, reduction: int = REDUCTION, first: float = FIRST) -> list[int | None]:
    """Return the validations after which a race decides, for a training that has `validations` of them.

    The first rung stands at the share `first` of the training, each further one `reduction` times as late, rounded up;
    the last one is None, the end of training. Configurations that learn slowly and end high are lost at early rungs,
    and augmentation and regularisation make such ones: hence the late default.
    """
    assert validations > 0 and reduction > 1 and 0 < first <= 1
    decisive, share = [], first
    while (validation := math.ceil(share * validations - 1e-9)) < validations:
        decisive.append(validation)
        share *= reduction
    return [*dict.fromkeys(decisive), None]


def pooled_deviation(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """Return the standard deviation within groups and its degrees of freedom; (0, 0) where no group has two values."""
    squares, freedom = 0.0, 0
    for group in groups:
        mean = statistics.fmean(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        freedom += len(group) - 1
    return (math.sqrt(squares / freedom), freedom) if freedom else (0.0, 0)


def half_widths(groups: Mapping[str, Sequence[float]], confidence: float) -> dict[str, float]:
    """Return half the interval of every group's mean; empty where no group has two values.

    Two or three seeds say next to nothing of their own variance. It is taken to be one for all the groups and pooled
    over them; Student's t has the pooled degrees of freedom. A run that goes astray widens every interval: the race
    gets dearer by it, not rasher.
    """
    deviation, freedom = pooled_deviation(groups.values())
    if not freedom:
        return {}
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * deviation
    return {name: reach / math.sqrt(len(group)) for name, group in groups.items()}


class _GroupScheduler(ABC):
    """Holds the values of groups of seeds, and decides what to train next."""

    def __init__(
        self,
        configurations: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        *,
        mode: Literal["max", "min"],
        confidence: float = CONFIDENCE,
    ):
        assert configurations and len(set(configurations)) == len(configurations), "each configuration once"
        assert seeds and len(set(seeds)) == len(seeds), "each seed once"
        assert rungs and 0 < confidence < 1
        self.configurations, self.seeds, self.last = tuple(configurations), tuple(seeds), len(rungs) - 1
        self.mode, self.confidence = mode, confidence
        self.decisions: list[Verdict] = []
        """It only grows, and its order does not depend on that of the values."""
        self.best: str | None = None
        """The configuration chosen in the end; None before, and where all have failed."""
        self.over = False
        self._sign = 1 if mode == "max" else -1
        self._values: dict[Work, float] = {}  # the larger, the better
        self._failed: set[tuple[str, int]] = set()

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Take the value of a configuration with a seed at a rung; a training that ended has its best for the rest.

        The first value of a rung counts. One that is not finite is a failure.
        """
        assert configuration in self.configurations and seed in self.seeds and 0 <= rung <= self.last
        if math.isfinite(value):
            self._values.setdefault(Work(configuration, seed, rung), self._sign * value)
        else:
            self._failed.add((configuration, seed))
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Take note that a configuration cannot be trained further with a seed; its earlier values count."""
        assert configuration in self.configurations and seed in self.seeds
        self._failed.add((configuration, seed))
        self._advance()

    @property
    @abstractmethod
    def out(self) -> frozenset[str]:
        """Return the configurations that have left before the end."""

    @abstractmethod
    def work(self) -> list[Work]:
        """Return what may be trained now, most urgent first, a configuration's earlier rungs before later ones."""

    @abstractmethod
    def _advance(self) -> None:
        """Decide what can be decided."""

    def _waits(self, work: Work) -> bool:
        return work not in self._values and work[:2] not in self._failed

    def _broken(self, configuration: str, seeds: Sequence[int], rung: int) -> bool:
        """Return whether one of the seeds failed before it reached the rung."""
        asked = [Work(configuration, seed, rung) for seed in seeds]
        return any(work[:2] in self._failed and work not in self._values for work in asked)

    def _groups(self, seeds: Mapping[str, Sequence[int]], rung: int) -> dict[str, list[float]]:
        """Return the values that there are at a rung, by configuration, best mean first."""
        groups = {
            name: [self._values[work] for seed in seeds[name] if (work := Work(name, seed, rung)) in self._values]
            for name in self.configurations
            if name in seeds
        }
        known = [name for name, group in groups.items() if group]
        return {name: groups[name] for name in sorted(known, key=lambda name: -statistics.fmean(groups[name]))}

    def _decide(
        self, action: Action, configuration: str, rung: int, group: Sequence[float], half: float, cut: float
    ) -> None:
        mean = self._sign * statistics.fmean(group)
        self.decisions.append(
            Verdict(configuration, rung, action, len(group), mean, mean - half, mean + half, self._sign * cut)
        )


class Race(_GroupScheduler):
    """Successive halving over groups of seeds.

    A rung that n configurations reach has n / `reduction` places, rounded up; the last rung has one. The cut lies
    midway between the mean of the last place and the next one.

    - Every configuration comes with its first seed. Then the best `PILOTS`, who are the likeliest to need it later, get
      their second. It tells how much seeds differ, so that every mean has its interval (`half_widths`).
    - A configuration is stopped where its interval lies below the cut. Else it goes on: at a noisy rung more than there
      are places, rather than with more seeds, which would say more exactly what says little of the end.
    - At the last rung those not stopped get further seeds, one at a time, until one is left; once all seeds are used,
      the best mean wins.

    With one seed there is no interval, and it is plain successive halving: the places go to the best.

    A configuration of which a seed failed before a rung where it was asked for leaves there, without a decision. It
    still counts among the n of that rung.

    What is decided depends on the values, not on when and in which order they come: a rung waits for the values that it
    asked for, and looks at no others. A race that was interrupted, or is to have more configurations or seeds, is
    continued by giving a new one all that is known.
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
    ):
        assert reduction > 1
        super().__init__(configurations, seeds, rungs, mode=mode, confidence=confidence)
        self.reduction = reduction
        self._out: set[str] = set()
        self._enter(0, self.configurations)

    @property
    def out(self) -> frozenset[str]:
        """Return the configurations that were stopped or have failed."""
        return frozenset(self._out)

    def work(self) -> list[Work]:
        """Return what may be trained now, most urgent first, a configuration's earlier rungs before later ones.

        With one seed, those whose place is certain go on before the rung has all its values.
        """
        if self.over:
            return []
        wanted = [work for work in self._requested() if self._waits(work)]
        if len(self.seeds) == 1 and self._rung < self.last:
            certain = list(self._groups(self._used, self._rung))[: max(0, self._places - len(wanted))]
            wanted += [Work(name, self.seeds[0], self._rung + 1) for name in certain]
        return [
            step for work in wanted for rung in range(work.rung + 1) if self._waits(step := work._replace(rung=rung))
        ]

    def _enter(self, rung: int, configurations: Sequence[str]) -> None:
        self._rung, self._racing = rung, list(configurations)
        self._places = 1 if rung == self.last else math.ceil(len(configurations) / self.reduction)
        self._used: dict[str, Sequence[int]] = {name: self.seeds[:1] for name in configurations}
        """The seeds that this rung has asked for, also of the configurations that have left at it."""

    def _requested(self) -> list[Work]:
        return [Work(name, seed, self._rung) for name in self._racing for seed in self._used[name]]

    def _advance(self) -> None:
        while not self.over:
            self._remove_failed()
            if any(self._waits(work) for work in self._requested()):
                return
            if self._racing:
                self._round()
            else:
                self.over = True

    def _remove_failed(self) -> None:
        for name in list(self._racing):
            if self._broken(name, self._used[name], self._rung):
                self._racing.remove(name)
                self._out.add(name)

    def _round(self) -> None:
        """Decide on the values that were asked for, all of which have come."""
        groups = self._groups(self._used, self._rung)
        means = {name: statistics.fmean(group) for name, group in groups.items() if name in self._racing}
        ranked = list(means)
        cut = statistics.fmean([means[name] for name in ranked[self._places - 1 : self._places + 1] or ranked[-1:]])
        half = half_widths(groups, self.confidence)
        stay, more = self._judge(ranked, {name: means[name] + half[name] for name in ranked if half}, cut)

        def decide(action: Action, names: Sequence[str]) -> None:
            for name in names:
                self._decide(action, name, self._rung, groups[name], half.get(name, 0.0), cut)

        stopped = [name for name in ranked if name not in stay]
        self._out |= set(stopped)
        decide("stopped", stopped)
        if more:
            decide("seed added", more)
            self._racing = list(stay)
            self._used |= {name: self.seeds[: len(self._used[name]) + 1] for name in more}
        elif self._rung < self.last:
            decide("promoted", stay)
            self._enter(self._rung + 1, stay)
        else:
            decide("chosen", stay)
            self.best, self.over = stay[0], True

    def _judge(
        self, ranked: Sequence[str], reach: Mapping[str, float], cut: float
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return who stays, best first, and who of them gets a seed more before the rung is decided.

        `reach` is the upper end of their intervals; empty where none is known yet.
        """
        if len(self.seeds) == 1 or len(ranked) <= self._places:
            return ranked[: self._places], []
        if not reach:
            return ranked, ranked[:PILOTS]
        stay = [name for name in ranked if reach[name] >= cut]
        if self._rung < self.last:
            return stay, []
        growing = [name for name in stay if len(self._used[name]) < len(self.seeds)]
        return (stay, growing) if len(stay) > 1 and growing else (stay[:1], [])


class Exhaustive(_GroupScheduler):
    """Every configuration with every seed to the end of training, and the best mean wins.

    A configuration of which a seed failed is not chosen.
    """

    @property
    def out(self) -> frozenset[str]:
        """Return an empty set: nothing is stopped."""
        return frozenset()

    def work(self) -> list[Work]:
        """Return what may be trained now: one seed of every configuration, then the next."""
        return [
            work
            for seed in self.seeds
            for name in self.configurations
            if self._waits(work := Work(name, seed, self.last))
        ]

    def _advance(self) -> None:
        if self.over or self.work():
            return
        self.over = True
        whole = {name: self.seeds for name in self.configurations if not self._broken(name, self.seeds, self.last)}
        groups = self._groups(whole, self.last)
        if groups:
            self.best = next(iter(groups))
            cut = statistics.fmean([statistics.fmean(group) for group in list(groups.values())[:2]])
            half = half_widths(groups, self.confidence).get(self.best, 0.0)
            self._decide("chosen", self.best, self.last, groups[self.best], half, cut)
