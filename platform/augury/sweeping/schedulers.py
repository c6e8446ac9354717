"""Schedulers: which trial comes next, as a function of scores alone.

A trial is one configuration trained with one seed to its end: half a training says little, as
augmentation and regularisation learn slowly. What a scheduler decides does not depend on when and
in which order scores arrive, so that a sweep continues by being told what is known.
`benchmarks/race.py` measures how often the choice is right, and what it costs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from augury.sweeping.belief import Belief, belief, pooled_deviation

Mode = Literal["max", "min"]
Action = Literal["seed added", "chosen", "confirmed"]

PILOTS = 4
"""How many get a second seed first, the reference and the best: they show the variance between
seeds."""
AT_ONCE = 4
"""How many configurations get another seed before the next decision, at most: trials run side by
side, and a decision does not depend on how many."""
GAIN = 0.01
"""The least expected improvement of the choice that another seed is trained for, in points of the
metric: noisy seeds buy further ones."""
TINY = 1e-12
"""No gain is expected of scores that are all equal."""
COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""
TUNING_ROUNDS = 2
"""How many rounds try other values of the main settings of what leads."""
SUGGESTED = 3
"""Configurations of such a round; the next one learns from them."""

Standings = Mapping[str, float]
"""Configuration -> its expected mean over seeds, best first; without the reference."""
Propose = Callable[[Standings], Mapping[str, Collection[str]]]
"""Plans the configurations of the next round: each with those that it is made of."""


class Trial(NamedTuple):
    """One configuration, by the address of its runs, with one seed."""

    configuration: str
    seed: int


class Decision(NamedTuple):
    """A decision on a configuration, with its interval and what that was compared with."""

    configuration: str
    action: Action
    seeds: int
    """Number of seeds that it is based on."""
    mean: float
    low: float
    high: float
    cut: float
    """The mean of the best configuration."""


class Confirmation(NamedTuple):
    """The trainings with fresh seeds on which alone the winner is tested."""

    reference: str
    winner: str
    seeds: tuple[int, ...]


class Scheduler(Protocol):
    """Says which trials are wanted, given the scores of those that have ended."""

    mode: Mode

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions so far."""

    @property
    def best(self) -> str | None:
        """The configuration that is chosen; None before, and where all have failed."""

    @property
    def finished(self) -> bool:
        """Whether no trial is wanted any more."""

    def work(self) -> list[Trial]:
        """Return what can be trained now, most urgent first: neither told nor failed."""

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; one that is not finite is a failure."""

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial has failed."""

    def choose_now(self) -> None:
        """Choose by what is known: a budget leaves no time for further trials."""


def price(factor: float, worth: float) -> float:
    """Return the points that a training of `factor` times the reference's time has to bring, where
    `worth` points are the price of each doubling; below 0 where it is shorter."""
    return worth * math.log2(factor)


def net(value: float, price: float, mode: Mode) -> float:
    """Return a value of the metric less the price of its configuration."""
    return value - price if mode == "max" else value + price


class Scores:
    """Base class of schedulers: the scores that were told, larger being better."""

    def __init__(self, configurations: Sequence[str], mode: Mode):
        assert configurations and len(set(configurations)) == len(configurations), "each once"
        self.configurations = list(configurations)
        self.mode: Mode = mode
        self.decisions: list[Decision] = []
        self.best: str | None = None
        self.finished = False
        self._sign = 1 if mode == "max" else -1
        self._values: dict[Trial, float] = {}
        self._failed: set[Trial] = set()

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial; only its first one counts."""
        trial = Trial(configuration, seed)
        if math.isfinite(value):
            self._values.setdefault(trial, self._sign * value)
        else:
            self._failed.add(trial)
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial has failed."""
        self._failed.add(Trial(configuration, seed))
        self._advance()

    def _advance(self) -> None:
        """Make the decisions that the scores allow."""
        raise AssertionError("every scheduler has its own")

    def _is_open(self, trial: Trial) -> bool:
        return trial not in self._values and trial not in self._failed

    def _has_failed(self, configuration: str) -> bool:
        return any(trial.configuration == configuration for trial in self._failed)

    def _by_configuration(self) -> dict[str, dict[int, float]]:
        """Return the scores by configuration and seed, the best mean first."""
        scores: dict[str, dict[int, float]] = {}
        for name in self.configurations:
            trials = sorted(trial for trial in self._values if trial.configuration == name)
            if trials:
                scores[name] = {trial.seed: self._values[trial] for trial in trials}
        ranked = sorted(scores, key=lambda name: -statistics.fmean(scores[name].values()))
        return {name: scores[name] for name in ranked}

    def _choose(self, name: str, seeds: int, mean: float, half: float) -> None:
        mean = self._sign * mean
        self.decisions.append(Decision(name, "chosen", seeds, mean, mean - half, mean + half, mean))
        self.best, self.finished = name, True


class Listed(Scores):
    """Trains what is listed, in its order, and chooses the best mean."""

    def __init__(self, trials: Sequence[Trial], *, mode: Mode = "max"):
        super().__init__(list(dict.fromkeys(trial.configuration for trial in trials)), mode)
        self.trials = list(trials)

    def work(self) -> list[Trial]:
        """Return what is not trained."""
        return [] if self.finished else [trial for trial in self.trials if self._is_open(trial)]

    def choose_now(self) -> None:
        """Choose among the configurations with most scores: fewer would compare lucky seeds."""
        scores = {
            name: list(of_name.values())
            for name, of_name in self._by_configuration().items()
            if not self._has_failed(name)
        }
        most = max(map(len, scores.values()), default=0)
        complete = [name for name, values in scores.items() if len(values) == most]
        self.finished = True
        if complete:
            values = scores[complete[0]]
            deviation, _ = pooled_deviation(scores.values())
            half = 1.96 * deviation / math.sqrt(len(values))
            self._choose(complete[0], len(values), statistics.fmean(values), half)

    def _advance(self) -> None:
        if not self.finished and not self.work():
            self.choose_now()


class Race(Scores):
    """Trains every configuration with its first seed, then adds seeds where they are expected to
    improve the choice.

    Another seed goes to the configuration whose next score is expected to improve the choice most,
    the knowledge gradient (Frazier, Powell and Dayanik, 2009, "The Knowledge-Gradient Policy for
    Correlated Normal Beliefs"); once no seed promises `gain` points, the choice is made.
    Configurations can be added then, and it is made anew among all. One with a seed that failed is
    never chosen. With a single seed, the best score is chosen.
    """

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        *,
        mode: Mode,
        gain: float = GAIN,
    ):
        super().__init__([reference, *others], mode)
        assert seeds and len(set(seeds)) == len(seeds), "each seed once"
        self.reference, self.seeds, self.gain = reference, tuple(seeds), gain
        self._rows: dict[str, frozenset[str]] = {name: frozenset({name}) for name in others}
        self._rows[reference] = frozenset()
        self._requested = {name: 1 for name in self.configurations}
        """How many of the seeds are requested, by configuration."""
        self._piloted = False

    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of."""
        for name, made_of in parents.items():
            if name not in self._rows:
                self.configurations.append(name)
                self._rows[name] = frozenset().union(*(self._rows[parent] for parent in made_of))
                self._requested[name] = 1
        self.finished = False
        self._advance()

    def work(self) -> list[Trial]:
        """Return what can be trained now, the first seeds of all before further ones."""
        if self.finished:
            return []
        trials = [
            Trial(name, seed)
            for place, seed in enumerate(self.seeds)
            for name in self.configurations
            if place < self._requested[name]
        ]
        return [trial for trial in trials if self._is_open(trial)]

    def standings(self) -> dict[str, float]:
        """Return the expected mean of every configuration but the reference, the best first."""
        known = self._belief()
        means = {name: known.mean_of(name) for name in known.names if name != self.reference}
        ranked = sorted(means, key=lambda name: (self._has_failed(name), -means[name]))
        return {name: self._sign * means[name] for name in ranked}

    def choose_now(self) -> None:
        """Choose the best expected mean."""
        if able := [name for name in self._by_configuration() if not self._has_failed(name)]:
            known = self._belief()
            best = max(able, key=known.mean_of)
            seeds = len(self._by_configuration()[best])
            self._choose(best, seeds, known.mean_of(best), 1.96 * known.deviation_of(best))
        self.finished = True

    def _requested_scores(self) -> dict[str, dict[int, float]]:
        """Return the scores of requested seeds: decisions depend on nothing else."""
        scores = {}
        for name, of_name in self._by_configuration().items():
            requested = self.seeds[: self._requested[name]]
            if known := {seed: value for seed, value in of_name.items() if seed in requested}:
                scores[name] = known
        ranked = sorted(scores, key=lambda name: -statistics.fmean(scores[name].values()))
        return {name: scores[name] for name in ranked}

    def _belief(self) -> Belief:
        scores = self._requested_scores()
        if any(len(of_name) > 1 for of_name in scores.values()):
            return belief(scores, self._rows, self.seeds)
        means = np.array([value for of_name in scores.values() for value in of_name.values()])
        return Belief(list(scores), [], means, np.zeros((len(means), len(means))), 0.0)

    def _advance(self) -> None:
        while not self.finished and not self.work():
            scores = self._requested_scores()
            able = [name for name in scores if self._can_grow(name)]
            if able and not self._piloted:
                self._piloted = True
                able.sort(key=lambda name: name != self.reference)
                promising = able[:PILOTS]
            else:
                promising = self._promising(able)
            for name in promising:
                self._requested[name] += 1
            if not promising:
                self.choose_now()

    def _can_grow(self, name: str) -> bool:
        return self._requested[name] < len(self.seeds) and not self._has_failed(name)

    def _promising(self, able: Sequence[str]) -> list[str]:
        """Return the configurations that get another seed, most promising first."""
        scores = self._requested_scores()
        if not able or not any(len(of_name) > 1 for of_name in scores.values()):
            return []
        known = self._belief()
        gains = {name: known.gain(name, self.seeds[self._requested[name]]) for name in able}
        promising = [name for name in able if gains[name] >= max(self.gain, TINY)]
        best = max((name for name in scores if not self._has_failed(name)), key=known.mean_of)
        cut = self._sign * known.mean_of(best)
        promising = sorted(promising, key=lambda name: -gains[name])[:AT_ONCE]
        for name in promising:
            mean, half = self._sign * known.mean_of(name), 1.96 * known.deviation_of(name)
            interval = mean, mean - half, mean + half, cut
            self.decisions.append(Decision(name, "seed added", len(scores[name]), *interval))
        return promising


class Rounds:
    """Races configurations, then all of them with those that the next round proposes, and so on."""

    def __init__(self, race: Race, rounds: Sequence[Propose]):
        self.mode = race.mode
        self._race, self._proposals = race, list(rounds)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions of the race."""
        return self._race.decisions

    @property
    def best(self) -> str | None:
        """The winner of the last race."""
        return self._race.best

    @property
    def finished(self) -> bool:
        """Whether the last round is decided."""
        return self._race.finished and not self._proposals

    def work(self) -> list[Trial]:
        """Return what the race can train now."""
        return self._race.work()

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial."""
        self._race.tell(configuration, seed, value)
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial has failed."""
        self._race.fail(configuration, seed)
        self._advance()

    def choose_now(self) -> None:
        """Choose by what is known, without further rounds."""
        self._proposals = []
        if not self._race.finished:
            self._race.choose_now()

    def _advance(self) -> None:
        """Begin the next round once the last one is decided."""
        while self._proposals and self._race.finished:
            propose = self._proposals.pop(0)
            if self.best and (proposed := propose(self._race.standings())):
                self._race.add(proposed)


class Confirmed:
    """Lets a scheduler choose, and trains the reference and the winner with fresh seeds.

    The choice is made by the luck of its seeds, too: tested on these, a winner of twenty equal
    configurations would "help" in one of seven tables. On fresh seeds alone it does in one of
    forty, as a test at 5 per cent says.
    """

    def __init__(self, choosing: Scheduler, reference: str, seeds: Sequence[int]):
        self.mode = choosing.mode
        self._choosing, self._reference, self.seeds = choosing, reference, tuple(seeds)
        self._ended: set[Trial] = set()

    @property
    def confirmation(self) -> Confirmation | None:
        """What confirms the choice; None before it is made, and where the reference is best."""
        best = self._choosing.best
        if not self._choosing.finished or best in (None, self._reference):
            return None
        assert best is not None
        return Confirmation(self._reference, best, self.seeds)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions of the choice."""
        return self._choosing.decisions

    @property
    def best(self) -> str | None:
        """The configuration that is chosen."""
        return self._choosing.best

    @property
    def finished(self) -> bool:
        """Whether the choice is confirmed, or cannot be."""
        return self._choosing.finished and not self.work()

    def work(self) -> list[Trial]:
        """Return what is to be trained: for the choice, then with fresh seeds."""
        if not self._choosing.finished:
            return self._choosing.work()
        if self.confirmation is None:
            return []
        pair = self.confirmation[:2]
        trials = [Trial(name, seed) for seed in self.seeds for name in pair]
        return [trial for trial in trials if trial not in self._ended]

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the score of a trial."""
        if seed in self.seeds:
            self._ended.add(Trial(configuration, seed))
        else:
            self._choosing.tell(configuration, seed, value)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial has failed."""
        if seed in self.seeds:
            self._ended.add(Trial(configuration, seed))
        else:
            self._choosing.fail(configuration, seed)

    def choose_now(self) -> None:
        """Choose by what is known, and go on to confirm it."""
        if not self._choosing.finished:
            self._choosing.choose_now()
