"""How often 95 % intervals hold the true value, and how often the tests find a difference where there is none.

Systems are simulated whose true scores are known: a few seeds, a few hundred sentences. The score of a seed on a
sentence is made of the system's own level, the seed's (noise of training), the sentence's difficulty, what the system
does to the sentence, and what the seed does to it. `noise` is the standard deviation of seeds in training relative to
what the sentences alone make the seeds of one system differ by: 0 is no noise of training at all, 3 is nothing but;
seeds that differ by 0.3 to 0.5 BLEU on 1,000 sentences are near 1. `same`: both systems are one configuration;
`different`: one is better, and they find different sentences hard.

Scores are a mean (as accuracy) or a ratio like BLEU: two precisions and a brevity penalty from sums of counts. Beside
the two-level test of `augury.scoring.significance` stand percentiles of two plain bootstraps: the naive one draws seeds
and sentences again, the other one sentences alone. The last columns are of single systems' intervals. A share of 95 %
from 1,000 repetitions has a standard error of 0.7 points; what is outside 93 to 97 % by more than two is marked.

The second table: the share of tables of ten systems, all the same as their baseline, in which anything is found, after
Holm's correction and without one.
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
SLOPE = 0.08  # of precision against the score of a sentence
PRECISIONS = np.array([0.6, 0.35])
SHORT = 0.97  # hypotheses against references

Floats = NDArray[np.float64]


class Setting(NamedTuple):
    metric: str
    systems: str
    seeds: int
    sentences: int
    noise: float

    @property
    def deviation(self) -> float:
        """Of the seeds, in training."""
        return self.noise * SEED_AND_SENTENCE / math.sqrt(self.sentences)


class Outcome(NamedTuple):
    """Shares of the repetitions."""

    difference: float
    naive: float
    sentences_alone: float
    single: float
    naive_single: float


def simulated(random: np.random.Generator, setting: Setting, effects: Sequence[float]) -> Floats:
    """The score of every system and seed on every sentence, shape (systems, seeds, sentences)."""
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
    """Sums to be divided by the number of sentences."""
    return np.stack([LEVEL + quality, np.ones_like(quality)], axis=-1)


def mean_value(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def ratio_statistics(random: np.random.Generator, quality: Floats) -> Floats:
    """Matches and totals of two orders, and reference lengths; counts need not be whole."""
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
    """The score of a system over all seeds and sentences."""
    if setting.metric == "mean":
        return LEVEL + effect
    random = np.random.default_rng(SEED)
    own = SYSTEM if setting.systems == "different" else 0.0
    over_sentences = math.hypot(DIFFICULTY, own, SEED_AND_SENTENCE)
    sums = ratio_statistics(random, effect + over_sentences * random.standard_normal(1_000_000)).mean(0)
    # A seed's level moves its matches alone.
    of_seeds = np.tile(sums, (10_000, 1))
    of_seeds[:, :2] += SLOPE * setting.deviation * random.standard_normal((10_000, 1)) * sums[2:4]
    return float(ratio_value(of_seeds).mean())


def resampled(
    random: np.random.Generator, setting: Setting, effects: Sequence[float], times: Floats
) -> list[Resampled]:
    """Systems with these effects, scored on one simulated test set and on its draws."""
    statistics, value = METRICS[setting.metric]
    counts = statistics(random, simulated(random, setting, effects))
    systems, seeds, sentences, width = counts.shape
    table = counts.transpose(2, 0, 1, 3).reshape(sentences, -1)
    samples = value((times @ table).reshape(len(times), systems, seeds, width))
    return [Resampled(value(counts[each].sum(1)), samples[:, each], tuple(counts[each])) for each in range(systems)]


def drawn_again(random: np.random.Generator, system: Resampled) -> Floats:
    """The naive bootstrap: means over seeds that are drawn again in every sample of sentences."""
    seeds = random.integers(system.seeds, size=system.samples.shape)
    return np.asarray(np.take_along_axis(system.samples, seeds, axis=1).mean(1))


def cover(setting: Setting, repetitions: int) -> Outcome:
    """The shares of intervals that hold the true value."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(setting.sentences, SAMPLES, SEED)))
    effects = (0.0, EFFECT if setting.systems == "different" else 0.0)
    true_values = [truth(setting, effect) for effect in effects]
    true_difference = true_values[1] - true_values[0]
    held = np.zeros(len(Outcome._fields))
    for _ in range(repetitions):
        baseline, system = resampled(random, setting, effects, times)
        found, alone = compare(baseline, system), interval(baseline)
        naive, naive_system = (drawn_again(random, each) for each in (baseline, system))
        held += [
            found.low <= true_difference <= found.high,
            inside(naive_system - naive, true_difference),
            inside(system.samples.mean(1) - baseline.samples.mean(1), true_difference),
            alone.low <= true_values[0] <= alone.high,
            inside(naive, true_values[0]),
        ]
    return Outcome(*(held / repetitions).tolist())


def inside(samples: Floats, value: float) -> bool:
    """Whether a value lies between the percentiles of 95 %."""
    low, high = np.quantile(samples, [0.025, 0.975])
    return bool(low <= value <= high)


class Family(NamedTuple):
    """The shares of tables in which anything was found."""

    corrected: float
    uncorrected: float


def families(setting: Setting, repetitions: int, systems: int = 10) -> Family:
    """Tables of systems that are all the same as their baseline."""
    random = np.random.default_rng(list(repr(setting).encode()))
    times = np.concatenate(list(resample_counts(setting.sentences, SAMPLES, SEED)))
    found = np.zeros(2)
    for _ in range(repetitions):
        baseline, *others = resampled(random, setting, [0.0] * (1 + systems), times)
        p_values = [compare(baseline, other).p_value for other in others]
        found += [min(holm(p_values)) < 0.05, min(p_values) < 0.05]
    return Family(*(found / repetitions).tolist())


def verdict(share: float, repetitions: int) -> str:
    """Whether a coverage is outside 93 to 97 % by more than twice its standard error."""
    error = math.sqrt(share * (1 - share) / repetitions)
    return "too narrow" if share + 2 * error < 0.93 else "too wide" if share - 2 * error > 0.97 else ""


def plot(outcomes: dict[Setting, Outcome], file: str) -> None:
    """Coverage of the difference against noise, a panel for every number of seeds."""
    counts = sorted({each.seeds for each in outcomes})
    axes = [f"x{panel or ''}" for panel in (0, *range(2, len(counts) + 1))]
    shown = {
        "two-level test": ("difference", "#3f7be0", -0.1),
        "naive bootstrap": ("naive", "#d2691e", 0.0),
        "sentences alone": ("sentences_alone", "#7b828c", 0.1),
    }
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "title": {"text": "How often 95 % intervals of a difference hold the true difference"},
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
        of_count = {each: outcome for each, outcome in outcomes.items() if each.seeds == count}
        layout[axis.replace("x", "xaxis")] = {"title": {"text": f"noise of training, {count} seeds"}}
        for name, (field, colour, aside) in shown.items():
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "legendgroup": name,
                    "showlegend": axis == "x",
                    "x": [each.noise + aside for each in of_count],
                    "xaxis": axis,
                    "yaxis": "y",
                    "y": [100 * getattr(outcome, field) for outcome in of_count.values()],
                    "text": [f"{each.metric}, {each.systems} systems, {each.sentences} sentences" for each in of_count],
                    "marker": {"color": colour, "size": 8, "opacity": 0.8},
                }
            )
    write_html({"data": traces, "layout": layout}, file, include_plotlyjs=True)


def show_coverage(outcomes: dict[Setting, Outcome], repetitions: int) -> None:
    print(f"{repetitions} repetitions, {SAMPLES} resampled test sets; % of 95 % intervals that hold the true value")
    print(
        f"{'metric':8}{'systems':11}{'seeds':>5}{'sentences':>10}{'noise':>6}  "
        f"{'two-level':>10}{'naive':>7}{'sentences':>11}{'one system':>12}{'naive':>7}"
    )
    for setting, outcome in outcomes.items():
        shares = [f"{100 * share:.1f}" for share in outcome]
        print(
            f"{setting.metric:8}{setting.systems:11}{setting.seeds:5}{setting.sentences:10}{setting.noise:6.1f}  "
            f"{shares[0]:>10}{shares[1]:>7}{shares[2]:>11}{shares[3]:>12}{shares[4]:>7}  "
            f"{verdict(outcome.difference, repetitions)}"
        )
    null = [100 * (1 - outcome.difference) for setting, outcome in outcomes.items() if setting.systems == "same"]
    print(f"false positives at 5 %: mean {np.mean(null):.1f} %, largest {max(null):.1f} %")


def show_families(found: dict[Setting, Family]) -> None:
    print("\nfalse positives in tables of ten: % of tables in which anything is found")
    print(f"{'metric':8}{'seeds':>5}{'sentences':>10}{'noise':>6}  {'Holm':>6}{'uncorrected':>13}")
    for setting, family in found.items():
        print(
            f"{setting.metric:8}{setting.seeds:5}{setting.sentences:10}{setting.noise:6.1f}  "
            f"{100 * family.corrected:6.1f}{100 * family.uncorrected:13.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000, help="of every setting (default 1000)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 5, 10], help="(default 3 5 10)")
    parser.add_argument("--sentences", type=int, nargs="+", default=[200, 1000], help="(default 200 1000)")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.5, 1.0, 3.0], help="(default 0 0.5 1 3)")
    parser.add_argument("--plot", metavar="FILE", help="write the coverage as a chart (HTML)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    arguments = parser.parse_args()
    chosen = [
        Setting(*each)
        for each in itertools.product(
            METRICS, ("same", "different"), arguments.seeds, arguments.sentences, arguments.noise
        )
    ]
    outcomes = {setting: cover(setting, arguments.repetitions) for setting in chosen}
    smallest = [each for each in chosen if each.systems == "same" and each.sentences == arguments.sentences[0]]
    tables = {setting: families(setting, arguments.repetitions) for setting in smallest}
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
