"""Canonical correlations of encoder states as a report."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import plotly.graph_objects as go

from augury.analysis.correlation import LEADING, Between, Correlations
from augury.analysis.system import System
from augury.reporting.analyses.report import Part, Report, of_systems, where
from augury.reporting.figures import Figure, chart
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING
from augury.reporting.tables import Cell, Table, table


def report(result: Correlations, systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of `correlations`."""
    parts = []
    for heading, pairs in (("Between views", result.views), ("Between models", result.models)):
        if pairs:
            parts.append(_by_layer(heading, pairs, result))
    parts += [_layers(system.name, result) for system in systems]
    return of_systems(
        "correlation", "Encoder states", answer(result, systems), parts, systems, asdict(result), settings
    )


def answer(result: Correlations, systems: Sequence[System]) -> str:
    """Say how alike the last layer's states are, against noise."""
    last: dict[tuple[str, str], Between] = {}
    for pair in (*result.views, *result.models):
        last[pair.second[:2]] = pair
    noise = f"noise of this shape has {result.baseline.pwcca:.2f}"
    if not last:
        first, final = result.layers[0], [pair for pair in result.layers if pair.first[2] == 0][-1]
        return (
            f"On {where(systems)}, embeddings and the last layer of {first.first[0]} correlate by "
            f"{final.value.pwcca:.2f} (PWCCA, 1 is alike up to a linear map; {noise}); there is no other view or "
            "model to compare."
        )
    summary = ", ".join(f"{_ends(pair)} {pair.value.pwcca:.2f}" for pair in last.values())
    return f"On {where(systems)}, PWCCA in the last layer: {summary}; 1 is alike up to a linear map, and {noise}."


def _by_layer(heading: str, pairs: Sequence[Between], result: Correlations) -> Part:
    groups: dict[str, list[Between]] = {}
    for pair in pairs:
        groups.setdefault(_ends(pair), []).append(pair)
    layers = sorted({pair.first[2] for pair in pairs})
    traces = [
        go.Scatter(
            mode="lines+markers",
            name=html.escape(name),
            x=[pair.first[2] for pair in group],
            y=[pair.value.pwcca for pair in group],
            line={"color": look(index).colour, "dash": look(index).dash, "width": 2},
            marker={"symbol": look(index).symbol, "size": 8},
            hovertemplate=f"{html.escape(name)}, layer %{{x}}: %{{y:.3f}}<extra></extra>",
        )
        for index, (name, group) in enumerate(groups.items(), start=1)
    ]
    noise = go.Scatter(
        mode="lines",
        name="noise",
        x=[layers[0], layers[-1]],
        y=[result.baseline.pwcca] * 2,
        line={"color": look(0).colour, "dash": look(0).dash, "width": 2},
        hovertemplate="noise of this shape: %{y:.3f}<extra></extra>",
    )
    drawing = chart([noise, *traces], "encoder layer (0: embeddings)", "PWCCA")
    drawing.update_layout(xaxis={"dtick": 1, "rangemode": "normal"}, yaxis_range=[0, 1.03])
    summary = "; ".join(f"{name} {group[-1].value.pwcca:.2f} in the last" for name, group in groups.items())
    title = f"PWCCA by layer, {heading.lower()}"
    figure = Figure(f"layers-{heading.rpartition(' ')[2]}", title, f"{title}: {summary}", drawing)
    rows = [[f"{name}, layer {pair.first[2]}", *_values(pair)] for name, group in groups.items() for pair in group]
    baseline = ["noise of this shape", *(f"{value:.3f}" for value in asdict(result.baseline).values())]
    return Part(
        heading,
        table(["states", "PWCCA", "mean", "truncated mean"], [*rows, baseline], title=heading, notes=_notes(result)),
        (figure,),
        ((look(0), "noise of this shape"), *((look(index), name) for index, name in enumerate(groups, start=1))),
    )


def _layers(system: str, result: Correlations) -> Part:
    pairs = {(pair.first[2], pair.second[2]): pair for pair in result.layers if pair.first[0] == system}
    layers = sorted({layer for pair in pairs for layer in pair})
    least = min([pair.value.pwcca for pair in result.layers], default=0.0)

    def cell(first: int, second: int) -> Cell:
        if first == second:
            return Cell("1", 1.0, shade=1.0)
        pair = pairs[min(first, second), max(first, second)]
        value = pair.value.pwcca
        hint = f"mean {pair.value.mean:.3f}, truncated mean {pair.value.truncated_mean:.3f}"
        return Cell(f"{value:.3f}", value, shade=(value - least) / max(1e-9, 1 - least) or 1e-3, hint=hint)

    rows = [[f"layer {first}", *(cell(first, second) for second in layers)] for first in layers]
    shown: Table = table(
        [f"{system}, plain", *(f"layer {layer}" for layer in layers)],
        rows,
        title=f"Between the layers of {system} (PWCCA)",
        notes=("Layer 0 are the embeddings with positions. The bluer, the more alike.",),
    )
    return Part(f"Between layers: {system}", shown)


def _values(pair: Between) -> list[Cell]:
    return [Cell(f"{value:.3f}", value) for value in asdict(pair.value).values()]


def _ends(pair: Between) -> str:
    """Name what is compared: two views of a system, or two systems."""
    (first, view, _), (second, other, _) = pair.first, pair.second
    return f"{first} {view} and {other}" if first == second else f"{first} and {second}"


def _notes(result: Correlations) -> tuple[str, ...]:
    widths = " and ".join(str(width) for width in dict.fromkeys(result.dimensions)) or MISSING
    return (
        f"One vector a sentence: the mean over its pieces, {widths} dimensions, {result.sentences:,} sentences. Noise: "
        "independent normal numbers of the shape of the first system. No invertible linear map changes these values.",
        f"Truncated mean: over the leading correlations with {LEADING:.0%} of the sum. The paper's random baseline of "
        "0.27 is this one, with 6,750 sentences of 512 dimensions; with fewer sentences noise correlates more.",
    )
