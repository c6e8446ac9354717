"""Measure how often successive halving over groups of seeds finds the best one, and at what cost.

    python -m benchmarks.halving [--repetitions 200] [--seed 1] [--json] [--plot FILE]

    all seeds           trains every configuration with every seed to the end and chooses the best
                        mean: the baseline
    race                augury.sweeping.race.Race with its defaults, as `augury sweep` runs it
    one seed, then all  trains one seed of every configuration to the end, then all seeds of the
                        best few, just enough to cost at least as much as the race
    halving, all seeds  successive halving on the mean of all seeds; of the settings that cost at
                        most a third of the baseline, the one that finds the best configuration
                        most often
    halving, one seed   successive halving with one seed; of all settings, the one that finds the
                        best configuration most often. The asynchronous variant (ASHA) makes the
                        same decisions with less information
    one seed            trains one seed of every configuration to the end

`found` is the share of repetitions in which the truly best configuration is chosen, `lost` the gap
between it and the chosen one in points of the metric, `cost` the training as a share of the
baseline's. `found - all` is the difference to the baseline, paired by repetition because both see
the same runs. All have their standard errors.

A simulated surface has 50 configurations with up to 5 seeds. A configuration's true value at the
end of training is the best's minus a gap, which is at most 1 point for contenders. Its curve is a
power law that ends there, y(t) = value - b (1/t^c - 1) at the fraction t of training, with b
log-normal around 1.5 and c uniform on [0.3, 0.9], so that curves cross. The noise of a seed is
normal, correlated along the run (0.7 between half of training and the end) and larger early (by
1/t^0.3). There are 36 validations; a run's value is its best validation so far.

    usual               10 contenders, gaps from 0.2; standard deviation between seeds 0.4
    easy                4 contenders, gaps from 0.5
    crowded             20 contenders, gaps from 0.1
    noisy               as usual, with a standard deviation of 0.8
    uneven              as usual, with a standard deviation per configuration between 0.2 and 0.8
    astray              as usual, but one run in 50 fails and stays 10 points below
    late bloomers       as usual, but the best start slowly: correlation of value and log b 0.7
    very late bloomers  the ranking at half of training misleads: correlation 0.9, b around 3

`order at 1/2` is Spearman's correlation of a single run's value at half of training with the true
values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots
from scipy.stats import norm, rankdata

from augury.core.rng import generator
from augury.sweeping.race import Race, rungs
from benchmarks import frame

CONFIGURATIONS, SEEDS, VALIDATIONS = 50, 5, 36
SETTINGS = list(product((2, 3, 4), (1 / 18, 1 / 9, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3)))
MARKERS = (
    ("#7b828c", "circle"),
    ("#d8485a", "star"),
    ("#2a9461", "square"),
    ("#a25fd0", "diamond"),
    ("#3f7be0", "triangle-up"),
    ("#d2691e", "cross"),
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Surface:
    """The parameters of a simulated surface."""

    contenders: int = 10
    """Number of configurations within 1 point of the best, including it.

    The others are 1 to 6 points below.
    """
    nearest: float = 0.2
    """Smallest gap of a contender."""
    deviation: float = 0.4
    """Standard deviation between seeds at the end of training, in points."""
    uneven: float = 1.0
    """Maximum factor between a configuration's deviation and `deviation`, in both directions."""
    astray: float = 0.0
    """Share of runs that stay 10 points below their true value."""
    late: float = 0.0
    """Correlation of the true value with log b."""
    missing: float = 1.5
    """Median of b."""


SURFACES = {
    "usual": Surface(),
    "easy": Surface(contenders=4, nearest=0.5),
    "crowded": Surface(contenders=20, nearest=0.1),
    "noisy": Surface(deviation=0.8),
    "uneven": Surface(uneven=2.0),
    "astray": Surface(astray=0.02),
    "late bloomers": Surface(late=0.7),
    "very late bloomers": Surface(late=0.9, missing=3),
}


class Sample(NamedTuple):
    """Simulated repetitions of a sweep."""

    truth: Floats
    """Shape (repetitions, configurations)."""
    values: Floats
    """The best validation so far, shape (repetitions, configurations, seeds, validations)."""

    @property
    def order_at_half_time(self) -> float:
        """Spearman's correlation of a single run's value at half of training with the true
        values."""
        early = rankdata(self.values[:, :, 0, VALIDATIONS // 2 - 1], axis=1)
        return float(
            np.mean(
                [
                    np.corrcoef(*pair)[0, 1]
                    for pair in zip(early, rankdata(self.truth, axis=1), strict=True)
                ]
            )
        )


def draw(surface: Surface, repetitions: int, *key: int | str) -> Sample:
    """Return random surfaces with all their runs."""
    random = generator("halving", *key)
    shape = repetitions, CONFIGURATIONS
    others = CONFIGURATIONS - surface.contenders
    gaps = np.hstack(
        [
            np.zeros((repetitions, 1)),
            random.uniform(surface.nearest, 1, (repetitions, surface.contenders - 1)),
            random.uniform(1, 6, (repetitions, others)),
        ]
    )
    truth = 30 - random.permuted(gaps, axis=1)
    normal_scores = norm.ppf((rankdata(truth, axis=1) - 0.5) / CONFIGURATIONS)
    log_b = surface.late * normal_scores + math.sqrt(1 - surface.late**2) * random.standard_normal(
        shape
    )
    b, c = surface.missing * np.exp(0.4 * log_b), random.uniform(0.3, 0.9, shape)
    t = np.arange(1, VALIDATIONS + 1) / VALIDATIONS
    curves = truth[..., None] - b[..., None] * (t ** -c[..., None] - 1)
    correlation = 0.7 ** np.abs(np.subtract.outer(np.log2(t), np.log2(t)))
    noise = (
        random.standard_normal((*shape, SEEDS, VALIDATIONS))
        @ np.linalg.cholesky(correlation).T
        * t**-0.3
    )
    deviation = surface.deviation * surface.uneven ** random.uniform(-1, 1, shape)
    failure = 10.0 * (random.random((*shape, SEEDS, 1)) < surface.astray)
    runs = curves[:, :, None] - failure + deviation[..., None, None] * noise
    return Sample(truth, np.maximum.accumulate(runs, axis=-1))


class Picks(NamedTuple):
    """The chosen configurations and costs as a share of the baseline's, both of shape
    (repetitions,)."""

    chosen: NDArray[np.int64]
    cost: Floats


def repeats_of_best(values: Floats, count: int) -> Picks:
    """Train one seed of every configuration to the end, then all seeds of the best `count`."""
    first, means = values[:, :, 0, -1], values[..., -1].mean(-1)
    considered = rankdata(-first, axis=1) <= count
    cost = (CONFIGURATIONS + count * (SEEDS - 1)) / (CONFIGURATIONS * SEEDS)
    return Picks(np.where(considered, means, -np.inf).argmax(1), np.full(len(values), cost))


def halving(values: Floats, seeds: int, reduction: int, first: float) -> Picks:
    """Run successive halving on the mean of the first `seeds`."""
    means = values[:, :, :seeds].mean(2)
    racing, left, spent, previous = np.ones(means.shape[:2], bool), CONFIGURATIONS, 0.0, 0
    for rung in rungs(VALIDATIONS, reduction, first):
        validation = VALIDATIONS if rung is None else rung
        spent += left * (validation - previous)
        previous, left = validation, 1 if rung is None else math.ceil(left / reduction)
        racing &= (
            rankdata(
                -np.where(racing, means[:, :, validation - 1], -np.inf), axis=1, method="ordinal"
            )
            <= left
        )
    return Picks(
        racing.argmax(1),
        np.full(len(values), spent * seeds / (CONFIGURATIONS * SEEDS * VALIDATIONS)),
    )


def race(values: Floats) -> Picks:
    """Run `Race` with its defaults."""
    schedule = rungs(VALIDATIONS)
    ends = [VALIDATIONS if rung is None else rung for rung in schedule]
    names = [str(index) for index in range(CONFIGURATIONS)]
    chosen, cost = [], []
    for runs in values:
        scheduler = Race(names, range(SEEDS), schedule, mode="max")
        trained: dict[tuple[str, int], int] = {}
        while work := scheduler.work():
            for configuration, seed, rung in work:
                scheduler.tell(
                    configuration, seed, rung, float(runs[int(configuration), seed, ends[rung] - 1])
                )
                trained[configuration, seed] = ends[rung]
        assert scheduler.best is not None
        chosen.append(int(scheduler.best))
        cost.append(sum(trained.values()) / (CONFIGURATIONS * SEEDS * VALIDATIONS))
    return Picks(np.array(chosen), np.array(cost))


class Row(NamedTuple):
    """The results of a method on a surface; every number with its standard error."""

    method: str
    found: tuple[float, float]
    difference: tuple[float, float]
    lost: tuple[float, float]
    cost: tuple[float, float]


def rows(sample: Sample) -> Iterator[Row]:
    """Yield the results of every method on a sample, the baseline first."""
    truth, values = sample
    best = truth.argmax(1)
    baseline = repeats_of_best(values, CONFIGURATIONS)

    def hit_rate(picks: Picks) -> float:
        return float(np.mean(picks.chosen == best))

    def row(method: str, picks: Picks) -> Row:
        hit = (picks.chosen == best).astype(float)
        lost = truth.max(1) - truth[np.arange(len(truth)), picks.chosen]
        return Row(
            method,
            _mean(hit),
            _mean(hit - (baseline.chosen == best)),
            _mean(lost),
            _mean(picks.cost),
        )

    def best_of(method: str, seeds: int, max_cost: float) -> Row:
        candidates = [
            (picks, setting)
            for setting in SETTINGS
            if (picks := halving(values, seeds, *setting)).cost[0] <= max_cost
        ]
        picks, (reduction, first) = max(
            candidates, key=lambda pair: (hit_rate(pair[0]), -pair[0].cost[0])
        )
        return row(f"{method}: promotes 1/{reduction}, from {first:.2f}", picks)

    yield row("all seeds", baseline)
    race_picks = race(values)
    yield row("race", race_picks)
    count = max(
        1, math.ceil((float(race_picks.cost.mean()) * SEEDS - 1) * CONFIGURATIONS / (SEEDS - 1))
    )
    yield row(f"one seed, then all of the best {count}", repeats_of_best(values, count))
    yield best_of("halving, all seeds", SEEDS, 1 / 3)
    yield best_of("halving, one seed", 1, 1)
    yield row("one seed", Picks(values[:, :, 0, -1].argmax(1), np.full(len(values), 1 / SEEDS)))


def _mean(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def plot(results: dict[str, list[Row]]) -> str:
    """Return a self-contained HTML page with `found` and `lost` against cost, one row per
    surface."""
    titles = [": ".join(pair) for pair in product(results, ("found", "lost"))]
    figure = make_subplots(
        len(results), 2, vertical_spacing=0.05, horizontal_spacing=0.08, subplot_titles=titles
    )
    for index, surface_rows in enumerate(results.values(), start=1):
        for (colour, symbol), row in zip(MARKERS, surface_rows, strict=True):
            for column, (value, error) in enumerate((row.found, row.lost), start=1):
                figure.add_trace(
                    go.Scatter(
                        x=[row.cost[0]],
                        y=[value],
                        error_y={"array": [error]},
                        error_x={"array": [row.cost[1]]},
                        mode="markers",
                        marker={"size": 11, "color": colour, "symbol": symbol},
                        hovertext=row.method,
                        name=row.method.partition(":")[0].partition(" of the best")[0],
                        legendgroup=colour,
                        showlegend=index == column == 1,
                    ),
                    row=index,
                    col=column,
                )
    figure.update_xaxes(title="cost, as a share of all seeds", range=[0, 1.05])
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(
        height=330 * len(results),
        template="plotly_white",
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom"},
    )
    return figure.to_html(include_plotlyjs=True)


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument(
        "--repetitions", type=int, default=200, help="repetitions per surface (default 200)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the simulation (default 1)")
    arguments = parser.parse_args()
    results: dict[str, list[Row]] = {}
    flat: list[frame.Row] = []
    for name, surface in SURFACES.items():
        sample = draw(surface, arguments.repetitions, name, arguments.seed)
        results[name] = list(rows(sample))
        of_surface = {"surface": name, "order at 1/2": sample.order_at_half_time}
        flat += [{**of_surface, **row._asdict()} for row in results[name]]
    if arguments.plot:
        arguments.plot.write_text(plot(results), encoding="utf-8")
        arguments.plot = None
    setting = {"repetitions": arguments.repetitions, "seed": arguments.seed}
    frame.report(arguments, setting, flat)


if __name__ == "__main__":
    main()
