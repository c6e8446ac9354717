"""The score of every system against the rate of synthetic noise, where test sets are such a series."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from augury.corpora.noise import KINDS
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.looks import look
from augury.reporting.results import SystemResult
from augury.scoring.metrics import title

SECTION, NOISE = "corpus.tests.", "noise."


class Series(NamedTuple):
    """Test sets that differ in the rate of noise alone."""

    kinds: tuple[str, ...]
    tests: Sequence[tuple[float, str]]
    """Rates, in their order, and the names of test sets."""


def robustness_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Draw a metric against the rate of noise, a line for every system and a chart for every series of test sets."""
    figures = []
    parameters = results[0].facts.get("parameters") or {}
    for number, series in enumerate(series_of(parameters, list(results[0].tests))):
        tests = [(rate, test) for rate, test in series.tests if all(metric in of.tests.get(test, {}) for of in results)]
        if len(tests) < 2:
            continue
        traces = [_line(result, index, tests, metric) for index, result in enumerate(results)]
        kinds = " and ".join(series.kinds)
        drawing = chart(traces, f"rate of noise: {kinds}", title(metric))
        scores = [[result.tests[test][metric].value for _, test in tests] for result in results]
        ends = ", ".join(f"{of.name} {own[0]:.1f} to {own[-1]:.1f}" for of, own in zip(results, scores, strict=True))
        heading = f"{title(metric)} against noise ({kinds}), {tests[0][0]:g} to {tests[-1][0]:g}"
        figures.append(Figure(f"noise-{number}", heading, f"{heading}: {ends}", drawing))
    return figures


def series_of(parameters: Mapping[str, Any], tests: Sequence[str]) -> list[Series]:
    """Return the series among the test sets of an experiment, given its settings under dotted names.

    The kinds of noise in a series have one rate; test sets of the same text without noise are at rate 0.
    """
    groups: dict[Any, list[tuple[float, str]]] = {}
    clean: dict[str, list[tuple[float, str]]] = {}
    for test in tests:
        section = f"{SECTION}{test}."
        settings = {key.removeprefix(section): value for key, value in parameters.items() if key.startswith(section)}
        noise = {key.removeprefix(NOISE): settings.pop(key) for key in [*settings] if key.startswith(NOISE)}
        rates = {kind: rate for kind in KINDS if (rate := noise.pop(kind, 0.0))}
        text = repr(sorted(settings.items()))
        if not rates:
            clean.setdefault(text, []).append((0.0, test))
        elif len(set(rates.values())) == 1:
            group = text, tuple(rates), repr(sorted(noise.items()))
            groups.setdefault(group, []).append((next(iter(rates.values())), test))
    series = [Series(kinds, sorted([*clean.get(text, [])[:1], *tests])) for (text, kinds, _), tests in groups.items()]
    return [curve for curve in series if len(curve.tests) > 1]


def _line(result: SystemResult, index: int, tests: Sequence[tuple[float, str]], metric: str) -> go.Scatter:
    scores = [result.tests[test][metric] for _, test in tests]
    return trace(
        result.name,
        look(index),
        [rate for rate, _ in tests],
        [score.value for score in scores],
        " on %{text}",
        ends=[score.ends for score in scores],
        text=[f"{html.escape(test)}: {score.text}" for (_, test), score in zip(tests, scores, strict=True)],
    )
