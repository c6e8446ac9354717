"""The report of canonical correlations of encoder states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from augury.analysis.correlation import LEADING, Correlations, StateCorrelation, correlations
from augury.analysis.system import System
from augury.reporting.analyses.report import Analysis, Part, test_label
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.numbers import MISSING
from augury.reporting.styles import legend, system_style
from augury.reporting.tables import Cell, cell, table

NOISE = "noise of this shape"


def answer(result: Correlations, systems: Sequence[System]) -> str:
    """Return the correlations of the last layer's states, and that of noise."""
    last = {pair.second[:2]: pair for pair in (*result.views, *result.models)}
    if not last:
        first, final = result.layers[0], [pair for pair in result.layers if pair.first[2] == 0][-1]
        return (
            f"On {test_label(systems)}, embeddings and the last layer of {first.first[0]} correlate by "
            f"{final.value.pwcca:.2f} (PWCCA, 1 is alike up to a linear map; {NOISE} has {final.noise.pwcca:.2f}); "
            "there is no other view or model to compare."
        )
    summary = ", ".join(
        f"{_ends(pair)} {pair.value.pwcca:.2f} in layer {pair.first[2]} (noise {pair.noise.pwcca:.2f})"
        for pair in last.values()
    )
    return f"On {test_label(systems)}, PWCCA in the last common layer, 1 if alike up to a linear map: {summary}."


def parts(result: Correlations, systems: Sequence[System], settings: Mapping[str, Any]) -> list[Part]:
    """Return the correlations between views and between models by layer, and between the layers of each system."""
    kinds = (("Between views", result.views), ("Between models", result.models))
    between = [_by_layer(heading, pairs, result) for heading, pairs in kinds if pairs]
    return [*between, *(_layers(system.name, result) for system in systems)]


def _by_layer(heading: str, pairs: Sequence[StateCorrelation], result: Correlations) -> Part:
    groups: dict[str, list[StateCorrelation]] = {}
    for pair in pairs:
        groups.setdefault(_ends(pair), []).append(pair)
    layers = sorted({pair.first[2] for pair in pairs})
    ends = [layers[0], layers[-1]]
    noises = list(dict.fromkeys(pair.noise for pair in pairs))  # one, unless models differ in width
    traces = [trace(NOISE, system_style(0), ends, [noise.pwcca] * 2, ": %{y:.3f}", mode="lines") for noise in noises]
    for index, (name, group) in enumerate(groups.items(), start=1):
        x, y = [pair.first[2] for pair in group], [pair.value.pwcca for pair in group]
        traces.append(trace(name, system_style(index), x, y, ", layer %{x}: %{y:.3f}", size=8))
    drawing = chart(traces, "encoder layer (0: embeddings)", "PWCCA", yaxis_range=[0, 1.03])
    drawing.update_xaxes(dtick=1, rangemode="normal")
    summary = "; ".join(f"{name} {group[-1].value.pwcca:.2f} in the last" for name, group in groups.items())
    title = f"PWCCA by layer, {heading.lower()}"
    figure = Figure(f"layers-{heading.rpartition(' ')[2]}", title, f"{title}: {summary}", drawing)
    columns = ("states", "PWCCA", "mean", "truncated mean", "PWCCA of noise")
    rows = [
        [
            f"{name}, layer {pair.first[2]}",
            *(cell(value, ".3f") for value in (pair.value.pwcca, pair.value.mean, pair.value.truncated_mean)),
            cell(pair.noise.pwcca, ".3f"),
        ]
        for name, group in groups.items()
        for pair in group
    ]
    shown = table(columns, rows, title=heading, notes=_notes(result))
    return Part(heading, shown, (figure,), legend([NOISE, *groups]))


def _layers(system: str, result: Correlations) -> Part:
    pairs = {(pair.first[2], pair.second[2]): pair.value for pair in result.layers if pair.first[0] == system}
    layers = sorted({layer for pair in pairs for layer in pair})
    least = min([pair.value.pwcca for pair in result.layers], default=0.0)

    def shaded(first: int, second: int) -> Cell:
        if first == second:
            return Cell("1", 1.0, shade=1.0)
        value = pairs[min(first, second), max(first, second)]
        hint = f"mean {value.mean:.3f}, truncated mean {value.truncated_mean:.3f}"
        return cell(value.pwcca, ".3f", shade=(value.pwcca - least) / max(1e-9, 1 - least) or 1e-3, hint=hint)

    rows = [[f"layer {first}", *(shaded(first, second) for second in layers)] for first in layers]
    shown = table(
        [f"{system}, plain", *(f"layer {layer}" for layer in layers)],
        rows,
        title=f"Between the layers of {system} (PWCCA)",
        notes=("Layer 0 are the embeddings with positions. The bluer, the more alike.",),
    )
    return Part(f"Between layers: {system}", shown)


def _ends(pair: StateCorrelation) -> str:
    """Return the names of the states compared: two views of a system, or two systems."""
    (first, view, _), (second, other, _) = pair.first, pair.second
    return f"{first} {view} and {other}" if first == second else f"{first} and {second}"


def _notes(result: Correlations) -> tuple[str, ...]:
    widths = " and ".join(str(width) for width in dict.fromkeys(result.dimensions)) or MISSING
    return (
        f"One vector a sentence: the mean over its pieces, {widths} dimensions, {result.sentences:,} sentences. Noise: "
        "independent normal numbers of the same shapes. No invertible linear map changes these values.",
        f"Truncated mean: over the leading correlations with {LEADING:.0%} of the sum. The paper's random baseline of "
        "0.27 is this one, with 6,750 sentences of 512 dimensions; with fewer sentences noise correlates more.",
    )


ANALYSIS = Analysis("correlation", "Encoder states", correlations, answer, parts)
