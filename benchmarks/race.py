"""Measure how often a sweep chooses well, what that costs, and whether what it says is true.

    PYTHONPATH=platform:. python -m benchmarks.race [--draws 500] [--seed 1] [--json]

Nothing is trained: scores are drawn, and the schedulers, the confirmation, the choice and the tests
are those of `augury sweep` (`augury.sweeping.schedulers`, `augury.scoring`). `noise` is the
standard deviation of training alone, in BLEU: small models have about 0.45
(`reporting.power.TYPICAL`), larger differences between trainings about 0.8.

    race            one seed of all 26, then further seeds of the reference and the best
    , combinations  then combinations of the best, as in `augury sweep augmentations`
    all 10 x 3      every one of ten systems with three seeds, `--scheduler all`

Of worlds in which methods help (a family N(0.4, 0.6), a row N(0, 0.4) around it; the second of a
combination adds between nothing and all of its gain):

    near            share of sweeps whose recommendation is at most 0.3 BLEU below the best that
                    was trained
    lost            how much it is below the best, on average
    trainings       all of them, those that confirm it included

Of worlds in which nothing helps, all systems being equal:

    helps           share that says that a system helps: false. Goal: at most 0.025
    unconfirmed     the same by the trainings that chose it, without correction: what one should not
                    say
    flattered       mean gain in the test that those trainings show of nothing, in BLEU

Of all worlds:

    coverage        share of 95 % intervals of a confirmed difference that hold the true one. Goal:
                    0.93 to 0.97
    bias            mean of the confirmed difference minus the true one, in BLEU
    power 1, 1.5    share that says that a system helps where one alone is better by as much
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from augury.core.rng import generator
from augury.reporting.power import TYPICAL
from augury.scoring.bootstrap import Resampled
from augury.scoring.seed_variance import pool, sample_variance
from augury.scoring.significance import LEVEL, Difference, compare
from augury.sweeping.schedulers import Race, Scheduler, Standings, fresh_seeds
from benchmarks import frame

METRIC, NEAR = "bleu", 0.3
VALIDATION_SENTENCES, TEST_SENTENCES = 1014, 1000
SEEDS, SAMPLES = 16, 50
FAMILIES, ROWS = 5, 5
NOISES = (0.45, 0.8)
BASELINE = "baseline"
FRESH = fresh_seeds(range(1, 6))
"""The seeds of confirmation."""


class Runs(NamedTuple):
    """The scores of one system by seed, from 1."""

    validation: np.ndarray
    test: np.ndarray
    moves: np.ndarray
    """What resampled sentences move the test scores by, (samples, seeds)."""

    def resampled(self, seeds: Sequence[int]) -> Resampled:
        """Return the test scores of some seeds."""
        places = [seed - 1 for seed in seeds]
        return Resampled(self.test[places], self.test[places] + self.moves[:, places], ())


@dataclass
class World:
    """True effects and noisy scores of systems, drawn when they are first asked for."""

    noise: float
    random: np.random.Generator
    truth: dict[str, float] = field(default_factory=lambda: {BASELINE: 0.0})
    families: dict[str, int] = field(default_factory=dict)
    _runs: dict[str, Runs] = field(default_factory=dict)

    def runs(self, name: str) -> Runs:
        """Return the scores of all seeds of a system."""
        if name not in self._runs:
            training = self.noise * self.random.standard_normal(SEEDS)
            validation, _ = self._scores(name, training, VALIDATION_SENTENCES)
            self._runs[name] = Runs(validation, *self._scores(name, training, TEST_SENTENCES))
        return self._runs[name]

    def _scores(
        self, name: str, training: np.ndarray, sentences: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores on a text, and what resampled sentences move them by."""
        draw, known = self.random.normal, TYPICAL[METRIC]
        system = math.sqrt(known.systems_and_sentences / 2 / sentences)
        seed = math.sqrt(known.seeds_and_sentences / sentences)
        scores = 30 + self.truth[name] + training + draw(0, system) + draw(0, seed, SEEDS)
        return scores, draw(0, system, (SAMPLES, 1)) + draw(0, seed, (SAMPLES, SEEDS))


def helpful(world: World) -> None:
    """Add systems of families, which help more or less."""
    for family in range(FAMILIES):
        mean = world.random.normal(0.4, 0.6)
        for row in range(ROWS):
            name = f"{family}.{row}"
            world.truth[name] = mean + world.random.normal(0, 0.4)
            world.families[name] = family


def equal(count: int, best: float = 0.0) -> Callable[[World], None]:
    """Return what adds systems that are equal to the baseline, all but one, which has an effect."""

    def add(world: World) -> None:
        for place in range(1, count):
            name = f"{place % FAMILIES}.{place}"
            world.truth[name] = best if place == 1 else 0.0
            world.families[name] = place % FAMILIES

    return add


Make = Callable[[World], Scheduler]


def race(world: World) -> Race:
    """Return a race of the systems of a world."""
    return Race(world.truth, range(1, 6), fresh=FRESH)


def race_with_combinations(world: World) -> Race:
    """Return a race with a second round: combinations of the best with two of other families, whose
    gains add up in part."""

    def combine(standings: Standings) -> list[str]:
        first, *others = [name for name in standings if name != BASELINE]
        others = [name for name in others if world.families[name] != world.families[first]][:2]
        for name in others:
            gain = world.truth[name]
            share = world.random.uniform() if gain > 0 else 1.0
            world.truth[f"{first} + {name}"] = world.truth[first] + share * gain
        return [f"{first} + {name}" for name in others]

    scheduler = race(world)
    scheduler.rounds = [combine]
    return scheduler


def listed(world: World) -> Scheduler:
    """Return the scheduler of `--scheduler all` with three seeds."""
    return Scheduler(world.truth, [1, 2, 3], fresh=FRESH)


PROCEDURES: Mapping[str, tuple[Make, int, bool]] = {
    "race": (race, FAMILIES * ROWS + 1, True),
    "race, combinations": (race_with_combinations, FAMILIES * ROWS + 1, True),
    "all 10 x 3": (listed, 10, False),
    "all 20 x 3": (listed, 20, False),
}
"""Name -> its scheduler, the number of systems, and whether its choice is measured."""


class Outcome(NamedTuple):
    """One simulated sweep."""

    lost: float
    trainings: int
    confirmed: Difference | None
    """None where the reference won."""
    flattering: Difference | None
    """By the trainings of the choice."""
    truth: float
    """Of the winner."""

    @property
    def helps(self) -> bool:
        """Whether it says that a system helps."""
        return says_help(self.confirmed)


def says_help(tested: Difference | None) -> bool:
    """Return whether a difference is said to be real and better."""
    return tested is not None and tested.value > 0 and tested.p_value < 1 - LEVEL


def sweep(world: World, make: Make) -> Outcome:
    """Choose, confirm, recommend and test."""
    scheduler, fresh = make(world), FRESH
    trained: dict[str, list[int]] = {}
    while work := scheduler.work():
        for name, seed in work:
            trained.setdefault(name, []).append(seed)
            scheduler.tell(name, seed, float(world.runs(name).validation[seed - 1]))
    assert scheduler.finished and scheduler.best is not None
    best, highest = scheduler.best, max(world.truth[name] for name in trained)
    count = sum(map(len, trained.values()))
    if scheduler.confirmation is None:
        return Outcome(highest - world.truth[best], count, None, None, 0.0)
    confirming = [seed - 1 for seed in fresh]
    its, reference = (world.runs(name).validation[confirming].mean() for name in (best, BASELINE))
    recommended = best if its > reference else BASELINE
    chose = {
        name: world.runs(name).resampled([seed for seed in seeds if seed not in fresh])
        for name, seeds in trained.items()
    }
    pooled = pool([sample_variance(system) for system in chose.values()])
    return Outcome(
        highest - world.truth[recommended],
        count,
        compare(world.runs(BASELINE).resampled(fresh), world.runs(best).resampled(fresh)),
        compare(chose[BASELINE], chose[best], pooled),
        world.truth[best],
    )


def simulate(name: str, noise: float, draws: int, seed: int) -> frame.Row:
    """Return what sweeps of one procedure do in worlds of every kind."""
    make, count, measured = PROCEDURES[name]
    kinds = {"equal": equal(count), "1": equal(count, 1.0), "1.5": equal(count, 1.5)}
    kinds |= {"helpful": helpful} if measured else {}
    outcomes: dict[str, list[Outcome]] = {}
    for kind, fill in kinds.items():
        for draw in range(draws):
            world = World(noise, generator("race", name, kind, noise, seed, draw))
            fill(world)
            outcomes.setdefault(kind, []).append(sweep(world, make))
    null, found = outcomes["equal"], outcomes.get("helpful", [])
    confirmed = [one for drawn in outcomes.values() for one in drawn if one.confirmed]
    row: frame.Row = {"sweep": name, "noise": noise}
    if found:
        row |= {
            "near": _share([one.lost <= NEAR for one in found]),
            "lost": _share([one.lost for one in found]),
        }
    return row | {
        "trainings": statistics.fmean(one.trainings for one in found or outcomes["1"]),
        "helps": _share([one.helps for one in null]),
        "unconfirmed": _share([says_help(one.flattering) for one in null]),
        "flattered": _share([one.flattering.value for one in null if one.flattering]),
        "coverage": _share([_covers(one) for one in confirmed]),
        "bias": _share([one.confirmed.value - one.truth for one in confirmed if one.confirmed]),
        "power 1": _share([one.helps and one.truth > 0 for one in outcomes["1"]]),
        "power 1.5": _share([one.helps and one.truth > 0 for one in outcomes["1.5"]]),
    }


def _covers(outcome: Outcome) -> bool:
    assert outcome.confirmed is not None
    return outcome.confirmed.low <= outcome.truth <= outcome.confirmed.high


def _share(values: Sequence[float]) -> list[float]:
    """Return a mean and its standard error."""
    array = np.asarray(values, dtype=float)
    return [float(array.mean()), float(array.std() / math.sqrt(len(array)))]


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--draws", type=int, default=500, help="sweeps of a kind (default 500)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the simulation (default 1)")
    arguments = parser.parse_args()
    rows = [
        simulate(name, noise, arguments.draws, arguments.seed)
        for name in PROCEDURES
        for noise in NOISES
    ]
    frame.report(arguments, {"draws": arguments.draws, "seed": arguments.seed}, rows)


if __name__ == "__main__":
    main()
