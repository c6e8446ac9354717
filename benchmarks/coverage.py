"""Measure the coverage of 95 % intervals and the false positive rate of the tests by simulation.

Systems with known true scores are simulated with a few seeds and a few hundred sentences. The score of a seed on a
sentence is the sum of effects of the system, the seed (training noise), the sentence (difficulty), and the interactions
of system and sentence and of seed and sentence. `noise` is the standard deviation of the seed effect relative to the
deviation between seeds that the sentences alone cause: 0 is no training noise, 3 almost only training noise; seeds that
differ by 0.3 to 0.5 BLEU on 1,000 sentences are near 1. `same`: both systems are the same configuration; `different`:
one is better, and they find different sentences difficult.

Scores are a mean (like accuracy) or a ratio like BLEU: two precisions and a brevity penalty from sums of counts. The
two-level test of `augury.scoring.significance` is compared with percentiles of two plain bootstraps: the naive one
resamples seeds and sentences, the other only sentences. The last columns are for intervals of single systems. A share
of 95 % from 1,000 repetitions has a standard error of 0.7 points; shares outside 93 to 97 % by more than two standard
errors are marked.

The second table is the share of tables of ten systems, all equal to their baseline, with any significant difference,
with Holm's correction and without.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from plotly.io import write_html

from augury.scoring.bootstrap import SAMPLES, SEED, Resampled, resample_counts
from augury.scoring.significance import compare, holm, interval

DIFFICULTY, SYSTEM, SEED_AND_SENTENCE = 0.8, 0.3, 0.55  # standard deviations over sentences; the total is about 1
LEVEL, EFFECT = 50.0, 0.05  # of the mean
SLOPE = 0.08  # of precision as a function of a sentence's score
PRECISIONS = np.array([0.6, 0.35])
SHORT = 0.97  # length ratio of hypotheses to references

Floats = NDArray[np.float64]


class Setting(NamedTuple):
    metric: str
    systems: str
    seeds: int
    sentences: int
    noise: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the seed effect."""
        return self.noise * SEED_AND_SENTENCE / math.sqrt(self.sentences)


class Outcome(NamedTuple):
    """The coverage of each kind of interval, as a share of the repetitions."""

    difference: float
    naive: float
    sentences_alone: float
    single: float
    naive_single: float


def simulate(random: np.random.Generator, setting: Setting, effects: Sequence[float]) -> Floats:
    """Return the score of every system and seed on every sentence, shape (systems, seeds, sentences)."""
    systems, seeds, sentences = len(effects), setting.seeds, setting.sentences
    own = SYSTEM if setting.systems == "different" else 0.0
    return (
        np.array(effects)[:, None, None]
        + setting.deviation * random.standard_normal((systems, seeds, 1))
        + DIFFICULTY * random.standard_normal(sentences)
        + own * random.standard_normal((systems, 1, sentences))
        + SEED_AND_SENTENCE * random.standard_normal((systems, seeds, sentences))
    )


def mean_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    """Return the statistics of means: scores and counts."""
    return np.stack([LEVEL + quality, np.ones_like(quality)], axis=-1)


def mean_value(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def ratio_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    """Return matches and totals of two orders, and reference lengths; counts are not integers."""
    reference = random.gamma(4.0, 4.0, quality.shape[-1]) + 3.0
    length = SHORT * reference * np.exp(0.1 * random.standard_normal(quality.shape))
    precisions = np.clip(PRECISIONS + SLOPE * quality[..., None], 0.0, 1.0)
    totals = np.stack([length, length - 1.0], axis=-1)
    lengths = np.broadcast_to(reference, quality.shape)[..., None]
    return np.concatenate([precisions * totals, totals, lengths], axis=-1)


def ratio_value(sums: Floats) -> Floats:
    precision = np.exp(np.log(sums[..., :2] / sums[..., 2:4]).mean(-1))
    return np.asarray(100 * precision * np.exp(np.minimum(0.0, 1 - sums[..., 4] / sums[..., 2])))


METRICS: dict[str, tuple[Callable[[np.random.Generator, Floats], Floats], Callable[[Floats], Floats]]] = {
    "mean": (mean_statistics, mean_value),
    "ratio": (ratio_statistics, ratio_value),
}


@lru_cache
def truth(setting: Setting, effect: float) -> float:
    """Return the score of a system over all seeds and sentences."""
    if setting.metric == "mean":
        return LEVEL + effect
    random = np.random.default_rng(SEED)
    own = SYSTEM if setting.systems == "different" else 0.0
    deviation = math.hypot(DIFFICULTY, own, SEED_AND_SENTENCE)
    sums = ratio_statistics(random, effect + deviation * random.standard_normal(1_000_000)).mean(0)
    # The seed effect only changes the matches.
    by_seed = np.tile(sums, (10_000, 1))
    by_seed[:, :2] += SLOPE * setting.deviation * random.standard_normal((10_000, 1)) * sums[2:4]
    return float(ratio_value(by_seed).mean())


def resample(random: np.random.Generator, setting: Setting, effects: Sequence[float], times: Floats) -> list[Resampled]:
    """Return systems with these effects, scored on a simulated test set and its bootstrap samples."""
    statistics, value = METRICS[setting.metric]
    counts = statistics(random, simulate(random, setting, effects))
    systems, seeds, sentences, width = counts.shape
    table = counts.transpose(2, 0, 1, 3).reshape(sentences, -1)
    samples = value((times @ table).reshape(len(times), systems, seeds, width))
    return [Resampled(value(counts[i].sum(1)), samples[:, i], tuple(counts[i])) for i in range(systems)]


def naive_bootstrap(random: np.random.Generator, system: Resampled) -> Floats:
    """Return the means over seeds that are resampled together with the sentences."""
    seeds = random.integers(system.seeds, size=system.samples.shape)
    return np.asarray(np.take_along_axis(system.samples, seeds, axis=1).mean(1))


def cover(setting: Setting, repetitions: int) -> Outcome:
    """Return the coverage of all intervals."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(setting.sentences, SAMPLES, SEED)))
    effects = (0.0, EFFECT if setting.systems == "different" else 0.0)
    true_values = [truth(setting, effect) for effect in effects]
    true_difference = true_values[1] - true_values[0]
    covered = np.zeros(len(Outcome._fields))
    for _ in range(repetitions):
        baseline, system = resample(random, setting, effects, times)
        difference, single = compare(baseline, system), interval(baseline)
        naive_baseline, naive_system = (naive_bootstrap(random, resampled) for resampled in (baseline, system))
        covered += [
            difference.low <= true_difference <= difference.high,
            inside(naive_system - naive_baseline, true_difference),
            inside(system.samples.mean(1) - baseline.samples.mean(1), true_difference),
            single.low <= true_values[0] <= single.high,
            inside(naive_baseline, true_values[0]),
        ]
    return Outcome(*(covered / repetitions).tolist())


def inside(samples: Floats, value: float) -> bool:
    """Return whether a value lies within the 95 % percentile interval."""
    low, high = np.quantile(samples, [0.025, 0.975])
    return bool(low <= value <= high)


class Family(NamedTuple):
    """The shares of tables with any significant difference."""

    corrected: float
    uncorrected: float


def families(setting: Setting, repetitions: int, systems: int = 10) -> Family:
    """Return the family-wise error rates in tables of systems that equal their baseline."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(setting.sentences, SAMPLES, SEED)))
    significant = np.zeros(2)
    for _ in range(repetitions):
        baseline, *others = resample(random, setting, [0.0] * (1 + systems), times)
        p_values = [compare(baseline, other).p_value for other in others]
        significant += [min(holm(p_values)) < 0.05, min(p_values) < 0.05]
    return Family(*(significant / repetitions).tolist())


def mark(share: float, repetitions: int) -> str:
    """Return the mark of a coverage that is outside 93 to 97 % by more than twice its standard error."""
    error = math.sqrt(share * (1 - share) / repetitions)
    return "too narrow" if share + 2 * error < 0.93 else "too wide" if share - 2 * error > 0.97 else ""


def plot(outcomes: dict[Setting, Outcome], file: str) -> None:
    """Plot the coverage of the difference against noise, with a panel per number of seeds."""
    counts = sorted({setting.seeds for setting in outcomes})
    axes = [f"x{panel or ''}" for panel in (0, *range(2, len(counts) + 1))]
    series = {
        "two-level test": ("difference", "#3f7be0", -0.1),
        "naive bootstrap": ("naive", "#d2691e", 0.0),
        "sentences alone": ("sentences_alone", "#7b828c", 0.1),
    }
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "title": {"text": "Coverage of 95 % intervals of a difference"},
        "grid": {"rows": 1, "columns": len(counts), "subplots": [[axis + "y" for axis in axes]]},
        "shapes": [
            {
                "type": "rect",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 93,
                "y1": 97,
                "fillcolor": "#2a9461",
                "opacity": 0.15,
                "line": {"width": 0},
            }
        ],
        "yaxis": {"title": {"text": "coverage, %"}},
        "template": "plotly_white",
    }
    for axis, count in zip(axes, counts, strict=True):
        panel = {setting: outcome for setting, outcome in outcomes.items() if setting.seeds == count}
        layout[axis.replace("x", "xaxis")] = {"title": {"text": f"training noise, {count} seeds"}}
        for name, (field, colour, offset) in series.items():
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "legendgroup": name,
                    "showlegend": axis == "x",
                    "x": [setting.noise + offset for setting in panel],
                    "xaxis": axis,
                    "yaxis": "y",
                    "y": [100 * getattr(outcome, field) for outcome in panel.values()],
                    "text": [f"{s.metric}, {s.systems} systems, {s.sentences} sentences" for s in panel],
                    "marker": {"color": colour, "size": 8, "opacity": 0.8},
                }
            )
    write_html({"data": traces, "layout": layout}, file, include_plotlyjs=True)


def show_coverage(outcomes: dict[Setting, Outcome], repetitions: int) -> None:
    print(f"{repetitions} repetitions, {SAMPLES} bootstrap samples; coverage of 95 % intervals in %")
    print(
        f"{'metric':8}{'systems':11}{'seeds':>5}{'sentences':>10}{'noise':>6}  "
        f"{'two-level':>10}{'naive':>7}{'sentences':>11}{'one system':>12}{'naive':>7}"
    )
    for setting, outcome in outcomes.items():
        shares = [f"{100 * share:.1f}" for share in outcome]
        print(
            f"{setting.metric:8}{setting.systems:11}{setting.seeds:5}{setting.sentences:10}{setting.noise:6.1f}  "
            f"{shares[0]:>10}{shares[1]:>7}{shares[2]:>11}{shares[3]:>12}{shares[4]:>7}  "
            f"{mark(outcome.difference, repetitions)}"
        )
    null = [100 * (1 - outcome.difference) for setting, outcome in outcomes.items() if setting.systems == "same"]
    print(f"false positives at 5 %: mean {np.mean(null):.1f} %, largest {max(null):.1f} %")


def show_families(tables: dict[Setting, Family]) -> None:
    print("\nfalse positives in tables of ten: % of tables with any significant difference")
    print(f"{'metric':8}{'seeds':>5}{'sentences':>10}{'noise':>6}  {'Holm':>6}{'uncorrected':>13}")
    for setting, family in tables.items():
        print(
            f"{setting.metric:8}{setting.seeds:5}{setting.sentences:10}{setting.noise:6.1f}  "
            f"{100 * family.corrected:6.1f}{100 * family.uncorrected:13.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000, help="repetitions per setting (default 1000)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 5, 10], help="(default 3 5 10)")
    parser.add_argument("--sentences", type=int, nargs="+", default=[200, 1000], help="(default 200 1000)")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.5, 1.0, 3.0], help="(default 0 0.5 1 3)")
    parser.add_argument("--plot", metavar="FILE", help="write the coverage as a chart (HTML)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    arguments = parser.parse_args()
    grid = itertools.product(METRICS, ("same", "different"), arguments.seeds, arguments.sentences, arguments.noise)
    settings = [Setting(*values) for values in grid]
    outcomes = {setting: cover(setting, arguments.repetitions) for setting in settings}
    null = [
        setting for setting in settings if setting.systems == "same" and setting.sentences == arguments.sentences[0]
    ]
    tables = {setting: families(setting, arguments.repetitions) for setting in null}
    if arguments.plot:
        plot(outcomes, arguments.plot)
    if arguments.json:
        print(
            json.dumps(
                {
                    "repetitions": arguments.repetitions,
                    "samples": SAMPLES,
                    "coverage": [{**setting._asdict(), **outcome._asdict()} for setting, outcome in outcomes.items()],
                    "families": [{**setting._asdict(), **family._asdict()} for setting, family in tables.items()],
                },
                indent=1,
            )
        )
    else:
        show_coverage(outcomes, arguments.repetitions)
        show_families(tables)


if __name__ == "__main__":
    main()
