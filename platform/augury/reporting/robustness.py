"""Charts of the score of every system against the rate of synthetic noise, over series of test
sets."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from augury.corpora.noise import KINDS
from augury.reporting.figures import Figure, chart, trace, within_bounds
from augury.reporting.results import SystemResult
from augury.reporting.styles import system_style
from augury.scoring.registry import title

SECTION, NOISE = "corpus.tests.", "noise."


Series = tuple[tuple[str, ...], list[tuple[float, str]]]
"""Kinds of noise, and test sets that differ only in its rate: (rate, name), sorted."""


def robustness_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Draw a metric against the rate of noise, a line for every system and a chart for every
    series of test sets."""
    figures = []
    common = [
        test for test in results[0].tests if all(result.score(test, metric) for result in results)
    ]
    for number, (kinds, tests) in enumerate(noise_series(results[0].record.parameters, common)):
        noise, ((low, first), *_, (high, last)) = " and ".join(kinds), tests
        traces = [_line(result, index, tests, metric) for index, result in enumerate(results)]
        summary = ", ".join(
            f"{result.name} {result.values[first][metric]:.1f} to {result.values[last][metric]:.1f}"
            for result in results
        )
        heading = f"{title(metric)} against noise ({noise}), {low:g} to {high:g}"
        axis = within_bounds(metric)
        drawing = chart(traces, f"rate of noise: {noise}", title(metric), yaxis=axis)
        figures.append(Figure(f"noise-{number}", heading, f"{heading}: {summary}", drawing))
    return figures


def noise_series(parameters: Mapping[str, Any], tests: Sequence[str]) -> list[Series]:
    """Return the series among the test sets of an experiment, given its settings by dotted keys.

    All kinds of noise in a test set of a series have the same rate; without noise the rate is 0.
    Sets whose rates are estimated are in none.
    """
    groups: dict[Any, list[tuple[float, str]]] = {}
    clean: dict[str, list[tuple[float, str]]] = {}
    for test in tests:
        section = f"{SECTION}{test}."
        settings = {
            key.removeprefix(section): value
            for key, value in parameters.items()
            if key.startswith(section)
        }
        of_noise = [key for key in settings if key.startswith(NOISE)]
        noise = {key.removeprefix(NOISE): settings.pop(key) for key in of_noise}
        rates = {kind: rate for kind in KINDS if (rate := noise.pop(kind, 0.0))}
        text = repr(sorted(settings.items()))
        if "like" in noise:
            continue
        if not rates:
            clean.setdefault(text, []).append((0.0, test))
        elif len(set(rates.values())) == 1:
            group = text, tuple(rates), repr(sorted(noise.items()))
            groups.setdefault(group, []).append((next(iter(rates.values())), test))
    series = []
    for (text, kinds, _), noisy in groups.items():
        known = sorted([*clean.get(text, [])[:1], *noisy])
        if len(known) > 1:
            series.append((kinds, known))
    return series


def _line(
    result: SystemResult, index: int, tests: Sequence[tuple[float, str]], metric: str
) -> go.Scatter:
    scores = [result.tests[test][metric] for _, test in tests]
    return trace(
        result.name,
        system_style(index),
        [rate for rate, _ in tests],
        [score.value for score in scores],
        " on %{text}",
        ends=[score.ends for score in scores],
        text=[
            f"{html.escape(name)}: {of.text}" for (_, name), of in zip(tests, scores, strict=True)
        ],
    )
