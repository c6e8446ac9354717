"""Charts of experiments and sweeps: learning curves, differences, scores against cost."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.comparison import comparison
from augury.reporting.curves import learning_curves, recorded
from augury.reporting.figures import Figure
from augury.reporting.score_charts import forest, score_against_cost
from augury.reporting.styles import OTHER, system_style
from augury.reporting.sweeps.report import configuration_styles, report
from augury.reporting.sweeps.summary import summarise
from tests.run_folders import load

LABELS = {"valid/bleu": "validation BLEU", "train/loss": "training loss"}


def curves(*runs: Any) -> list[Figure]:
    systems = load(runs)
    styles = {system.address: system_style(index) for index, system in enumerate(systems)}
    return learning_curves(recorded(systems), LABELS, styles)


def test_curves_are_thinned_and_keep_their_ends(results: Any) -> None:
    history = [(update, {"train/loss": update}) for update in range(1, 2002)]
    history.append((20, {"valid/bleu": 12.5}))
    figures = curves(results.run("base <1>", "aa" * 8, bleu=30.0, history=history))
    validation, loss = (figure.to_dict()["data"][0] for figure in figures)
    assert (validation["x"], validation["y"], validation["name"]) == (
        [20],
        [12.5],
        "base &lt;1&gt;",
    )
    assert (len(loss["x"]), loss["x"][0], loss["x"][-1]) == (200, 1, 2001)
    assert loss["y"] == loss["x"]


def test_curves_of_a_sweep_have_a_line_a_seed_and_systems_without_a_style_are_below(
    sweeps: Any,
) -> None:
    for beta, progress in ((1, "finished"), (2, "stopped")):
        address = sweeps.configuration({"regime.beta": beta})
        sweeps.trial(address, 1, [20, 30 + beta], progress, seconds=300)
    sweeps.trial(sweeps.configurations[0]["address"], 2, [22, 33, 34], seconds=600)
    figures = {figure.name: figure.to_dict()["data"] for figure in shown(sweeps.load())}
    stopped, *best = figures["valid-bleu"]
    assert stopped["line"]["color"] == OTHER.colour
    assert [line["y"] for line in best] == [[20, 31], [22, 33, 34]]


def shown(sweep: Any) -> list[Figure]:
    return report(summarise(sweep)).figures


def test_scores_against_cost_have_intervals_where_systems_have_a_style(results: Any) -> None:
    runs = [
        results.run(name, name * 8, bleu=bleu, seconds=seconds)
        for name, bleu, seconds in (("aa", 30, 90), ("bb", 33, 400))
    ]
    table = comparison(load(runs), "test")
    (figure,) = score_against_cost(table, {table.rows[1].address: system_style(1)})
    faint, shown = figure.to_dict()["data"]
    assert (faint["name"], faint["x"], faint["y"]) == ("aa", [1.5], [30])
    assert (shown["name"], shown["x"], shown["y"]) == ("bb", [pytest.approx(400 / 60)], [33])
    assert faint["marker"]["color"] == OTHER.colour and "error_y" not in faint
    assert (shown["error_y"]["array"], shown["error_y"]["arrayminus"]) == ([1.0], [1.0])
    assert figure.to_dict()["layout"]["yaxis"]["autorangeoptions"]["clipmax"] == 100
    assert score_against_cost(comparison(load(runs[:1]), "test"), {}) == []


def test_the_forest_has_the_tested_differences_the_best_on_top(sweeps: Any) -> None:
    for name, share in (("baseline", 0.5), ("R-Drop", 0.9), ("WordDrop", 0.7)):
        address = sweeps.configuration({}, name)
        for seed in (1, 2):
            correct = [int(row < 100 * share + seed) for row in range(100)]
            sweeps.trial(address, seed, [20.0, 100 * share])
            sweeps.results.run(name, address, seed, correct=correct)
    summary = summarise(sweeps.load((1, 2)))
    assert summary.deciding is not None
    (figure,) = forest(summary.deciding, configuration_styles(summary))
    chart = figure.to_dict()
    assert [trace["name"] for trace in chart["data"]] == ["WordDrop", "R-Drop"]
    for trace in chart["data"]:
        row = next(row for row in summary.deciding.rows if row.name == trace["name"])
        assert row.tested is not None and trace["x"] == [row.tested.value]
        bars = trace["error_x"]
        assert row.tested.value + bars["array"][0] == pytest.approx(row.tested.high)
        assert row.tested.value - bars["arrayminus"][0] == pytest.approx(row.tested.low)
