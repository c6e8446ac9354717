"""A race at a glance: families, differences and what was trained when."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.figures import configuration_styles, forest, lanes, occupancy
from augury.reporting.sweeps.summary import Summary, summarise
from augury.reporting.sweeps.tables import families


@pytest.fixture
def raced(sweeps: Any) -> Any:
    """A baseline, two views of which one was stopped, and a draw of tokens."""
    rows = [("baseline", ""), ("R-Drop", "views"), ("ROT-1", "views"), ("WordDrop", "draws")]
    for (name, family), share in zip(rows, (0.5, 0.9, 0.6, 0.7), strict=True):
        address = sweeps.configuration({}, name, family=family)
        if name == "ROT-1":
            sweeps.trial(address, 1, [20.0], "stopped")
            continue
        for seed in (1, 2):
            correct = [int(row < 100 * share + seed) for row in range(100)]
            folder = sweeps.trial(address, seed, [20.0, 100 * share])
            sweeps.results.classified(name, address, seed, correct=correct)
            assert folder.complete
    return sweeps


def summary_of(sweeps: Any, **load: Any) -> Summary:
    return summarise(sweeps.load((1, 2), scheduler="race", **load))


def test_each_family_shows_its_best_in_validation(raced: Any) -> None:
    shown = families(summary_of(raced), {})
    assert shown is not None
    assert [(row.cells[0].text, row.note) for row in shown.rows] == [
        ("reference", "baseline"),
        ("views", "R-Drop, the best of 2"),
        ("draws", "WordDrop"),
    ]


def test_no_table_of_families_where_the_space_has_none(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({"regime.beta": 1}), 1, [30.0])
    assert families(summarise(sweeps.load()), {}) is None


def test_the_forest_has_the_tested_differences_the_best_on_top(raced: Any) -> None:
    summary = summary_of(raced)
    (figure,) = forest(summary, configuration_styles(summary))
    chart = figure.to_dict()
    assert [trace["name"] for trace in chart["data"]] == ["WordDrop", "R-Drop"]
    assert summary.deciding is not None
    for trace in chart["data"]:
        row = next(row for row in summary.deciding.rows if row.name == trace["name"])
        assert row.tested is not None and trace["x"] == [row.tested.value]
        bars = trace["error_x"]
        assert row.tested.value + bars["array"][0] == pytest.approx(row.tested.high)
        assert row.tested.value - bars["arrayminus"][0] == pytest.approx(row.tested.low)


def test_a_lane_ends_where_training_paused(sweeps: Any) -> None:
    """Two validations after 100 and 160 seconds of training, between which it waited for 540."""
    address = sweeps.configuration({}, "ours")
    history = [  # two seconds an update
        (update, {"valid/bleu": 30.0, "train/seconds": seconds})
        for update, seconds in ((50, 100.0), (350, 160.0))
    ]
    sweeps.results.run("ours", address, 1, history=history)
    sweeps.trials[f"{address}/seed-1"] = {"progress": "stopped", "error": None}
    sweeps.decide(address, "seed added", 30.0, 0.5, 29.0)
    (figure,) = lanes(summarise(sweeps.load((1,))))
    first, second, decision = figure.to_dict()["data"]
    minutes = [[round(60 * x) for x in line["x"]] for line in (first, second, decision)]
    assert minutes == [[0, 100], [640, 700], [600]]


def test_the_number_of_trials_in_training_falls_where_one_pauses(sweeps: Any) -> None:
    """One trains from 0 to 100 seconds and, after a pause, from 640 to 700; the other to 300."""
    for name, ends in (("ours", ((50, 100.0), (350, 160.0))), ("other", ((150, 300.0),))):
        address = sweeps.configuration({}, name)
        history = [
            (update, {"valid/bleu": 30.0, "train/seconds": seconds}) for update, seconds in ends
        ]
        sweeps.results.run(name, address, 1, history=history)
        sweeps.trials[f"{address}/seed-1"] = {"progress": "stopped", "error": None}
    (figure,) = occupancy(summarise(sweeps.load((1,))))
    (line,) = figure.to_dict()["data"]
    seconds = [round(60 * x) for x in line["x"]]
    assert (seconds, line["y"]) == ([0, 0, 100, 300, 640, 700], [0, 2, 1, 0, 1, 0])


def test_a_family_that_waits_has_no_best(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30.0])
    for name in ("WordDrop", "SwitchOut"):
        sweeps.configuration({"a": name}, name, family="draws")
    shown = families(summarise(sweeps.load((1,), ended=False)), {})
    assert shown is not None and "best" not in shown.rows[1].note
