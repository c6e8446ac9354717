from __future__ import annotations

from typing import Any

from augury.reporting.comparison import comparison
from augury.reporting.curves import learning_curves, training_seconds
from augury.reporting.score_charts import score_against_cost
from augury.reporting.styles import system_style
from tests.run_folders import load


def test_curves_against_updates_and_time(results: Any) -> None:
    history = [
        (10, {"train/loss": 4.0}),
        (20, {"train/loss": 3.0}),
        (20, {"valid/bleu": 12.5, "train/seconds": 5.0}),
    ]
    run = results.run("base <1>", "aa" * 8, bleu=30.0, history=history)
    figures = {figure.name: figure for figure in learning_curves(load([run]), "bleu")}
    assert list(figures) == [
        "valid-bleu-updates",
        "valid-bleu-time",
        "train-loss-updates",
        "train-loss-time",
    ]
    points = {
        name: (line["x"], line["y"])
        for name, figure in figures.items()
        for line in figure.to_dict()["data"]
    }
    assert points == {
        "valid-bleu-updates": ([20.0], [12.5]),
        "valid-bleu-time": ([5.0], [12.5]),
        "train-loss-updates": ([10.0, 20.0], [4.0, 3.0]),
        "train-loss-time": ([2.5, 5.0], [4.0, 3.0]),
    }
    first = figures["valid-bleu-updates"]
    assert first.to_dict()["data"][0]["name"] == "base &lt;1&gt;"


def test_an_axis_of_scores_ends_where_the_metric_does(results: Any) -> None:
    history = [(10, {"train/loss": 4.0, "valid/bleu": 0.1}), (20, {"valid/bleu": 12.5})]
    runs = [
        results.run(name, name[0] * 16, bleu=bleu, history=history, half_width=0.4)
        for name, bleu in (("base", 0.4), ("cipher", 1.2))
    ]
    systems = load(runs)
    score, _, loss, _ = learning_curves(systems, "bleu")
    (cost,) = score_against_cost(comparison(systems, "test"))
    ends = {"clipmin": 0.0, "clipmax": 100.0}
    for figure in (score, cost):
        assert figure.to_dict()["layout"]["yaxis"]["autorangeoptions"] == ends
    assert "clipmin" not in loss.to_dict()["layout"]["yaxis"].get("autorangeoptions", {})


def test_long_curves_are_thinned_and_keep_their_ends(results: Any) -> None:
    run = results.run(
        "base", "aa" * 8, history=[(update, {"train/loss": update}) for update in range(1, 2002)]
    )
    x = learning_curves(load([run]), "bleu")[0].to_dict()["data"][0]["x"]
    assert (len(x), x[0], x[1], x[-1]) == (400, 1.0, 6.0, 2001.0)


def test_training_time_leaves_out_pauses() -> None:
    def record(update: int, time: float, measured: float | None = None) -> Any:
        metrics = {"train/loss": 1.0} if measured is None else {"train/seconds": measured}
        return {"update": update, "epochs": 0.0, "time": time, "metrics": metrics}

    measured = [
        record(10, 100.0),
        record(20, 110.0, 10.0),
        record(30, 990.0),
        record(40, 999.0, 30.0),
    ]
    assert training_seconds(measured) == [5.0, 10.0, 20.0, 30.0]
    assert training_seconds([record(10, 100.0), record(20, 110.0)]) == [0.0, 10.0]


def test_score_against_cost_has_intervals(results: Any) -> None:
    folders = [
        results.run("base", "aa" * 8, bleu=30.0, seconds=300),
        results.run("cipher", "bb" * 8, bleu=31.0),
    ]
    systems = load(folders)
    (figure,) = score_against_cost(comparison(systems, "test"))
    _, point, _ = figure.to_dict()["data"]
    assert (point["x"], point["y"]) == ([5.0], [30.0])
    assert (point["error_y"]["array"], point["error_y"]["arrayminus"]) == ([1.0], [1.0])


def test_no_other_style_is_that_of_the_baseline() -> None:
    styles = [system_style(index) for index in range(30)]
    assert len(set(styles)) == 30
    assert styles[0].colour not in {style.colour for style in styles[1:]}
