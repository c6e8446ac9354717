"""How often do 95 % intervals hold the truth, how often is nothing called a difference, and how
often is the smallest detectable difference found?

    python -m benchmarks.coverage [--repetitions 1000] [--seeds 2 3 5 10] [--noise 0 0.5 1 3]

Five systems with known true scores are trained with a few seeds and tested on a few hundred
sentences. The quality of a seed on a sentence is the sum of effects of the system, the seed
(training noise), the sentence (difficulty), and of the interactions of system and sentence and of
seed and sentence. `noise` is the standard deviation of the seed effect relative to the deviation
between seeds that the sentences alone cause: 0 is no training noise, 3 almost only training noise;
seeds that differ by 0.3 to 0.5 BLEU on 1,000 sentences are near 1. With `spread`, noise differs
between systems (log-normal). `same`: all systems are one configuration; `different`: they find
different sentences difficult, and the second is better. Scores are a mean, a ratio (a precision and
a brevity penalty from sums, like BLEU) or an accuracy (0 or 1 a sentence, so that seeds often have
equal scores).

Columns, in percent: `difference`, `system`: intervals that hold the truth; `p < .05` and so on:
differences of equal systems that are called significant, without correction; `family`: tables of
equal systems with any significant difference by Holm; `blocks`: intervals of paired seeds that hold
the truth where all systems of a seed share an effect of hardware; `noisier`: intervals that hold
the truth where one system has three times the noise of the others; `found`: differences that
`augury.scoring.power` calls the smallest detectable ones, and that are found (80 is right).

What to expect: a coverage between 93 and 97 % and false positives of at most the nominal rate, with
two exceptions. Where two or three seeds differ by no more than sentences explain, training noise
may be absent or several times as large: a test that is valid for large noise is wide there, and
covers up to 100 % at noise 0 to 1. And moderation assumes that systems are alike: a single one with
three times the noise of the others has intervals that are too narrow for few seeds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from augury.scoring.bootstrap import SEED, Resampled, resample_counts
from augury.scoring.power import Components
from augury.scoring.seed_variance import block_variance, pool, sample_variance
from augury.scoring.significance import compare, compare_blocks, holm, interval
from benchmarks import frame

# Standard deviations over sentences; the total is about 1.
DIFFICULTY, SYSTEM, SEED_AND_SENTENCE = 0.8, 0.3, 0.55
LEVEL, EFFECT = 0.5, 0.05
"""The quality of the systems, and what the second of `different` ones is better by."""
PRECISION, SLOPE, SHORT, LENGTHS = 0.45, 0.08, 0.97, 0.03
"""Of the ratio: length and its deviation are relative."""
SPREAD, HARDWARE, NOISIER = 0.4, 3.0, 3.0
SYSTEMS, SENTENCES = 5, 200
LEVELS = (0.05, 0.01, 0.001)

Floats = NDArray[np.float64]


class Setting(NamedTuple):
    metric: str
    systems: str
    seeds: int
    noise: float
    spread: float

    @property
    def own(self) -> float:
        """The standard deviation of the interaction of systems and sentences."""
        return SYSTEM if self.systems == "different" else 0.0

    @property
    def effect(self) -> float:
        """What the second system is better by, in the unit of quality."""
        return EFFECT if self.own else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the seed effect, in the unit of quality."""
        interaction = SEED_AND_SENTENCE
        if self.metric == "accuracy":
            # The deviation of right and wrong answers, by the slope of their share.
            both = math.hypot(DIFFICULTY, self.own, SEED_AND_SENTENCE)
            h = LEVEL / both
            density = math.exp(-h * h / 2) / math.sqrt(2 * math.pi) / both
            correlation = 1 - (SEED_AND_SENTENCE / both) ** 2
            ratio = math.sqrt((1 - correlation) / (1 + correlation))
            interaction = math.sqrt(2 * owens_t(h, ratio)) / density
        return self.noise * interaction / math.sqrt(SENTENCES)

    def truth(self, effect: float, deviation: float) -> float:
        """Return the score of a system over all seeds and sentences."""
        if self.metric == "accuracy":
            total = math.hypot(DIFFICULTY, self.own, SEED_AND_SENTENCE, deviation)
            return 100 * float(ndtr((LEVEL + effect) / total))
        if self.metric == "ratio":
            penalty = math.exp(1 - 1 / (SHORT * math.exp(LENGTHS**2 / 2)))
            return 100 * (PRECISION + SLOPE * (LEVEL + effect)) * penalty
        return LEVEL + effect


def mean_counts(random: np.random.Generator, quality: Floats) -> Floats:
    return quality[..., None]


def accuracy_counts(random: np.random.Generator, quality: Floats) -> Floats:
    return (quality > 0)[..., None].astype(np.float64)


def ratio_counts(random: np.random.Generator, quality: Floats) -> Floats:
    """Return matches, lengths, and lengths of references; counts are not integers."""
    reference = random.gamma(4.0, 4.0, quality.shape[-1]) + 3.0
    length = SHORT * reference * np.exp(LENGTHS * random.standard_normal(quality.shape))
    matches = np.clip(PRECISION + SLOPE * quality, 0.0, 1.0) * length
    return np.stack([matches, length, np.broadcast_to(reference, quality.shape)], axis=-1)


def ratio_value(sums: Floats) -> Floats:
    matches, length, reference = np.moveaxis(sums, -1, 0)
    return np.asarray(100 * matches / length * np.exp(np.minimum(0.0, 1 - reference / length)))


METRICS: dict[str, tuple[Callable[..., Floats], Callable[[Floats], Floats]]] = {
    "mean": (mean_counts, lambda sums: sums[..., 0] / SENTENCES),
    "ratio": (ratio_counts, ratio_value),
    "accuracy": (accuracy_counts, lambda sums: 100 * sums[..., 0] / SENTENCES),
}


def drawn(
    random: np.random.Generator, setting: Setting, times: Floats
) -> tuple[list[Resampled], list[float]]:
    """Return systems on a simulated test set and its bootstrap samples, and the true scores of
    the first two."""
    effects = np.zeros(SYSTEMS)
    effects[1] = setting.effect
    deviations = setting.deviation * np.exp(setting.spread * random.standard_normal(SYSTEMS))
    shape = SYSTEMS, setting.seeds
    quality = (
        LEVEL
        + effects[:, None, None]
        + deviations[:, None, None] * random.standard_normal((*shape, 1))
        + DIFFICULTY * random.standard_normal(SENTENCES)
        + setting.own * random.standard_normal((SYSTEMS, 1, SENTENCES))
        + SEED_AND_SENTENCE * random.standard_normal((*shape, SENTENCES))
    )
    counted, value = METRICS[setting.metric]
    counts = counted(random, quality)
    table = counts.transpose(2, 0, 1, 3).reshape(SENTENCES, -1)
    samples = value((times @ table).reshape(len(times), *shape, -1))
    scores = value(counts.sum(2))
    systems = [Resampled(scores[i], samples[:, i], ()) for i in range(SYSTEMS)]
    return systems, [setting.truth(effects[i], deviations[i]) for i in (0, 1)]


def shifted(system: Resampled, by: float | Floats) -> Resampled:
    """Return a system whose seeds score higher by the same or by other numbers."""
    return Resampled(system.scores + by, system.samples + by, ())


def run(setting: Setting, repetitions: int, samples: int) -> dict[str, float]:
    """Simulate one setting; return the shares of its columns."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(SENTENCES, samples, SEED)))
    rows = [repetition(random, setting, *drawn(random, setting, times)) for _ in range(repetitions)]
    return {str(name): float(share) for name, share in pd.DataFrame(rows).mean().items()}


def repetition(
    random: np.random.Generator,
    setting: Setting,
    systems: Sequence[Resampled],
    truths: Sequence[float],
) -> dict[str, bool]:
    """Return what holds of one simulated table."""
    baseline, second = systems[:2]
    truth = truths[1] - truths[0]
    pooled = pool([sample_variance(system) for system in systems])
    tested, alone = compare(baseline, second, pooled), interval(baseline, pooled)
    holds = {
        "difference": tested.low <= truth <= tested.high,
        "system": alone.low <= truths[0] <= alone.high,
    }
    if setting.systems == "same":
        p_values = [compare(baseline, system, pooled).p_value for system in systems[1:]]
        holds |= {f"p < {level:g}": tested.p_value < level for level in LEVELS}
        holds["family"] = min(holm(p_values)) < LEVELS[0]
    if setting.metric != "mean":
        return holds
    unit = setting._replace(noise=1.0).deviation
    effect = HARDWARE * unit * random.standard_normal(setting.seeds)
    moved = [shifted(system, effect) for system in systems]
    paired = compare_blocks(moved[0], moved[1], block_variance(moved))
    holds["blocks"] = paired.low <= setting.effect <= paired.high
    if setting.spread:
        return holds
    effect = setting.deviation * random.standard_normal(setting.seeds)
    noisy = shifted(second, math.sqrt(NOISIER**2 - 1) * effect)
    variances = [sample_variance(system) for system in (baseline, noisy, *systems[2:])]
    tested = compare(baseline, noisy, pool(variances))
    holds["noisier"] = tested.low <= setting.effect <= tested.high
    components = Components(setting.deviation**2, SEED_AND_SENTENCE**2, 2 * setting.own**2)
    smallest = components.smallest_difference(setting.seeds, SENTENCES, SYSTEMS - 1)
    better = shifted(second, smallest - setting.effect)
    p_value = compare(baseline, better, pooled).p_value
    holds["found"] = p_value * (SYSTEMS - 1) < LEVELS[0]
    return holds


def tied_seeds(seeds: int, draws: int, samples: int) -> float:
    """Return the share of p-values below .001 where 350 of 500 sentences, at random, are tested
    against 351, with equal scores of all seeds."""
    random, sentences = np.random.default_rng(seeds), 500
    times = np.concatenate(list(resample_counts(sentences, samples, SEED)))
    significant = 0
    for _ in range(draws):
        systems = []
        for right in (350, 351):
            one = np.tile(np.arange(sentences) < right, (seeds, 1))
            answers = random.permuted(one, axis=1).astype(np.float64)
            drawn = 100 * times @ answers.T / sentences
            systems.append(Resampled(100 * answers.mean(1), drawn, ()))
        significant += compare(*systems).p_value < LEVELS[-1]
    return significant / draws


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repetitions", type=int, default=1000, help="of a setting")
    parser.add_argument("--samples", type=int, default=250, help="bootstrap samples")
    parser.add_argument("--metrics", choices=METRICS, nargs="+", default=[*METRICS])
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.5, 1.0, 3.0])
    parser.add_argument("--spread", type=float, nargs="+", default=[0.0, SPREAD])
    arguments = parser.parse_args()
    systems = ("same", "different")
    grid = itertools.product(
        arguments.metrics, systems, arguments.seeds, arguments.noise, arguments.spread
    )
    rows = []
    for setting in itertools.starmap(Setting, grid):
        shares = run(setting, arguments.repetitions, arguments.samples)
        percent = {name: 100 * share for name, share in shares.items()}
        rows.append({**setting._asdict(), **percent})
    ties = {
        f"p < .001 of {seeds} tied seeds": tied_seeds(seeds, 1000, arguments.samples)
        for seeds in arguments.seeds
        if seeds < 4
    }
    frame.report(arguments, {"repetitions": arguments.repetitions, **ties}, rows)


if __name__ == "__main__":
    main()
