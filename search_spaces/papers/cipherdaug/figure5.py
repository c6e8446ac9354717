"""Figure 5: how alike encoder states are, for every pair of layers, of views and of the baseline
and CipherDAug."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.correlation import CorrelationAnalysis, Correlations, LayerCorrelations
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import baseline_and_two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return PWCCA of every pair of layers within a system, and the correlation of random
    numbers of their shape."""
    return _quantities(CorrelationAnalysis().compute([system]))


def measure_with_reference(baseline: System, system: System) -> Mapping[str, float]:
    """Return PWCCA of every pair of layers of the system, and of the baseline on plain and the
    system on any source."""
    return _quantities(CorrelationAnalysis().compute([baseline, system]), system)


def _quantities(result: Correlations, system: System | None = None) -> dict[str, float]:
    """Return the noise, and table, row's layer and column's layer -> PWCCA.

    Of `system` alone if it is given.
    """
    noise = result.layers[-1].noise
    pairs = [pair for pair in (*result.models, *result.views, *result.layers)]
    if system is not None:
        pairs = [pair for pair in pairs if pair.second[0] == system.name]
    quantities = {"truncated mean of noise": noise.truncated_mean, "PWCCA of noise": noise.pwcca}
    for pair in pairs:
        for row, values in enumerate(pair.values):
            for column, value in enumerate(values):
                quantities[f"{_title(pair)} | layer {row} | layer {column}"] = value.pwcca
    return quantities


def _title(pair: LayerCorrelations) -> str:
    (first, view), (second, other) = pair.first, pair.second
    rows = view if first == second else f"baseline {view}"
    return f"{rows} (rows) by {other} (columns)"


TABLE = Table(
    where="Figure 5",
    question=(
        "Does a model that reads enciphered sources come to similar states for the same sentence?"
    ),
    rows=baseline_and_two_keys,
    published=read("figure5", "truncated mean of noise"),
    measure=measure,
    unavailable={
        "random baseline": "a number of the shape of the states alone, which every row has too"
    },
    measure_with_reference=measure_with_reference,
    measure_version=2,
)
