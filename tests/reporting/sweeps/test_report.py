"""The report of a sweep in the middle, at its end and before it has begun: page, terminal, JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from augury.core.naming import mlflow_command
from augury.reporting import rendering
from augury.reporting.sweeps.locations import locations, repeating
from augury.reporting.sweeps.report import report
from augury.reporting.sweeps.summary import summarise


def figures(html: str) -> list[str]:
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    return list(json.loads(data[1]))


@pytest.fixture
def halving(sweeps: Any, hostile: str) -> Any:
    """A race in the middle: a baseline, three points, one stopped, one failed, one merged."""
    sweeps.results.corpus([("ein", "a")], note="synthetic text")
    baseline = sweeps.configuration({}, "baseline")
    points = [{"key": hostile, "regime.tau": tau} for tau in (1, 2)]
    points.append({"key": "other", "regime.tau": 1})
    first, second, third = (sweeps.configuration(point) for point in points)
    sweeps.trial(baseline, 1, [20, 29, 30])
    sweeps.trial(first, 1, [20, 30, 31.5], seconds=120)
    sweeps.trial(first, 2, [20, 30], "running")
    sweeps.trial(second, 1, [19, 25], "stopped")
    sweeps.trial(third, 1, [], "failed", error=f"Diverged: loss {hostile}")
    merged = {"same_as": "key=other, tau=1", "reason": hostile, "name": hostile}
    sweeps.merged.append({"point": {"key": hostile}, **merged})
    return sweeps.load(scheduler="race", ended=False, question=hostile)


def test_the_middle_of_a_race(halving: Any, read: Any, hostile: str) -> None:
    """Text is shown and never run; the page is loaded again only while it changes."""
    html = rendering.page(report(summarise(halving), 15))
    page = read(html)
    assert page.texts["p"][0] == hostile and "synthetic text" in page.texts["p"]
    first = page.texts["li"].index("2 finished")
    states = ["2 finished", "1 running", "1 stopped", "1 failed", "7 waiting"]
    assert page.texts["li"][first : first + 5] == states
    assert {"race", "smoke"} <= set(page.texts["dd"])
    names = figures(html)
    assert "cost" in names and {name for name in page.ids if name in names} == set(names)
    assert f"Diverged: loss {hostile}" in {cell.strip() for cell in page.texts["td"]}
    assert repeating(halving) in page.texts["pre"] and halving.folder.uri in page.texts["code"]
    assert "img" not in page.tags and all(link.startswith("data:") for link in page.links)
    assert "refresh" in page.ids
    for ended, refresh in ((False, None), (True, 15)):
        shown = report(summarise(replace(halving, ended=ended)), refresh)
        assert "refresh" not in read(rendering.page(shown)).ids


def test_plain_is_json(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30])
    one, two = (sweeps.configuration({"regime.beta": beta}) for beta in (1, 2))
    sweeps.trial(one, 1, [31, 32])
    sweeps.trial(two, 1, [40], "stopped")
    shown = report(summarise(sweeps.load(scheduler="race"))).data
    content = json.loads(json.dumps(shown, allow_nan=False))
    known = {name: content[name] for name in ("best", "ended", "trials", "finished", "failed")}
    assert known == {"best": one, "ended": True, "trials": 3, "finished": 2, "failed": 0}
    assert content["cost"]["train_seconds"] == 240
    best, reference, stopped = content["table"]
    assert (best["name"], best["point"], best["seeds"]) == ("beta=1", {"regime.beta": 1}, 1)
    assert best["validation"]["mean"] == 32 and best["validation"]["values"] == {"1": 32}
    assert (reference["name"], stopped["state"]) == ("baseline", "stopped")
    (compared,) = content["comparisons"]
    rows = {row["system"]: row for row in compared["rows"] if row["metric"] == "bleu"}
    assert rows["beta=1"]["value"] == 32
    assert {name: row["difference"] for name, row in rows.items()} == {
        "baseline": None,
        "beta=1": 2,
    }


def test_of_several_test_sets_the_mean_decides_and_all_are_listed(sweeps: Any) -> None:
    for name, bleu in (("baseline", 30.0), ("ours", 33.0)):
        run = sweeps.trial(sweeps.configuration({}, name), 1, [bleu])
        content = run.read_record("scores.json")
        second = [{**score, "value": score["value"] + 4} for score in content["tests"]["test"]]
        run.write_record("scores.json", content | {"tests": {**content["tests"], "second": second}})
    text = rendering.text(report(summarise(sweeps.load([1], tests=("test", "second")))))
    listed = text[text.index("by test set") :].splitlines()
    assert [line.split() for line in listed[1:5] if "─" not in line] == [
        ["system", "mean", "test", "second"],
        ["baseline", "32.0", "30.0", "34.0"],
        ["ours", "35.0", "33.0", "37.0"],
    ]
    assert "On the mean of the test sets, ours scores 3.0 BLEU more than baseline" in text


def test_where_it_lies(sweeps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    address, root = sweeps.configuration({"regime.beta": 1}), sweeps.results.store.root
    sweeps.folder.sub("tune").write("events", b"")
    shown = locations(sweeps.load())
    assert shown["MLflow"] == mlflow_command(f"sqlite:///{root}/mlflow.db")
    assert shown["TensorBoard"] == f"tensorboard --logdir {root}/sweeps/beta/tune"
    sweeps.trial(address, 1, [30], parameters={"tracking.enabled": False})
    assert list(locations(sweeps.load())) == ["storage", "sweep", "TensorBoard"]
