from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.score_charts import forest, pareto_front, score_against_cost
from augury.reporting.styles import OTHER, system_style
from augury.reporting.sweeps.figures import configuration_styles, learning_curves
from augury.reporting.sweeps.summary import summarise


def traces(figure: Any) -> list[Any]:
    return list(figure.to_dict()["data"])


def lines(figure: Any, name: str) -> list[Any]:
    return [trace for trace in traces(figure) if trace.get("name") == name]


def test_the_reference_and_the_best_six_have_a_style(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in range(10)]
    for beta, address in enumerate(addresses):
        sweeps.trial(address, 1, [30 + beta], "stopped" if beta == 9 else "finished")
    styles = configuration_styles(summarise(sweeps.load()))
    assert styles == {addresses[0]: system_style(0)} | {
        addresses[9 - place]: system_style(place) for place in range(1, 7)
    }


def test_curves_are_means_over_seeds_within_their_band(sweeps: Any) -> None:
    address = sweeps.configuration({"regime.beta": 1})
    sweeps.trial(address, 1, [20, 30], seconds=30)
    sweeps.trial(address, 2, [22, 33, 34], seconds=40)
    summary = summarise(sweeps.load())
    updates, times = learning_curves(summary, configuration_styles(summary))
    band, mean = updates.to_dict()["data"]
    assert (mean["x"], mean["y"]) == ([100, 200, 300], [21, 31.5, 34])
    assert (band["x"], band["y"]) == ([100, 200, 300, 300, 200, 100], [20, 30, 34, 34, 33, 22])
    assert times.to_dict()["data"][1]["x"] == [35, 70, 120]
    assert (updates.name, times.name) == ("curves-updates", "curves-time")


def test_stopped_configurations_are_faint_and_below(sweeps: Any) -> None:
    for beta, progress in ((1, "finished"), (2, "stopped")):
        sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [20, 30 + beta], progress)
    summary = summarise(sweeps.load())
    stopped, best = learning_curves(summary, configuration_styles(summary))[0].to_dict()["data"]
    assert (stopped["line"]["color"], stopped["line"]["dash"]) == (OTHER.colour, "dot")
    assert best["line"]["width"] > stopped["line"]["width"]


def test_no_curves_before_a_validation(sweeps: Any) -> None:
    sweeps.configuration({"regime.beta": 1})
    summary = summarise(sweeps.load(ended=False))
    assert learning_curves(summary, configuration_styles(summary)) == []


def test_the_front_is_what_nothing_beats_in_score_and_cost(sweeps: Any) -> None:
    for beta, (bleu, seconds) in enumerate(
        [(30, 100), (29, 120), (31, 120), (31, 150), (30.5, 110), (33, 400)]
    ):
        sweeps.trial(
            sweeps.configuration({"regime.beta": beta}), 1, [30], bleu=bleu, seconds=seconds
        )
    summary = summarise(sweeps.load())
    kept = pareto_front(summary.comparisons[0])
    assert [row.name for row in kept] == ["beta=0", "beta=4", "beta=2", "beta=5"]
    (figure,) = score_against_cost(summary.comparisons[0], configuration_styles(summary))
    (line,) = lines(figure, "front")
    assert line["x"] == pytest.approx([100 / 60, 110 / 60, 2, 400 / 60])
    assert line["y"] == [30, 30.5, 31, 33]
    rings = {
        trace["name"]: trace["marker"]["line"]["width"]
        for trace in figure.to_dict()["data"]
        if "marker" in trace
    }
    assert {name for name, width in rings.items() if width} == {
        "beta=0",
        "beta=4",
        "beta=2",
        "beta=5",
    }


def test_the_forest_has_the_tested_differences_the_best_on_top(sweeps: Any) -> None:
    for name, share in (("baseline", 0.5), ("R-Drop", 0.9), ("WordDrop", 0.7)):
        address = sweeps.configuration({}, name)
        for seed in (1, 2):
            correct = [int(row < 100 * share + seed) for row in range(100)]
            sweeps.trial(address, seed, [20.0, 100 * share])
            sweeps.results.run(name, address, seed, correct=correct)
    summary = summarise(sweeps.load((1, 2)))
    (figure,) = forest(summary.deciding, configuration_styles(summary))
    chart = figure.to_dict()
    assert [trace["name"] for trace in chart["data"]] == ["WordDrop", "R-Drop"]
    assert summary.deciding is not None
    for trace in chart["data"]:
        row = next(row for row in summary.deciding.rows if row.name == trace["name"])
        assert row.tested is not None and trace["x"] == [row.tested.value]
        bars = trace["error_x"]
        assert row.tested.value + bars["array"][0] == pytest.approx(row.tested.high)
        assert row.tested.value - bars["arrayminus"][0] == pytest.approx(row.tested.low)
