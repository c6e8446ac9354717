from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.parallel import parallel_coordinates
from augury.reporting.sweeps.response import responses
from augury.reporting.sweeps.summary import summarise


def traces(figure: Any) -> dict[str, Any]:
    return {trace.get("name", trace["type"]): trace for trace in figure.plot["data"]}


def test_one_number_has_a_curve_with_its_seeds(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29.5])
    for beta, values in ((5, (31, 33)), (0, (30, 30))):
        address = sweeps.configuration({"regime.beta": beta})
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value], bleu=value + 1)
    summary = summarise(sweeps.load())
    validation, test = responses(summary)
    assert (validation.name, validation.title) == ("response-validation", "Validation BLEU by beta")
    assert validation.caption == "Validation BLEU by beta; 0: 30.0, 5: 32.0"
    drawn = traces(validation)
    assert (drawn["mean"]["x"], drawn["mean"]["y"], drawn["mean"]["mode"]) == ([0, 5], [30, 32], "lines+markers")
    assert drawn["mean"]["error_y"]["array"] == pytest.approx([4.302653 * 1 / 2**0.5] * 2)  # 2 squares, 2 degrees
    assert sorted(zip(drawn["one seed"]["x"], drawn["one seed"]["y"], strict=True)) == [
        (0, 30),
        (0, 30),
        (5, 31),
        (5, 33),
    ]
    assert (drawn["reference"]["x"], drawn["reference"]["y"]) == ([0, 5], [29.5, 29.5])
    assert (test.title, traces(test)["mean"]["y"]) == ("BLEU on test by beta", [31, 33])
    layout = validation.plot["layout"]["xaxis"]
    assert (layout["type"], layout["tickvals"], layout["ticktext"]) == ("linear", [0, 5], ["0", "5"])


def test_what_is_not_trained_to_the_end_is_hollow(sweeps: Any) -> None:
    for beta, progress in ((0, "finished"), (1, "stopped"), (2, "running")):
        sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [30 + beta], progress)
    (figure,) = responses(summarise(sweeps.load(ended=False)))
    whole, early, _ = figure.plot["data"]
    assert (whole["x"], whole["marker"]["symbol"]) == ([0], "circle")
    assert (early["x"], early["marker"]["symbol"], early["mode"]) == ([1, 2], "circle-open", "markers")


def test_categories_lie_down(sweeps: Any) -> None:
    for keys, value in (([1], 30), ([1, 2], 31)):
        sweeps.trial(sweeps.configuration({"augment.0.keys": keys}), 1, [value])
    figure = responses(summarise(sweeps.load()))[0]
    mean = traces(figure)["mean"]
    assert (mean["x"], mean["y"], mean["mode"]) == ([30, 31], [0, 1], "markers")
    assert figure.plot["layout"]["yaxis"]["ticktext"] == ["1", "1+2"]


def test_two_keys_have_a_heat_map_around_the_reference(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30])
    for beta, tau, value, progress in ((0, 1, 29, "finished"), (5, 1, 33, "finished"), (5, 2, 10, "stopped")):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau})
        sweeps.trial(address, 1, [value], progress)
        sweeps.trial(address, 2, [value + 1], progress)
    figure = responses(summarise(sweeps.load()))[0]
    (cells,) = figure.plot["data"]
    assert (cells["x"], cells["y"]) == (["0", "5"], ["1", "2"])
    assert cells["z"] == [[29.5, 33.5], [None, 10.5]]
    half = 4.302653 * 0.5**0.5 / 2**0.5
    assert cells["text"] == [[f"29.5<br>± {half:.1f} (2)", f"33.5<br>± {half:.1f} (2)"], ["", "10.5 †<br>(2)"]]
    assert (cells["zmin"], cells["zmax"]) == (26.5, 33.5)  # what was stopped does not stretch the scale
    assert "beta=5, tau=2: 10.5, 2 seeds, not trained to the end" in figure.caption


def test_less_is_better_turns_the_scale(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            sweeps.trial(sweeps.configuration({"regime.beta": beta, "regime.tau": tau}), 1, [30 + beta])
    validation, test = responses(summarise(sweeps.load(mode="min")))
    assert [figure.plot["data"][0]["reversescale"] for figure in (validation, test)] == [True, False]


def test_sparse_draws_of_two_keys_have_a_chart_each(sweeps: Any) -> None:
    for beta, tau in ((0.11, 1.2), (0.52, 2.3), (0.93, 3.4)):
        sweeps.trial(sweeps.configuration({"regime.beta": beta, "regime.tau": tau}), 1, [30])
    figures = responses(summarise(sweeps.load()))
    assert [figure.name for figure in figures] == ["marginal-regime.beta", "marginal-regime.tau"]
    assert list(traces(figures[0])) == ["one configuration"]


def test_more_keys_have_means_over_the_others(sweeps: Any) -> None:
    for beta in (0, 5):
        for tau in (1, 2):
            for keys in ([1], [2]):
                address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau, "augment.0.keys": keys})
                value = 30 + beta + tau / 10
                for seed in (1, 2):
                    sweeps.trial(address, seed, [value + seed / 10], "finished" if tau == 1 else "stopped")
    beta, tau, keys = responses(summarise(sweeps.load()))
    mean = traces(beta)["mean"]
    assert (mean["x"], mean["y"]) == ([0, 5], pytest.approx([30.25, 35.25]))
    single = 2.776445 * (8 * 0.005 / 8) ** 0.5 / 2**0.5  # 4 configurations of 2 seeds: 4 degrees of freedom
    assert mean["error_y"]["array"] == pytest.approx([single / 2**0.5] * 2)
    assert traces(tau)["mean"]["x"] == [1]  # stopped ones are no part of a mean
    assert [trace["marker"]["symbol"] for trace in tau.plot["data"][:2]] == ["circle", "circle-open"]
    assert keys.caption == "Validation BLEU by keys, means: 1: 32.8, 2: 32.8"


def test_nothing_to_show(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in (0, 5)]
    assert responses(summarise(sweeps.load(ended=False))) == []
    sweeps.trial(addresses[0], 1, [30])
    assert responses(summarise(sweeps.load(ended=False))) == []


def test_parallel_coordinates_go_through_values_score_and_cost(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29])
    for beta, keys, value in ((0, [1], 30), (5, [2], 32), (10, [1], 31)):
        address = sweeps.configuration({"regime.beta": beta, "augment.0.keys": keys})
        sweeps.trial(address, 1, [value] * (beta // 5 + 1))
    figure = parallel_coordinates(summarise(sweeps.load()), {})
    assert figure is not None
    drawn = traces(figure)
    assert "baseline" not in drawn
    assert drawn["beta=0, keys=1"]["y"] == [0, 0, 0, 0]
    assert drawn["beta=5, keys=2"]["y"] == [0.5, 1, 1, 0.5]
    assert drawn["beta=10, keys=1"]["y"] == [1, 0, 0.5, 1]
    names = [note["text"] for note in figure.plot["layout"]["annotations"] if note["text"].startswith("<b>")]
    assert names == ["<b>beta</b>", "<b>keys</b>", "<b>validation BLEU</b>", "<b>training time (seconds)</b>"]
    assert figure.caption.endswith("best: beta=5, keys=2 with validation BLEU 32.0")


def test_one_key_needs_no_parallel_coordinates(sweeps: Any) -> None:
    for beta in (0, 5):
        sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [30])
    assert parallel_coordinates(summarise(sweeps.load()), {}) is None
