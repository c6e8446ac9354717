"""Charts and tables show how a score responds to what was swept."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.figures import Figure
from augury.reporting.sweeps.figures import parallel_coordinates
from augury.reporting.sweeps.response import importance, responses
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Table


def traces(figure: Any) -> dict[str, Any]:
    assert isinstance(figure, Figure)
    return {trace.name: trace for trace in figure.chart.data}


def points(trace: Any) -> list[tuple[float, float]]:
    return sorted(zip(trace.x, trace.y, strict=True))


def test_one_number_has_a_curve_with_its_seeds(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29.5])
    for beta, values in ((5, (31, 33)), (0, (30, 30))):
        address = sweeps.configuration({"regime.beta": beta})
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value], bleu=value + 1)
    validation, test = map(traces, responses(summarise(sweeps.load())))
    assert points(validation["mean"]) == [(0, 30), (5, 32)] and points(test["mean"]) == [
        (0, 31),
        (5, 33),
    ]
    half = 4.302653 * 1 / 2**0.5  # 2 squares, 2 degrees of freedom
    assert validation["mean"].error_y.array == pytest.approx([half] * 2)
    assert points(validation["one seed"]) == [(0, 30), (0, 30), (5, 31), (5, 33)]
    assert points(validation["reference"]) == [(0, 29.5), (5, 29.5)]


def test_what_is_not_trained_to_the_end_is_hollow(sweeps: Any) -> None:
    for beta, progress in ((0, "finished"), (1, "stopped"), (2, "running")):
        sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [30 + beta], progress)
    (figure,) = responses(summarise(sweeps.load(ended=False)))
    assert isinstance(figure, Figure)
    assert points(traces(figure)["one seed"]) == points(traces(figure)["mean"]) == [(0, 30)]
    early = traces(figure)["not trained to the end"]
    assert points(early) == [(1, 31), (2, 32)] and early.marker.symbol == "circle-open"


def test_categories_lie_down(sweeps: Any) -> None:
    for keys, value in (([1], 30), ([1, 2], 31)):
        sweeps.trial(sweeps.configuration({"augment.0.keys": keys}), 1, [value])
    figure = responses(summarise(sweeps.load()))[0]
    assert points(traces(figure)["mean"]) == [(30, 0), (31, 1)]
    assert isinstance(figure, Figure) and list(figure.chart.layout.yaxis.ticktext) == ["1", "1+2"]


def test_two_keys_have_a_table_around_the_reference_with_merged_points(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30])
    for beta, tau, value, progress in (
        (0, 1, 29, "finished"),
        (5, 1, 33, "finished"),
        (5, 2, 10, "stopped"),
    ):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau})
        sweeps.trial(address, 1, [value], progress)
        sweeps.trial(address, 2, [value + 1], progress)
    merged = {"regime.beta": 0, "regime.tau": 2}
    sweeps.merged.append({"point": merged, "same_as": "beta=0, tau=1", "reason": "no weight"})
    shown = responses(summarise(sweeps.load()))[0]
    assert isinstance(shown, Table)
    rows = {row.cells[0].text: row.cells[1:] for row in shown.rows}
    assert [cell.order for cell in rows["1"]] == [29.5, 33.5]
    assert [cell.shade for cell in rows["1"]] == pytest.approx([-0.5 / 3.5, 1.0])
    assert rows["2"][0].order == 29.5, "the point that was merged has the value of the other"
    assert (rows["2"][1].order, rows["2"][1].shade) == (10.5, -1.0) and "†" in rows["2"][1].text
    half = 4.302653 * 0.5**0.5 / 2**0.5
    assert f"± {half:.1f} (2)" in rows["1"][0].text


def test_less_is_better_turns_the_shades(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            sweeps.trial(
                sweeps.configuration({"regime.beta": beta, "regime.tau": tau}), 1, [30 + beta]
            )
    shades = []
    for shown in responses(summarise(sweeps.load(mode="min"))):
        assert isinstance(shown, Table)
        shades.append(shown.rows[0].cells[2].shade)
    assert shades == [-1.0, 1.0]


def test_more_keys_have_means_over_the_others(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            for keys in ([1], [2]):
                address = sweeps.configuration(
                    {"regime.beta": beta, "regime.tau": tau, "augment.0.keys": keys}
                )
                value = 30 + beta + tau / 10
                for seed in (1, 2):
                    sweeps.trial(
                        address, seed, [value + seed / 10], "finished" if tau == 1 else "stopped"
                    )
    beta_chart, tau_chart, _ = responses(summarise(sweeps.load()))
    mean = traces(beta_chart)["mean"]
    assert points(mean) == [(0, pytest.approx(30.25)), (5, pytest.approx(35.25))]
    single = (
        2.776445 * (8 * 0.005 / 8) ** 0.5 / 2**0.5
    )  # 4 configurations of 2 seeds: 4 degrees of freedom
    assert mean.error_y.array == pytest.approx([single / 2**0.5] * 2)
    assert list(traces(tau_chart)["mean"].x) == [1], "stopped ones are no part of a mean"


def test_sparse_draws_have_no_means(sweeps: Any) -> None:
    for beta, tau in ((0.11, 1.2), (0.52, 2.3), (0.93, 3.4)):
        sweeps.trial(sweeps.configuration({"regime.beta": beta, "regime.tau": tau}), 1, [30])
    assert [list(traces(figure)) for figure in responses(summarise(sweeps.load()))] == [
        ["one configuration"]
    ] * 2


def test_nothing_to_show(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in (0, 5)]
    assert responses(summarise(sweeps.load(ended=False))) == []
    sweeps.trial(addresses[0], 1, [30])
    assert responses(summarise(sweeps.load(ended=False))) == []


def test_importance_is_the_share_of_variance_that_a_key_explains(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            for again in (0, 1):
                point = {"regime.beta": beta, "regime.tau": tau, "seed": again}
                sweeps.trial(sweeps.configuration(point), 1, [30 + beta + tau / 10])
    shown = importance(summarise(sweeps.load()))
    assert shown is not None
    shares = {row.cells[0].text: row.cells[1].order for row in shown.rows}
    between, within = 8 * 2.5**2, 8 * 0.05**2  # squares of beta, and of tau, which is noise to beta
    expected = 1 - (within / 6) / ((between + within) / 7)
    assert shares == {"beta": pytest.approx(expected), "tau": 0.0, "seed": 0.0}
    assert list(shares) == ["beta", "tau", "seed"]


def test_parallel_coordinates_go_through_values_score_and_cost(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29])
    for beta, keys, value in ((0, [1], 30), (5, [2], 32), (10, [1], 31)):
        address = sweeps.configuration({"regime.beta": beta, "augment.0.keys": keys})
        sweeps.trial(address, 1, [value] * (beta // 5 + 1))
    (figure,) = parallel_coordinates(summarise(sweeps.load()), {})
    drawn = {name: list(trace.y) for name, trace in traces(figure).items()}
    assert drawn == {
        "beta=0, keys=1": [0, 0, 0, 0],
        "beta=5, keys=2": [0.5, 1, 1, 0.5],
        "beta=10, keys=1": [1, 0, 0.5, 1],
    }
