"""The report of canonical correlations of encoder states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from augury.analysis.correlation import (
    LEADING,
    Correlation,
    Correlations,
    LayerCorrelations,
    correlations,
)
from augury.analysis.system import System
from augury.reporting.analyses.analysis import Analysis, test_label
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.numbers import MISSING
from augury.reporting.report import Charts, Section, section
from augury.reporting.styles import legend, system_style
from augury.reporting.tables import Cell, Table, cell, table

NUMBERS = ("PWCCA", "mean", "truncated mean")
NOISES = (
    (system_style(0), "PWCCA of noise"),
    (replace(system_style(0), dash="dash"), "truncated mean of noise, the paper's baseline"),
)
"""The lines of noise in charts."""
LIKENESS = (
    (0.9, "almost alike"),
    (0.5, "much alike"),
    (0.1, "somewhat alike"),
    (-math.inf, "no more alike than noise"),
)
"""Words for a PWCCA, from this share of the way from noise to 1 on."""


class CorrelationAnalysis(Analysis):
    """Canonical correlations of encoder states, between layers, views and models."""

    TITLE = "Encoder states"

    analysis: str = "correlation"

    def compute(self, systems: Sequence[System]) -> Correlations:
        """Return the results."""
        return correlations(systems)

    def answer(self, results: Correlations, systems: Sequence[System]) -> str:
        """Return how alike the states of the last layer are, the most alike first."""
        compared = (*results.views, *results.models)
        if not compared:
            within = results.layers[0]
            last = within.values[0][-1]
            return (
                f"On {test_label(systems)}, embeddings and the last layer of {within.first[0]} are "
                f"{_likeness(last, within.noise)} (PWCCA {last.pwcca:.2f}; {_scale([within])}); "
                "there is no other view or model to compare."
            )
        parts = [
            f"{_ends(pair)} are {_likeness(pair.diagonal[-1], pair.noise)} "
            f"(PWCCA {pair.diagonal[-1].pwcca:.2f})"
            for pair in sorted(compared, key=lambda pair: -_share(pair.diagonal[-1], pair.noise))
        ]
        return (
            f"On {test_label(systems)}, in the last common layer, {', '.join(parts)}; "
            f"{_scale(compared)}."
        )

    def sections(self, results: Correlations, systems: Sequence[System]) -> list[Section]:
        """Return the correlations of equal layers between views and between models, then heat maps
        of all layers."""
        kinds = (("Between views", results.views), ("Between models", results.models))
        maps = [_heat_map(pair) for pair in (*results.models, *results.views, *results.layers)]
        first, *others = [
            *(_equal_layers(heading, pairs) for heading, pairs in kinds if pairs),
            *maps,
        ]
        *charts, numbers = first.blocks
        assert isinstance(numbers, Table)
        explained = replace(numbers, notes=(*numbers.notes, *_notes(results)))
        return [section(first.heading, *charts, explained), *others]


def _equal_layers(heading: str, pairs: Sequence[LayerCorrelations]) -> Section:
    """Return a chart and a table of the correlations between equal layers."""
    names = [_ends(pair) for pair in pairs]
    ends = [0, max(len(pair.diagonal) for pair in pairs) - 1]
    traces = []
    for noise in dict.fromkeys(pair.noise for pair in pairs):  # one, unless models differ in width
        for (style, name), value in zip(NOISES, (noise.pwcca, noise.truncated_mean), strict=True):
            traces.append(trace(name, style, ends, [value] * 2, ": %{y:.3f}", mode="lines"))
    for index, (name, pair) in enumerate(zip(names, pairs, strict=True), start=1):
        values = [value.pwcca for value in pair.diagonal]
        style, hover = system_style(index), ", layer %{x}: %{y:.3f}"
        traces.append(trace(name, style, [*range(len(values))], values, hover, size=8))
    drawing = chart(traces, "encoder layer (0: embeddings)", "PWCCA", yaxis_range=[0, 1])
    drawing.update_xaxes(dtick=1, rangemode="normal")
    lasts = (
        f"{name} {pair.diagonal[-1].pwcca:.2f} in the last"
        for name, pair in zip(names, pairs, strict=True)
    )
    name, title = f"layers-{heading.rpartition(' ')[2]}", f"PWCCA by layer, {heading.lower()}"
    figure = Figure(name, title, f"{title}: {'; '.join(lasts)}", drawing)
    columns = ("states", *NUMBERS, "PWCCA of noise", "truncated mean of noise")
    rows = [
        [f"{name}, layer {layer}", *(cell(number, ".3f") for number in _numbers(value, pair.noise))]
        for name, pair in zip(names, pairs, strict=True)
        for layer, value in enumerate(pair.diagonal)
    ]
    shown = table(columns, rows, title=f"{heading}, equal layers")
    lines = [*NOISES, *legend(["", *names])[1:]]
    return section(heading, Charts([figure], lines), shown)


def _heat_map(pair: LayerCorrelations) -> Section:
    """Return the table of all pairs of layers, shaded from noise to 1."""

    def shaded(value: Correlation) -> Cell:
        hint = f"mean {value.mean:.3f}, truncated mean {value.truncated_mean:.3f}"
        return cell(value.pwcca, ".3f", shade=max(-1.0, _share(value, pair.noise)), hint=hint)

    rows = [[f"layer {layer}", *map(shaded, row)] for layer, row in enumerate(pair.values)]
    columns = [" ".join(pair.first), *(f"layer {layer}" for layer in range(len(pair.values[0])))]
    first, second = " ".join(pair.first), " ".join(pair.second)
    title = f"{first} by {second}"
    if pair.first == pair.second:
        title = f"Between the layers of {pair.first[0]}"
    note = f"PWCCA; rows: {first}, columns: {second}; {_noise(pair.noise)}"
    return section(title, table(columns, rows, title=title, notes=(note,)))


def _numbers(value: Correlation, noise: Correlation) -> tuple[float, ...]:
    return value.pwcca, value.mean, value.truncated_mean, noise.pwcca, noise.truncated_mean


def _share(value: Correlation, noise: Correlation) -> float:
    """Return where a PWCCA is between noise, 0, and states that are alike, 1."""
    return (value.pwcca - noise.pwcca) / max(1e-9, 1 - noise.pwcca)


def _likeness(value: Correlation, noise: Correlation) -> str:
    share = _share(value, noise)
    return next(words for least, words in LIKENESS if share >= least)


def _scale(pairs: Sequence[LayerCorrelations]) -> str:
    """Return what the values are to be read against."""
    noises = " or ".join(f"{pwcca:.2f}" for pwcca in dict.fromkeys(p.noise.pwcca for p in pairs))
    return f"noise has {noises}, and states that are alike up to a linear map 1"


def _noise(noise: Correlation) -> str:
    return f"noise has {noise.pwcca:.3f}, and a truncated mean of {noise.truncated_mean:.3f}"


def _ends(pair: LayerCorrelations) -> str:
    """Return the names of the inputs compared: two views of a system, or views of two systems."""
    (first, view), (second, other) = pair.first, pair.second
    return f"{first} {view} and {other if first == second else f'{second} {other}'}"


def _notes(result: Correlations) -> tuple[str, ...]:
    widths = " and ".join(str(width) for width in dict.fromkeys(result.dimensions)) or MISSING
    return (
        f"One vector a sentence: the mean over its pieces, {widths} dimensions, "
        f"{result.sentences:,} sentences. Noise: independent normal numbers of the same shapes. "
        "No invertible linear map changes these values.",
        "Layer 0 are the embeddings with positions. Of states of one width, PWCCA has the weights "
        "of the first (in heat maps, the row's), else of those with fewer dimensions. Heat maps: "
        "blue is above noise, orange below it.",
        f"Truncated mean: over the leading correlations with {LEADING:.0%} of the sum. The "
        "paper's random baseline of 0.27 is this one, with 6,750 sentences of 512 dimensions; "
        "with fewer sentences noise correlates more. PWCCA compares with the PWCCA of noise.",
    )


ANALYSIS = CorrelationAnalysis
