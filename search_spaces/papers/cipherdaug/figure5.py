"""Figure 5: how alike encoder states are, for every pair of layers, of views and of the baseline
and CipherDAug."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.correlation import Correlations, LayerCorrelations, correlations
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = (
    "Does a model that reads enciphered sources come to similar states for the same sentence?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The baseline and CipherDAug with two keys."""
    return {"Transformer": common.row(), "CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return PWCCA of every pair of layers within a system, and the correlation of random
    numbers of their shape."""
    return _quantities(correlations([system]))


def measure_with_reference(baseline: System, system: System) -> Mapping[str, float]:
    """Return PWCCA of every pair of layers of the system, and of the baseline on plain and the
    system on any source."""
    return _quantities(correlations([baseline, system]), system)


def _quantities(result: Correlations, system: System | None = None) -> dict[str, float]:
    """Return the noise, and table, row's layer and column's layer -> PWCCA.

    Of `system` alone if it is given.
    """
    noise = result.layers[-1].noise
    pairs = [pair for pair in (*result.models, *result.views, *result.layers)]
    if system is not None:
        pairs = [pair for pair in pairs if pair.second[0] == system.name]
    return {
        "truncated mean of noise": noise.truncated_mean,
        "PWCCA of noise": noise.pwcca,
        **{
            f"{_title(pair)} | layer {row} | layer {column}": value.pwcca
            for pair in pairs
            for row, values in enumerate(pair.values)
            for column, value in enumerate(values)
        },
    }


def _title(pair: LayerCorrelations) -> str:
    (first, view), (second, other) = pair.first, pair.second
    rows = view if first == second else f"baseline {view}"
    return f"{rows} (rows) by {other} (columns)"


paper, tolerance = common.PAPER, common.TOLERANCE
where, measure_version = "Figure 5", 2
published = printed.read(
    common.PUBLISHED, "figure5", {"truncated mean of noise": "truncated mean of noise"}
)
unavailable = {
    "random baseline": "a number of the shape of the states alone, which every row has too"
}
deviations = common.deviations()
