"""Charts and tables show how a score responds to what was swept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from augury.reporting.figures import Figure
from augury.reporting.sweeps.response import responses, short_names, varying_axes
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Table


def traces(figure: Any) -> dict[str, Any]:
    assert isinstance(figure, Figure)
    return {trace.name: trace for trace in figure.chart.data}


def points(trace: Any) -> list[tuple[Any, Any]]:
    return sorted(zip(trace.x, trace.y, strict=True))


@pytest.mark.parametrize(
    ("values", "kind", "ordered"),
    [
        ([5, 0, 1, 10, 2], "linear", (0, 1, 2, 5, 10)),
        ([1e-4, 5e-4, 3e-3], "log", (1e-4, 5e-4, 3e-3)),
        ([0.02, 0.2, 0.25, 0.3, 0.5], "linear", (0.02, 0.2, 0.25, 0.3, 0.5)),
        ([0, 0.1, 1, 10, 100], "category", (0, 0.1, 1, 10, 100)),
        ([-1, 0, 100], "linear", (-1, 0, 100)),
        (["rot", "eda", "rot"], "category", ("rot", "eda")),
        ([[1], [1, 2], [1]], "category", ([1], [1, 2])),
        ([True, False], "category", (True, False)),
        ([1, None], "category", (1, None)),
    ],
)
def test_values_choose_their_scale(values: list[Any], kind: str, ordered: tuple[Any, ...]) -> None:
    items = [SimpleNamespace(point=point) for point in [{}, *({"a.key": of} for of in values)]]
    sweep = SimpleNamespace(keys=("a.key", "never"), configurations=items, merged=[])
    summary: Any = SimpleNamespace(sweep=sweep)
    (axis,) = varying_axes(summary)
    assert (axis.name, axis.kind, axis.values) == ("key", kind, ordered)
    assert (axis.rank({}), axis.rank({"a.key": ordered[1]})) == (None, 1)


def test_names_are_as_short_as_tells_them_apart() -> None:
    keys = ["regime.beta", "augment.0.keys", "model.encoder.layers", "model.decoder.layers"]
    assert short_names(keys) == ["beta", "keys", *keys[2:]]


def test_one_number_has_a_curve(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29.5])
    for beta, values in ((5, (31, 33)), (0, (30, 30))):
        address = sweeps.configuration({"regime.beta": beta})
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value], bleu=value + 1)
    (chart,) = map(traces, responses(summarise(sweeps.load())))
    assert points(chart["configuration"]) == [(0, 31), (5, 33)]
    assert points(chart["reference"]) == [(0, 29.5), (5, 29.5)]
    (chart,) = map(traces, responses(summarise(sweeps.load(tests=()))))
    assert points(chart["configuration"]) == [(0, 31), (5, 33)]


def test_what_is_not_trained_to_the_end_is_hollow(sweeps: Any) -> None:
    for beta, progress in ((0, "running"), (1, "stopped"), (2, "running")):
        sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [30 + beta], progress)
    (figure,) = responses(summarise(sweeps.load(ended=False)))
    early = traces(figure)["not trained to the end"]
    assert points(early) == [(0, 30), (1, 31), (2, 32)] and early.marker.symbol == "circle-open"


def test_categories_lie_down(sweeps: Any) -> None:
    for keys, value in (([1], 30), ([1, 2], 31)):
        sweeps.trial(sweeps.configuration({"augment.0.keys": keys}), 1, [value])
    (figure,) = responses(summarise(sweeps.load()))
    assert points(traces(figure)["configuration"]) == [(30, "1"), (31, "1+2")]


def test_two_keys_have_a_table_around_the_reference_with_merged_points(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30])
    for beta, tau, value in ((0, 1, 29), (5, 1, 33), (5, 2, 31)):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau})
        sweeps.trial(address, 1, [value])
        sweeps.trial(address, 2, [value + 1])
    merged = {"regime.beta": 0, "regime.tau": 2}
    sweeps.merged.append({"point": merged, "same_as": "beta=0, tau=1", "reason": "no weight"})
    (shown,) = responses(summarise(sweeps.load()))
    assert isinstance(shown, Table)
    rows = {row.cells[0].text: row.cells[1:] for row in shown.rows}
    assert [cell.order for cell in rows["1"]] == [29.5, 33.5]
    assert [cell.shade for cell in rows["1"]] == pytest.approx([-0.5 / 3.5, 1.0])
    assert rows["2"][0].order == 29.5, "the point that was merged has the value of the other"
    assert (rows["2"][1].order, rows["2"][1].shade) == (31.5, pytest.approx(1.5 / 3.5))


def test_less_is_better_turns_the_shades(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            point = {"regime.beta": beta, "regime.tau": tau}
            sweeps.trial(sweeps.configuration(point), 1, [30 + beta], metric="ter")
    (shown,) = responses(summarise(sweeps.load()))
    assert isinstance(shown, Table) and shown.rows[0].cells[2].shade == -1.0


def test_more_keys_have_means_over_the_others(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            for keys in ([1], [2]):
                point = {"regime.beta": beta, "regime.tau": tau, "augment.0.keys": keys}
                sweeps.trial(sweeps.configuration(point), 1, [30 + beta + tau / 10])
    beta_chart, tau_chart, _ = responses(summarise(sweeps.load()))
    mean = traces(beta_chart)["mean"]
    assert points(mean) == [(0, pytest.approx(30.15)), (5, pytest.approx(35.15))]
    assert list(traces(tau_chart)["mean"].x) == [1, 2]


def test_nothing_to_show(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in (0, 5)]
    assert responses(summarise(sweeps.load(ended=False))) == []
    sweeps.trial(addresses[0], 1, [30])
    assert responses(summarise(sweeps.load(ended=False))) == []
