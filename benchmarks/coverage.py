"""Measure coverage of 95 % intervals, false positives and power of the tests over seeds and
sentences by simulation.

Systems with known true scores are trained with a few seeds and tested on a few hundred sentences.
The quality of a seed on a sentence is the sum of effects of the system, the seed (training noise),
the sentence (difficulty), and of the interactions of system and sentence and of seed and sentence.
`noise` is the standard deviation of the seed effect relative to the deviation between seeds that
the sentences alone cause: 0 is no training noise, 3 almost only training noise; seeds that differ
by 0.3 to 0.5 BLEU on 1,000 sentences are near 1. With `spread`, noise differs between systems
(log-normal). `same`: all systems are one configuration; `different`: they find different sentences
difficult, and the second is better. Scores are a mean, a ratio (a precision and a brevity penalty
from sums, like BLEU) or an accuracy (0 or 1 a sentence, so that seeds often have equal scores:
ties).

The first two of several systems are compared by two tests: the plain `two-level` test, which takes
each system's own variance over seeds, at least what sentences alone cause; and the moderated test,
the default, which shrinks it to that of all 2, 5 or 15 systems of the comparison. Blocks are seeds
with a hardware effect that all systems of a seed share. Power is the share of experiments that find
the difference which `augury.scoring.power` calls the smallest detectable one from the true
components; 80 % is right.

What to expect: a coverage between 93 and 97 % and false positives of at most the nominal rate, with
two exceptions. Where two or three seeds of two systems differ by no more than sentences explain,
training noise may be absent or several times as large: the data cannot tell. A test that is valid
for large noise must be wide there, so that with noise of 0 to 1 its intervals cover up to 100 %:
two seeds buy validity, not precision. And moderation assumes that systems are alike: where a single
one has three or ten times the noise of the others, its intervals are too narrow for few seeds (a
table of its own), and those of the plain test are not.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from augury.scoring.bootstrap import SEED, Resampled, resample_counts
from augury.scoring.power import Components
from augury.scoring.seed_variance import (
    UNKNOWN,
    SeedVariance,
    block_variance,
    pool,
    sample_variance,
)
from augury.scoring.significance import compare, compare_blocks, holm, interval

DIFFICULTY, SYSTEM, SEED_AND_SENTENCE = (
    0.8,
    0.3,
    0.55,
)  # standard deviations over sentences; the total is about 1
LEVEL, EFFECT = (
    0.5,
    0.05,
)  # quality of the systems, and what the second of `different` ones is better by
PRECISION, SLOPE, SHORT, LENGTHS = (
    0.45,
    0.08,
    0.97,
    0.03,
)  # of the ratio: length and its deviation are relative
SPREAD = 0.4  # standard deviation of the logarithm of unequal noise
HARDWARE = 3.0  # standard deviation of the effect of a block, in the unit of `noise`
NOISIER = (3.0, 10.0)  # training noise of a single system relative to that of all others
TOGETHER = (2, 5, 15)  # systems of a comparison
METHODS = ("two-level", *(f"of {count}" for count in TOGETHER))
LEVELS = (0.05, 0.01, 0.001)

Floats = NDArray[np.float64]


Row = tuple[Sequence[object], Iterable[float]]


class Setting(NamedTuple):
    metric: str
    systems: str
    seeds: int
    noise: float
    spread: float
    sentences: int = 200

    @property
    def own(self) -> float:
        """The standard deviation of the interaction of systems and sentences."""
        return SYSTEM if self.systems == "different" else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the seed effect, in the unit of quality."""
        interaction = SEED_AND_SENTENCE
        if (
            self.metric == "accuracy"
        ):  # the deviation of right and wrong answers by the slope of their share
            both, h = self._total(0.0)
            density = math.exp(-h * h / 2) / math.sqrt(2 * math.pi) / both
            correlation = 1 - (SEED_AND_SENTENCE / both) ** 2
            interaction = (
                math.sqrt(2 * owens_t(h, math.sqrt((1 - correlation) / (1 + correlation))))
                / density
            )
        return self.noise * interaction / math.sqrt(self.sentences)

    def truth(self, effect: float, deviation: float) -> float:
        """Return the score of a system over all seeds and sentences."""
        if self.metric == "accuracy":
            return 100 * float(ndtr((LEVEL + effect) / self._total(deviation)[0]))
        if self.metric == "ratio":
            penalty = math.exp(1 - 1 / (SHORT * math.exp(LENGTHS**2 / 2)))
            return 100 * (PRECISION + SLOPE * (LEVEL + effect)) * penalty
        return LEVEL + effect

    def _total(self, deviation: float) -> tuple[float, float]:
        total = math.hypot(DIFFICULTY, self.own, SEED_AND_SENTENCE, deviation)
        return total, LEVEL / total


class Trials(NamedTuple):
    """Repetitions of one setting, arrays of shape (repetitions, methods) unless another is
    given."""

    p: Floats
    covered: Floats
    width: Floats
    single_covered: Floats
    single_width: Floats
    tied: Floats
    """Whether all seeds of one of the two systems have equal scores, (repetitions,)."""
    blocks: Floats
    """Coverage of paired and unpaired tests by number of systems, (repetitions, 2, counts).

    Of means alone.
    """
    found: Floats
    """Whether the smallest detectable difference is significant, (repetitions, counts).

    Of means alone.
    """
    noisier: Floats
    """Coverage where one has a multiple of the noise, (repetitions, multiples, 1 + counts).

    Of means alone.
    """
    families: Floats
    """Whether any of all equal systems is significant by Holm, (repetitions, counts)."""


def mean_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    return quality[..., None]


def accuracy_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    return (quality > 0)[..., None].astype(np.float64)


def ratio_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    """Return matches, lengths, and lengths of references; counts are not integers."""
    reference = random.gamma(4.0, 4.0, quality.shape[-1]) + 3.0
    length = SHORT * reference * np.exp(LENGTHS * random.standard_normal(quality.shape))
    matches = np.clip(PRECISION + SLOPE * quality, 0.0, 1.0) * length
    return np.stack([matches, length, np.broadcast_to(reference, quality.shape)], axis=-1)


def ratio_value(sums: Floats) -> Floats:
    matches, length, reference = np.moveaxis(sums, -1, 0)
    return np.asarray(100 * matches / length * np.exp(np.minimum(0.0, 1 - reference / length)))


METRICS: dict[
    str, tuple[Callable[[np.random.Generator, Floats], Floats], Callable[[Floats, int], Floats]]
] = {
    "mean": (mean_statistics, lambda sums, n: sums[..., 0] / n),
    "ratio": (ratio_statistics, lambda sums, n: ratio_value(sums)),
    "accuracy": (accuracy_statistics, lambda sums, n: 100 * sums[..., 0] / n),
}


def resample(
    random: np.random.Generator, setting: Setting, times: Floats
) -> tuple[list[Resampled], list[float]]:
    """Return systems on a simulated test set and its bootstrap samples, and the true scores of
    the first two."""
    systems, seeds, sentences = max(TOGETHER), setting.seeds, setting.sentences
    effects = np.where(np.arange(systems) == 1, EFFECT if setting.own else 0.0, 0.0)
    deviations = setting.deviation * np.exp(setting.spread * random.standard_normal(systems))
    quality = (
        LEVEL
        + effects[:, None, None]
        + deviations[:, None, None] * random.standard_normal((systems, seeds, 1))
        + DIFFICULTY * random.standard_normal(sentences)
        + setting.own * random.standard_normal((systems, 1, sentences))
        + SEED_AND_SENTENCE * random.standard_normal((systems, seeds, sentences))
    )
    statistics, value = METRICS[setting.metric]
    counts = statistics(random, quality)
    table = counts.transpose(2, 0, 1, 3).reshape(sentences, -1)
    samples = value((times @ table).reshape(len(times), *counts.shape[:2], -1), sentences)
    scores = value(counts.sum(2), sentences)
    resampled = [Resampled(scores[i], samples[:, i], ()) for i in range(systems)]
    return resampled, [setting.truth(effects[i], deviations[i]) for i in (0, 1)]


def shifted(system: Resampled, by: float | Floats) -> Resampled:
    """Return a system whose seeds score higher by the same or by other numbers."""
    return Resampled(system.scores + by, system.samples + by, ())


def run(setting: Setting, repetitions: int, samples: int) -> Trials:
    """Simulate one setting."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(setting.sentences, samples, SEED)))
    rows = []
    for repetition in range(repetitions):
        systems, truths = resample(random, setting, times)
        variances = [sample_variance(system) for system in systems]
        pools = [pool(variances[:count]) for count in TOGETHER]
        of_mean, families = (
            setting.metric == "mean",
            setting.systems == "same" and repetition % 4 == 0,
        )
        rows.append(
            (
                *two_systems(systems[0], systems[1], pools, truths),
                hardware(random, setting, systems) if of_mean else None,
                detect(setting, systems, pools) if of_mean and not setting.spread else None,
                noisier(random, setting, systems)
                if of_mean and setting.noise and not setting.spread
                else None,
                holm_claims(systems, pools) if families else None,
            )
        )
    columns = []
    for column in zip(*rows, strict=True):
        values = [value for value in column if value is not None]
        columns.append(np.array(values, dtype=np.float64))
    return Trials(*columns)


def two_systems(
    baseline: Resampled, system: Resampled, pools: Sequence[SeedVariance], truths: Sequence[float]
) -> tuple[Floats, Floats, Floats, Floats, Floats, bool]:
    """Return the p-values, coverage and widths of a difference and of one system, and whether
    scores are tied."""
    tested = [compare(baseline, system, known) for known in (UNKNOWN, *pools)]
    alone = [interval(baseline, known) for known in (UNKNOWN, *pools)]
    low, high, p = np.array([(one.low, one.high, one.p_value) for one in tested]).T
    first, last = np.array([(one.low, one.high) for one in alone]).T
    difference = truths[1] - truths[0]
    covered, single = (
        (low <= difference) & (difference <= high),
        (first <= truths[0]) & (truths[0] <= last),
    )
    tied = any(bool(np.ptp(one.scores) < 1e-9) for one in (baseline, system))
    return p, covered, high - low, single, last - first, tied


def hardware(random: np.random.Generator, setting: Setting, systems: Sequence[Resampled]) -> Floats:
    """Return whether paired and unpaired tests cover the difference where all systems of a seed
    share an effect."""
    effect = (
        HARDWARE * setting._replace(noise=1.0).deviation * random.standard_normal(setting.seeds)
    )
    moved = [shifted(system, effect) for system in systems]
    truth = EFFECT if setting.own else 0.0
    covered = np.empty((2, len(TOGETHER)))
    for column, count in enumerate(TOGETHER):
        pooled = pool([sample_variance(system) for system in moved[:count]])
        paired = compare_blocks(moved[0], moved[1], block_variance(moved[:count]))
        unpaired = compare(moved[0], moved[1], pooled)
        covered[:, column] = [one.low <= truth <= one.high for one in (paired, unpaired)]
    return covered


def noisier(random: np.random.Generator, setting: Setting, systems: Sequence[Resampled]) -> Floats:
    """Return whether the difference is covered where the noise of the second system is a
    multiple of the others'."""
    truth, effect = (
        EFFECT if setting.own else 0.0,
        setting.deviation * random.standard_normal(setting.seeds),
    )
    covered = np.empty((len(NOISIER), 1 + len(TOGETHER)))
    for row, multiple in enumerate(NOISIER):
        noisy = shifted(systems[1], math.sqrt(multiple**2 - 1) * effect)
        variances = [sample_variance(system) for system in (systems[0], noisy, *systems[2:])]
        pools = [pool(variances[:count]) for count in TOGETHER]
        tested = [compare(systems[0], noisy, pooled) for pooled in (UNKNOWN, *pools)]
        covered[row] = [difference.low <= truth <= difference.high for difference in tested]
    return covered


def detect(
    setting: Setting, systems: Sequence[Resampled], pools: Sequence[SeedVariance]
) -> list[bool]:
    """Return whether the smallest detectable difference, by number of systems, is significant
    after correction."""
    components = Components(setting.deviation**2, SEED_AND_SENTENCE**2, 2 * setting.own**2)
    effect = EFFECT if setting.own else 0.0
    found = []
    for count, pooled in zip(TOGETHER, pools, strict=True):
        smallest = components.smallest_difference(setting.seeds, setting.sentences, count - 1)
        difference = compare(systems[0], shifted(systems[1], smallest - effect), pooled)
        found.append(difference.p_value * (count - 1) < LEVELS[0])
    return found


def holm_claims(systems: Sequence[Resampled], pools: Sequence[SeedVariance]) -> list[bool]:
    """Return whether any difference to the first system is significant, by number of systems."""
    claims = []
    for count, pooled in zip(TOGETHER, pools, strict=True):
        p_values = [compare(systems[0], system, pooled).p_value for system in systems[1:count]]
        claims.append(min(holm(p_values)) < LEVELS[0])
    return claims


class Tied(NamedTuple):
    """Shares of p-values below .001 where neither system is better and the scores of all its
    seeds are equal."""

    seeds: int
    two_level: float
    moderated: float


def tied_seeds(
    seeds: int, draws: int, samples: int, sentences: int = 500, right: int = 350
) -> Tied:
    """Test `right` of all sentences, at random, against one more, with equal scores of all
    seeds."""
    random = np.random.default_rng(seeds)
    times = np.concatenate(list(resample_counts(sentences, samples, SEED)))
    significant = np.zeros(2)
    for _ in range(draws):
        systems = []
        for count in (right, right + 1):
            answers = random.permuted(
                np.tile(np.arange(sentences) < count, (seeds, 1)), axis=1
            ).astype(np.float64)
            systems.append(
                Resampled(100 * answers.mean(1), 100 * times @ answers.T / sentences, ())
            )
        baseline, system = systems
        tested = [compare(baseline, system, known) for known in (UNKNOWN, None)]
        significant += np.array([one.p_value for one in tested]) < LEVELS[-1]
    return Tied(seeds, *(significant / draws).tolist())


def joined(trials: Iterable[Trials]) -> Trials:
    """Return the repetitions of several settings as one.

    Arrays that a setting lacks are left out.
    """
    columns = []
    for column in zip(*trials, strict=True):
        parts = [part for part in column if len(part)]
        columns.append(np.concatenate(parts) if parts else np.empty(0))
    return Trials(*columns)


def summary(trials: Trials) -> dict[str, Any]:
    """Return the shares of one setting as JSON-like values, lists by method or by number of
    systems."""
    tied = trials.tied == 1
    values: dict[str, Any] = {
        "coverage": trials.covered.mean(0),
        "width": np.median(trials.width, axis=0) / np.median(trials.width[:, 0]),
        "single_coverage": trials.single_covered.mean(0),
        "single_width": np.median(trials.single_width, axis=0)
        / np.median(trials.single_width[:, 0]),
        "significant": {str(level): (trials.p < level).mean(0) for level in LEVELS},
        "tied": np.array(tied.sum()),
    }
    if tied.any():
        values["significant_tied"] = {
            str(level): (trials.p[tied] < level).mean(0) for level in LEVELS
        }
    for name in ("blocks", "found", "noisier", "families"):
        if len(getattr(trials, name)):
            values[name] = getattr(trials, name).mean(0)
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    return (
        {key: _plain(one) for key, one in value.items()}
        if isinstance(value, dict)
        else value.round(5).tolist()
    )


def show(title: str, columns: Sequence[str], rows: Iterable[Row], digits: int = 1) -> None:
    """Print a table of percentages."""
    print(f"\n{title}\n" + "".join(f"{column:>11}" for column in columns))
    for keys, shares in rows:
        print(
            "".join(
                [f"{key!s:>11}" for key in keys]
                + [f"{100 * share:11.{digits}f}" for share in shares]
            )
        )


def grouped(
    results: Mapping[Setting, Trials], systems: str | None = None
) -> dict[tuple[int, float], Trials]:
    """Return the repetitions of all settings by number of seeds and noise; those of `systems`
    alone where it is given."""
    groups: dict[tuple[int, float], list[Trials]] = {}
    for setting, trials in results.items():
        of_group = groups.setdefault((setting.seeds, setting.noise), [])
        if systems in (None, setting.systems):
            of_group.append(trials)
    return {keys: joined(trials) for keys, trials in groups.items() if trials}


def by_noise(results: Mapping[Setting, Trials]) -> list[dict[str, float | None]]:
    """Return a row for every number of seeds and noise, all other settings together: coverage by
    method; false positives at 5 % and the share of smallest detectable differences that is found,
    both of the test moderated by most systems."""
    null, rows = grouped(results, "same"), []
    for (seeds, noise), group in grouped(results).items():
        shares = zip(METHODS, group.covered.mean(0), strict=True)
        same = null.get((seeds, noise))
        rows.append(
            {
                "seeds": seeds,
                "noise": noise,
                **{f"coverage {method}": float(share) for method, share in shares},
                "false positives": float((same.p[:, -1] < LEVELS[0]).mean()) if same else None,
                "found": float(group.found[:, -1].mean()) if len(group.found) else None,
            }
        )
    return rows


def show_all(results: dict[Setting, Trials]) -> None:
    """Print all tables, settings of other metrics, systems and spreads together."""
    repetitions = len(next(iter(results.values())).p)
    groups, null = grouped(results), grouped(results, "same")
    print(
        f"{len(results)} settings of {repetitions} repetitions; moderated tests are named by their "
        "number of systems"
    )
    head = ["seeds", "noise"]
    for name, field in (("of a difference", "covered"), ("of one system", "single_covered")):
        rows = [(keys, getattr(group, field).mean(0)) for keys, group in groups.items()]
        show(f"coverage of 95 % intervals {name}, %", [*head, *METHODS], rows)
    for name, field in (("of a difference", "width"), ("of one system", "single_width")):
        medians = {
            setting: np.median(getattr(trials, field), axis=0)
            for setting, trials in results.items()
        }
        rows = []
        for keys in groups:
            settings = [one for one in results if (one.seeds, one.noise) == keys]
            relative = [medians[one] / medians[one][0] for one in settings]
            rows.append((keys, np.mean(relative, axis=0)))
        show(
            f"median width of intervals {name}, % of the two-level ones", [*head, *METHODS], rows, 0
        )
    for level in LEVELS:
        rows = [(keys, (group.p < level).mean(0)) for keys, group in null.items() if len(group.p)]
        show(f"false positives at {level}, %", [*head, *METHODS], rows, 2)
    tied_rows: list[Row] = []
    for count in dict.fromkeys(setting.seeds for setting in results):
        group = joined(group for keys, group in null.items() if keys[0] == count)
        tied = group.tied == 1
        if tied.any():
            for level in LEVELS:
                keys = (count, level, int(tied.sum()))
                tied_rows.append((keys, (group.p[tied] < level).mean(0)))
    show(
        "false positives where one system's seeds are tied, %",
        ["seeds", "at", "cases", *METHODS],
        tied_rows,
        2,
    )
    rows = [(keys, group.families.mean(0)) for keys, group in null.items() if len(group.families)]
    show("tables with any false claim (Holm, 5 %), %", [*head, *METHODS[1:]], rows)
    rows = [
        (keys, group.blocks.mean(0).ravel()) for keys, group in groups.items() if len(group.blocks)
    ]
    blocks = [f"{kind} {count}" for kind in ("paired", "unpaired") for count in TOGETHER]
    show("coverage with hardware effects of blocks, %", [*head, *blocks], rows)
    noisier_rows: list[Row] = []
    for keys, group in groups.items():
        if len(group.noisier):
            shares = zip(NOISIER, group.noisier.mean(0), strict=True)
            noisier_rows += [((*keys, multiple), share) for multiple, share in shares]
    show(
        "coverage where the second system has a multiple of the noise, %",
        [*head, "times", *METHODS],
        noisier_rows,
    )
    rows = [(keys, group.found.mean(0)) for keys, group in groups.items() if len(group.found)]
    show("smallest detectable differences that are found, %", [*head, *METHODS[1:]], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repetitions", type=int, default=1000, help="repetitions per setting (default 1000)"
    )
    parser.add_argument("--samples", type=int, default=250, help="bootstrap samples (default 250)")
    parser.add_argument(
        "--metrics", choices=METRICS, nargs="+", default=[*METRICS], help="(default all)"
    )
    parser.add_argument(
        "--systems", choices=["same", "different"], nargs="+", default=["same", "different"]
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[2, 3, 5, 10], help="(default 2 3 5 10)"
    )
    parser.add_argument("--sentences", type=int, default=200, help="(default 200)")
    parser.add_argument(
        "--noise", type=float, nargs="+", default=[0.0, 0.5, 1.0, 3.0], help="(default 0 0.5 1 3)"
    )
    parser.add_argument(
        "--spread", type=float, nargs="+", default=[0.0, SPREAD], help=f"(default 0 {SPREAD})"
    )
    parser.add_argument(
        "--draws", type=int, default=1000, help="draws of tied seeds (default 1000)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of tables"
    )
    arguments = parser.parse_args()
    grid = itertools.product(
        arguments.metrics,
        arguments.systems,
        arguments.seeds,
        arguments.noise,
        arguments.spread,
        [arguments.sentences],
    )
    results = {
        setting: run(setting, arguments.repetitions, arguments.samples)
        for setting in itertools.starmap(Setting, grid)
    }
    ties = [
        tied_seeds(seeds, arguments.draws, arguments.samples)
        for seeds in arguments.seeds
        if seeds < 4
    ]
    if arguments.json:
        settings = [{**setting._asdict(), **summary(trials)} for setting, trials in results.items()]
        head = {
            "repetitions": arguments.repetitions,
            "samples": arguments.samples,
            "methods": METHODS,
            "together": TOGETHER,
            "rows": by_noise(results),
        }
        print(
            json.dumps(
                {**head, "settings": settings, "ties": [one._asdict() for one in ties]}, indent=1
            )
        )
    else:
        show_all(results)
        rows = [((one.seeds,), one[1:]) for one in ties]
        show(
            "p < .001 for 350 of 500 right against 351, all seeds tied, %",
            ["seeds", *METHODS[:2]],
            rows,
        )


if __name__ == "__main__":
    main()
