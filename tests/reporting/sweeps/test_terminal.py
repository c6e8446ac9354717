from __future__ import annotations

import json
from typing import Any

import pytest

from augury.experiments.stored_runs import NO_TESTS
from augury.reporting import rendering
from augury.reporting.sweeps.report import report


@pytest.fixture
def addresses(sweeps: Any) -> list[str]:
    return [
        sweeps.configuration({}, "baseline"),
        *(sweeps.configuration({"regime.beta": beta}) for beta in (1, 2)),
    ]


def test_every_output_says_that_validation_decides(sweeps: Any, addresses: list[str]) -> None:
    sweeps.trial(addresses[0], 1, [30])
    untested, tested = sweeps.load(tests=()), sweeps.load()
    assert (report(untested).data["decided_on"], report(untested).data["cautions"]) == (
        "validation",
        [NO_TESTS],
    )
    assert (report(tested).data["decided_on"], report(tested).data["cautions"]) == ("tests", [])
    for shown in (rendering.text, rendering.page):
        assert NO_TESTS in shown(report(untested)) and NO_TESTS not in shown(report(tested))


def test_plain_is_json(sweeps: Any, addresses: list[str]) -> None:
    sweeps.trial(addresses[0], 1, [30])
    sweeps.trial(addresses[1], 1, [31, 32])
    sweeps.trial(addresses[2], 1, [20], "stopped")
    content = json.loads(json.dumps(report(sweeps.load(scheduler="race")).data, allow_nan=False))
    assert (content["best"], content["reference"], content["ended"]) == (
        addresses[1],
        addresses[0],
        True,
    )
    assert (content["trials"], content["finished"], content["failed"]) == (3, 2, 0)
    assert content["cost"]["train_seconds"] == 240
    best, reference, stopped = content["table"]
    assert (best["name"], best["point"], best["seeds"]) == ("beta=1", {"regime.beta": 1}, 1)
    assert best["validation"] == {
        "mean": 32,
        "sd": None,
        "low": None,
        "high": None,
        "values": {"1": 32},
    }
    assert best["tests"]["test"]["scores"]["bleu"]["value"] == 32
    assert best["tests"]["test"]["difference"] == 2
    assert reference["tests"]["test"]["difference"] is None
    assert (stopped["state"], stopped["tests"]) == ("stopped", {})
    assert content["answer"].startswith("On test, beta=1 scores 2.0 BLEU more than baseline")


def test_of_several_test_sets_the_mean_decides_and_all_are_listed(
    sweeps: Any, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for address, bleu in zip(addresses, (30.0, 33.0, 31.0), strict=True):
        run = sweeps.trial(address, 1, [bleu])
        content = run.read_record("scores.json")
        second = [{**score, "value": score["value"] + 4} for score in content["tests"]["test"]]
        run.write_record("scores.json", content | {"tests": {**content["tests"], "second": second}})
    sweep = sweeps.load([1])
    shown = rendering.text(report(sweep))
    assert "BLEU mean" in shown and shown.count("difference [95 %]") == 1
    listed = shown[shown.index("by test set") :].splitlines()
    assert [line.split() for line in listed[1:6] if "─" not in line] == [
        ["system", "mean", "test", "second"],
        ["baseline", "32.0", "30.0", "34.0"],
        ["beta=1", "35.0", "33.0", "37.0"],
        ["beta=2", "33.0", "31.0", "35.0"],
    ]
    assert "On the mean of the test sets, beta=1 scores 3.0 BLEU more than baseline" in shown
    content = report(sweep).data
    assert list(content["table"][0]["tests"]) == ["mean", "test", "second"]
