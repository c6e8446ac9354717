"""The best validation of every system after equal times of training, over its seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from augury.core.progress import duration
from augury.reporting.numbers import MISSING
from augury.reporting.results import CLOCKS, SystemResult, on_one_device, time_kind
from augury.reporting.tables import Cell, Table, row, table
from augury.scoring.registry import lower_is_better, title

SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)
"""The times at which systems are compared, as shares of the longest training."""


def equal_time(results: Sequence[SystemResult], metric: str) -> Table | None:
    """Return the best validation by `metric` at equal times: mean ± standard deviation over seeds.

    A seed whose training has ended keeps its best. None where fewer than two systems recorded it,
    where they were trained on different devices, and where a system consists of several trainings,
    whose times do not add up in one curve.
    """
    costs = [result.cost for result in results if result.cost]
    if any(cost.trainings > 1 for cost in costs) or not on_one_device(costs):
        return None
    kind = time_kind(costs)
    curves = {result.name: _curves(result, f"valid/{metric}", CLOCKS[kind]) for result in results}
    curves = {name: of_seeds for name, of_seeds in curves.items() if of_seeds and all(of_seeds)}
    if len(curves) < 2:
        return None
    longest = max(max(curve) for of_seeds in curves.values() for curve in of_seeds)
    times = [share * longest for share in SHARES]
    rows = [
        row(
            [
                name,
                str(len(of_seeds)),
                *(_cell([_best(curve, time, metric) for curve in of_seeds]) for time in times),
            ]
        )
        for name, of_seeds in curves.items()
    ]
    note = (
        f"best validation {title(metric)} within the {kind} of one seed: mean ± standard "
        "deviation over seeds"
    )
    return table(["system", "seeds", *map(duration, times)], rows, notes=(note,))


def _curves(result: SystemResult, metric: str, clock: str) -> list[Mapping[float, float]]:
    """Return time -> validation for every seed."""
    return [
        {
            record["metrics"][clock]: record["metrics"][metric]
            for record in records
            if metric in record["metrics"] and clock in record["metrics"]
        }
        for records in result.histories.values()
    ]


def _best(curve: Mapping[float, float], time: float, metric: str) -> float | None:
    """Return the best value up to a time; None before the first validation."""
    values = [value for at, value in curve.items() if at <= time and math.isfinite(value)]
    return (min if lower_is_better(metric) else max)(values, default=None)


def _cell(values: Sequence[float | None]) -> Cell:
    """Return the mean and the standard deviation over seeds.

    Missing where a seed was not validated yet.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return Cell(MISSING)
    mean = statistics.fmean(known)
    deviation = f" ± {statistics.stdev(known):.1f}" if len(known) > 1 else ""
    return Cell(f"{mean:.1f}{deviation}", mean)
