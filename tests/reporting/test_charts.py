"""Charts of experiments and sweeps: learning curves, differences, scores against cost."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.curves import learning_curves, recorded
from augury.reporting.figures import Figure
from augury.reporting.score_charts import forest
from augury.reporting.styles import system_style
from augury.reporting.sweeps.report import configuration_styles
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
