"""Measure how often the race of `augury sweep augmentations` recommends the right system.

    PYTHONPATH=platform:. python benchmarks/race.py [--draws 300] [--seed 1] [--json]
        [--seeds 5]

Nothing is trained: the rounds (families, combinations, main settings by Optuna), the stopping and
the recommendation are those of the sweep (`augury.sweeping.rounds`, `main_settings`,
`reporting.sweeps.choice`), on the rows, families and domains of
`search_spaces/augmentations.py`. The test is that of its tables, of the winner alone: the sweep's
answer corrects it for all systems of the table besides. True effects come from a prior, noise from
runs that are stored (`docs/evidence/why`).

    near       share of races whose recommendation is at most 0.3 BLEU below the best of the systems
               that raced, the baseline among them, all less the price of their time, which the race
               weighs. Goal: at least 90 %
    of both    the same below the best of what the race or `all` trains, whose tuned points differ
    false      share of races that say of a system whose true effect is at or below 0 that it helps.
               Goal: at most 5 %
    helps      share of races that say that the system they recommend helps
    cost       training as a share of that of `all`. Goal: at most a third
    lost       how much worse the recommendation truly is than that of `all`, less prices: what is
               paid for the saving
    reported   mean of reported minus true effect of the winner on the test set, whose sentences did
               not choose it; `chosen on`, in BLEU of validation, on those that did: the winner's
               curse
    all        the same three rounds, everything trained with five seeds, the best mean less its
               price recommended: `all near` is its share near the best of what it trained, and
               `all of both` near the best of both: what five seeds of everything buy

Prior of the true effects on BLEU, in the scenario `usual`: a family N(0.4, 0.6), a row N(0, 0.4)
around its family. In combination, the second row adds a share U(0, 1) of its gain and all of its
loss. A main setting has an optimum N(0, 0.25) from its default, on the (logarithmic) range from 0
to 1; with the distance d from it, 4 d^2 BLEU are lost on average (exponential); each list of keys
has N(0, 0.2).
    small effects   half of all effects
    nothing helps   every row has an effect of -|N(0, 0.5)|, and settings gain nothing
    noisy seeds     three times the variance between seeds
    common seeds    a seed has an effect N(0, 0.3) on all systems alike besides

Noise: components of the variance of a score by `augury.scoring.power`, printed first. A system is
off by its interaction with the sentences of validation (1,014) and test (1,000), the same with
every seed; a seed by training noise, the same on both, and by its interaction with the sentences of
each. The stored runs have one seed a system: they show the sum of what sentences do to a difference
(the interaction of systems, and twice that of seeds), in the ratio of `TYPICAL`, whose training
noise is taken, too. Times of systems that are stored are theirs, those of others are guesses,
stated in `COSTS`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from augury.augment import operator
from augury.core.naming import title
from augury.core.rng import generator
from augury.core.store import Store
from augury.regimes import regime
from augury.reporting.power import TYPICAL
from augury.reporting.sweeps.choice import is_better
from augury.runs import stored_runs
from augury.runs.record import RunRecord
from augury.scoring.bleu import Bleu
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.power import Components, components
from augury.scoring.seed_variance import pool, sample_variance
from augury.scoring.significance import LEVEL, compare
from augury.scoring.stored import read_statistics
from augury.sweeping.declarations import Point
from augury.sweeping.main_settings import main_settings, suggest, with_values
from augury.sweeping.price import net, price
from augury.sweeping.rounds import TUNING_ROUNDS, Propose, Rounds, Standings, combinations
from search_spaces import augmentations

EVIDENCE = Path(__file__).parents[1] / "docs/evidence/why"
TEST, METRIC = "test2016", "bleu"
VALIDATION_SENTENCES, TEST_SENTENCES = 1014, 1000
ALL_SEEDS, SEEDS, SAMPLES, NEAR = 5, 20, 50, 0.3
GOALS = {"near": 0.9, "false": 0.05, "cost": 1 / 3}
COSTS = {
    "baseline": 1.0,
    "R-Drop": 2.0,
    "ROT-1": 2.3,
    "ROT-1 and 2": 3.3,
    "BPE-dropout view": 2.5,
    "EDA view": 2.3,
    "spelling noise": 1.5,
    "EDA": 1.5,
    "fuzzy matches": 1.5,
    "data diversification": 3.0,
    "FGM 0.01": 2.2,
    "PGD 0.005": 4.0,
    "PGD 0.01": 4.0,
}
"""Times of one seed, in those of the baseline, where none is stored; 1.1 for draws of tokens."""


@dataclass(frozen=True)
class Scenario:
    """What is drawn."""

    family: tuple[float, float] = (0.4, 0.6)
    row: float = 0.4
    setting: float = 4.0
    harmful: bool = False
    noise: float = 1.0
    """Factor of the variance between seeds."""
    common: float = 0.0
    """Variance, in BLEU^2, of what a seed does to all systems alike."""


SCENARIOS = {
    "usual": Scenario(family=(0.5, 1.0), row=0.5, setting=2.0),
    "close": Scenario(),
    "small effects": Scenario(family=(0.2, 0.3), row=0.2, setting=2.0),
    "nothing helps": Scenario(harmful=True, setting=0.0),
    "noisy seeds": Scenario(noise=3.0),
    "common seeds": Scenario(common=0.3),
}


class Noise(NamedTuple):
    """Components of the variance and times, with where they come from."""

    components: Components
    measured: float
    """Of a difference of two stored systems on one sentence, all that sentences do; 0: nothing is
    stored."""
    systems: int
    costs: Mapping[str, float]


def noise_of(evidence: Path = EVIDENCE) -> Noise:
    """Return the components of the variance that stored runs show, and their processor times."""
    groups: dict[str, list[Any]] = {}
    seconds: dict[str, float] = {}
    for run in stored_runs.folders(Store(str(evidence))):
        record = RunRecord.read(run)
        statistics = read_statistics(run, TEST)
        if METRIC in statistics:
            groups.setdefault(record.name, []).append(statistics[METRIC])
        if record.cost and record.cost.cpu_seconds:
            seconds[record.name] = record.cost.cpu_seconds
    systems = [resample(tables, Bleu.value, samples=200) for tables in groups.values()]
    costs = {name: time / seconds["baseline"] for name, time in seconds.items()}
    typical = TYPICAL[METRIC]
    if len(systems) < 2:
        return Noise(typical, 0.0, len(systems), costs)
    sentences = len(systems[0].statistics[0])
    pairs = [(a, b) for place, a in enumerate(systems) for b in systems[place + 1 :]]
    moved = [float((a.samples.mean(1) - b.samples.mean(1)).var()) for a, b in pairs]
    measured = sentences * sum(moved) / len(moved)
    known = components(systems, sentences)
    if known is None:  # one seed of each
        expected = 2 * typical.seeds_and_sentences + typical.systems_and_sentences
        factor = measured / expected
        known = Components(
            typical.seeds,
            factor * typical.seeds_and_sentences,
            factor * typical.systems_and_sentences,
        )
    return Noise(known, measured, len(systems), costs)


@dataclass
class World:
    """True effects and noisy scores of systems, drawn when they are first asked for."""

    scenario: Scenario
    noise: Noise
    random: np.random.Generator
    declared: Mapping[str, tuple[str, Any]]
    points: dict[str, Point] = field(default_factory=dict)
    truth: dict[str, float] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    _runs: dict[str, Runs] = field(default_factory=dict)
    _tuned: dict[str, Settings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        deviation = math.sqrt(self.scenario.common)
        self.of_seeds = deviation * self.random.standard_normal(SEEDS)
        effects: dict[str, float] = {"baseline": 0.0}
        mean, spread = self.scenario.family
        families = augmentations.families()
        for family in dict.fromkeys(families.values()):
            of_family = self.random.normal(mean, spread)
            for name in (name for name, its in families.items() if its == family):
                effects[name] = of_family + self.random.normal(0, self.scenario.row)
                if self.scenario.harmful:
                    effects[name] = -abs(self.random.normal(0, 0.5))
        self.points |= augmentations.rows("toy")
        self.truth |= effects
        stored = {name: self.noise.costs[name] for name in effects if name in self.noise.costs}
        self.cost |= {name: COSTS.get(name, 1.1) for name in effects} | stored

    def combine(self, first: str, second: str, point: Point) -> str:
        """Add a combination, the better row first."""
        name = f"{first} + {second}"
        if name not in self.truth:
            gain = self.truth[second]
            self.truth[name] = self.truth[first] + gain * (self.random.uniform() if gain > 0 else 1)
            self.cost[name] = self.cost[first] + self.cost[second] - 1
            self.points[name] = point
        return name

    def tune(self, base: str, values: Mapping[str, Any]) -> str:
        """Add a system with other main settings."""
        name = f"{base}, {title(values)}"
        if name not in self.truth:
            settings = self.settings(base)
            self.truth[name] = self.truth[base] + settings.gain(values)
            self.cost[name] = self.cost[base]
            self.points[name] = with_values(self.points[base], values)
        return name

    def price(self, name: str) -> float:
        """Return the BLEU that the time of a system has to bring."""
        factor = self.cost[name] / self.cost["baseline"]
        return price(factor, augmentations.SPACE.worth)

    def settings(self, base: str) -> Settings:
        """Return how the score of a system depends on its main settings."""
        if base not in self._tuned:
            domains = main_settings(self.points[base], self.declared)
            self._tuned[base] = Settings.draw(
                domains, defaults(self.points[base]), self.scenario.setting, self.random
            )
        return self._tuned[base]

    def runs(self, name: str) -> Runs:
        """Return the scores of all seeds of a system."""
        if name not in self._runs:
            known = self.noise.components
            self._runs[name] = Runs.draw(
                self.truth[name], known, self.scenario.noise, self.of_seeds, self.random
            )
        return self._runs[name]


def defaults(point: Point) -> dict[str, Any]:
    """Return the values of a row's settings by dotted key."""
    values: dict[str, Any] = {}
    sections: dict[str, Any] = {"regime": regime.parse(dict(point["regime"])).to_dict()}
    for place, part in enumerate(point.get("augment", ())):
        sections[f"augment.{place}"] = operator.parse(dict(part)).to_dict()
    for section, content in sections.items():
        values |= {f"{section}.{key}": value for key, value in content.items()}
    return values


@dataclass(frozen=True)
class Settings:
    """A surface over the main settings of one system."""

    domains: Mapping[str, Any]
    default: Mapping[str, Any]
    optimum: Mapping[str, float]
    curvature: Mapping[str, float]
    of_list: Mapping[str, Sequence[float]]

    @classmethod
    def draw(
        cls,
        domains: Mapping[str, Any],
        values: Mapping[str, Any],
        strength: float,
        random: np.random.Generator,
    ) -> Settings:
        default = {key: _plain(values[key]) for key in domains}
        optimum, curvature, of_list = {}, {}, {}
        for key, domain in domains.items():
            if isinstance(domain, Sequence):
                of_list[key] = random.normal(0, 0.05 * strength, len(domain))
            else:
                optimum[key] = _share(domain, default[key]) + random.normal(0, 0.25)
                curvature[key] = random.exponential(strength)
        return cls(domains, default, optimum, curvature, of_list)

    def gain(self, values: Mapping[str, Any]) -> float:
        """Return what values gain over the defaults."""
        return self._height(values) - self._height(self.default)

    def _height(self, values: Mapping[str, Any]) -> float:
        height = 0.0
        for key, value in values.items():
            domain = self.domains[key]
            if key in self.of_list:
                height += self.of_list[key][domain.index(value)] if value in domain else 0.0
            else:
                height -= self.curvature[key] * (_share(domain, value) - self.optimum[key]) ** 2
        return height


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _share(domain: Any, value: float) -> float:
    """Return the place of a value in a domain of Ray Tune, from 0 to 1."""
    scale = math.log if "Log" in type(domain.get_sampler()).__name__ else float
    low, high = scale(domain.lower), scale(domain.upper)
    return (scale(value) - low) / (high - low)


class Runs(NamedTuple):
    """The scores of all seeds of one system."""

    final: np.ndarray
    """Validation at the end, (seeds,)."""
    test: np.ndarray
    """Test, (seeds,)."""
    moves: np.ndarray
    """What resampled sentences move the test scores by, (samples, seeds)."""

    @classmethod
    def draw(
        cls,
        truth: float,
        known: Components,
        noisier: float,
        of_seeds: np.ndarray,
        random: np.random.Generator,
    ) -> Runs:
        count = len(of_seeds)
        training = of_seeds + math.sqrt(noisier * known.seeds) * random.standard_normal(count)

        def over(sentences: int) -> tuple[float, float]:
            system = math.sqrt(known.systems_and_sentences / 2 / sentences)
            return system, math.sqrt(known.seeds_and_sentences / sentences)

        system, seed = over(VALIDATION_SENTENCES)
        final = 30 + truth + random.normal(0, system) + training + random.normal(0, seed, count)
        system, seed = over(TEST_SENTENCES)
        test = 30 + truth + random.normal(0, system) + training + random.normal(0, seed, count)
        moves = random.normal(0, system, (SAMPLES, 1)) + random.normal(0, seed, (SAMPLES, count))
        return cls(final, test, moves)

    def resampled(self, seeds: Sequence[int]) -> Resampled:
        """Return the test scores of some seeds, which begin with 1."""
        places = [seed - 1 for seed in seeds]
        return Resampled(self.test[places], self.test[places] + self.moves[:, places], ())


def proposals(world: World) -> list[Propose]:
    """Return the rounds after the first, as `augury sweep` has them."""
    rows, families = augmentations.rows("toy"), augmentations.families()
    tuned: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def combine(standings: Standings) -> dict[str, tuple[str, str]]:
        combined = combinations(list(standings), rows, families)
        return {world.combine(*names, point): names for names, point in combined.items()}

    def tune(standings: Standings) -> dict[str, list[str]]:
        leader = next(iter(standings))
        base, _ = tuned.get(leader, (leader, {}))
        settings = world.settings(base)
        if not settings.domains:
            return {}
        scored = [(settings.default, standings[base])]
        for name, (its, values) in tuned.items():
            if its == base and name in standings:
                scored.append((values, standings[name]))
        suggested = suggest(settings.domains, scored, mode="max")
        names = [world.tune(base, values) for values in suggested]
        for name, values in zip(names, suggested, strict=True):
            tuned[name] = base, {**settings.default, **values}
        return {name: [base] for name in names}

    return [combine, *[tune] * TUNING_ROUNDS]


class Outcome(NamedTuple):
    """One simulated race."""

    near: bool
    of_both: bool
    false: bool
    helps: bool
    cost: float
    lost: float
    reported: float
    chosen_on: float
    all_near: bool
    all_of_both: bool


def race(world: World, count: int) -> Outcome:
    """Run the race of the sweep and the exhaustive one in the same world."""
    reference, *others = world.truth
    seeds = list(range(1, count + 1))
    rounds = Rounds(reference, others, seeds, proposals(world), mode="max")
    trained: set[tuple[str, int]] = set()
    while work := rounds.work():
        name, seed, rung = work[0]
        trained.add((name, seed))
        score = float(world.runs(name).final[seed - 1])
        rounds.tell(name, seed, rung, net(score, world.price(name), "max"))
    assert rounds.best is not None
    return _judge(world, rounds.best, trained, seeds)


def _judge(
    world: World, best: str, trained: Collection[tuple[str, int]], seeds: Sequence[int]
) -> Outcome:
    """Recommend, test, and hold both against the truth."""
    everything = exhaustive(world)
    values = {name: truth - world.price(name) for name, truth in world.truth.items()}
    places = [seed - 1 for seed in seeds]
    reference = float(world.runs("baseline").final[places].mean())
    validated = float(world.runs(best).final[places].mean())
    ahead = is_better(validated - world.price(best), reference, "max")
    recommended = best if ahead else "baseline"
    ended: dict[str, list[int]] = {}
    for name, seed in sorted(trained):
        ended.setdefault(name, []).append(seed)
    systems = {name: world.runs(name).resampled(of_name) for name, of_name in ended.items()}
    pooled = pool([sample_variance(system) for system in systems.values()])
    difference = compare(systems["baseline"], systems[best], pooled)
    said = difference.value > 0 and difference.p_value < 1 - LEVEL
    cost_of_all = ALL_SEEDS * sum(world.cost[name] for name in everything)
    best_of_race = max(values[name] for name in ended)
    best_of_all = max(values[name] for name in everything)
    best_of_both = max(best_of_race, best_of_all)
    return Outcome(
        near=best_of_race - values[recommended] <= NEAR,
        of_both=best_of_both - values[recommended] <= NEAR,
        false=said and world.truth[best] <= 0,
        helps=said,
        cost=sum(world.cost[name] for name, _ in trained) / cost_of_all,
        lost=values[everything[0]] - values[recommended],
        reported=float(systems[best].value - 30 - world.truth[best]),
        chosen_on=validated - 30 - world.truth[best],
        all_near=best_of_all - values[everything[0]] <= NEAR,
        all_of_both=best_of_both - values[everything[0]] <= NEAR,
    )


def exhaustive(world: World) -> list[str]:
    """Train all that three rounds consider with five seeds; return it, the best mean less its price
    first."""
    names = list(augmentations.rows("toy"))

    def ranked() -> dict[str, float]:
        means = {
            name: float(world.runs(name).final[:ALL_SEEDS].mean()) - world.price(name)
            for name in names
        }
        return dict(sorted(means.items(), key=lambda item: -item[1]))

    for propose in proposals(world):
        standings = ranked()
        standings.pop("baseline")
        names += [name for name in propose(standings) if name not in names]
    return list(ranked())


class Result(NamedTuple):
    """The results of a scenario, each with its standard error."""

    scenario: str
    near: tuple[float, float]
    of_both: tuple[float, float]
    false: tuple[float, float]
    helps: tuple[float, float]
    cost: tuple[float, float]
    lost: tuple[float, float]
    reported: tuple[float, float]
    chosen_on: tuple[float, float]
    all_near: tuple[float, float]
    all_of_both: tuple[float, float]


def simulate(name: str, noise: Noise, draws: int, seed: int, seeds: int) -> Result:
    """Simulate races of one scenario."""
    outcomes = []
    for draw in range(draws):
        world = World(
            SCENARIOS[name],
            noise,
            generator("race", name, seed, draw),
            augmentations.main_settings(),
        )
        outcomes.append(race(world, seeds))

    return Result(name, *(_mean(values) for values in zip(*outcomes, strict=True)))


def _mean(values: Sequence[float]) -> tuple[float, float]:
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std() / math.sqrt(len(array)))


SHARES = ("near", "of_both", "false", "helps", "cost", "all_near", "all_of_both")
"""What is shown in %; the others are in BLEU."""


def table(results: Sequence[Result]) -> str:
    """Return the results as text."""
    names = [name for name in Result._fields if name != "scenario"]
    heads = [f"{name.replace('_', ' ')}{' %' if name in SHARES else ''}" for name in names]
    lines = [f"{'':16}" + "".join(f"{head:>14}" for head in heads)]
    for result in results:
        cells = []
        for name in names:
            value, error = getattr(result, name)
            shown = f"{100 * value:.1f} ± {100 * error:.1f}"
            cells.append(shown if name in SHARES else f"{value:+.2f} ± {error:.2f}")
        lines.append(f"{result.scenario:16}" + "".join(f"{cell:>14}" for cell in cells))
    return "\n".join(lines)


def describe(noise: Noise) -> str:
    """Return the components of the variance as text."""
    known = noise.components
    test = known.seeds + known.seeds_and_sentences / TEST_SENTENCES
    return (
        f"{noise.systems} stored systems: sentences move a difference by a variance of "
        f"{noise.measured:.0f} / sentences\n"
        f"training noise {known.seeds:.2f}, seeds and sentences {known.seeds_and_sentences:.0f}, "
        f"systems and sentences {known.systems_and_sentences:.0f} BLEU^2: one seed on "
        f"{TEST_SENTENCES:,} sentences has a deviation of {math.sqrt(test):.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=300, help="races a scenario (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the simulation (default 1)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds that race (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    noise = noise_of()
    results = [
        simulate(name, noise, arguments.draws, arguments.seed, arguments.seeds)
        for name in SCENARIOS
    ]
    if arguments.json:
        print(
            json.dumps(
                {
                    **vars(arguments),
                    "goals": GOALS,
                    "noise": {**vars(noise.components), "measured": noise.measured},
                    "scenarios": [result._asdict() for result in results],
                },
                indent=2,
            )
        )
    else:
        print(describe(noise))
        print(table(results))


if __name__ == "__main__":
    main()
