"""The page of a sweep in the middle, at its end and before it has begun."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from augury.core.progress import duration
from augury.reporting import rendering
from augury.reporting.sweeps.report import configurations, report
from augury.reporting.sweeps.summary import summarise
from augury.scoring.stored import Measured, write_statistics
from augury.sweeping.state import DEFINITION, Sweep


def render(sweep: Sweep, refresh: int | None = None) -> str:
    return rendering.page(report(sweep, refresh))


def figures(html: str) -> list[str]:
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    return list(json.loads(data[1]))


@pytest.fixture
def halving(sweeps: Any) -> Any:
    """A race in the middle: a baseline, four points, one stopped, one failed, one merged."""
    sweeps.results.corpus([("ein", "a")], note="synthetic text")
    baseline = sweeps.configuration({}, "baseline")
    points = [
        {"regime.beta": beta, "regime.tau": tau, "augment.0.keys": [1, 2]}
        for beta in (0, 5)
        for tau in (1, 2)
    ]
    first, second, third, fourth = (sweeps.configuration(point) for point in points)
    sweeps.trial(baseline, 1, [20, 29, 30])
    sweeps.trial(first, 1, [20, 30, 31.5], seconds=120)
    sweeps.trial(first, 2, [20, 30], "running")
    sweeps.trial(second, 1, [19, 25], "stopped")
    sweeps.trial(third, 1, [19, 25], "stopped")
    sweeps.trial(fourth, 1, [], "failed", error="Diverged: loss <nan>")
    sweeps.decide(first, "seed added", 30, 0.5, 28)
    sweeps.merged.append(
        {"point": {"regime.beta": 0, "regime.tau": 9}, "same_as": "baseline", "reason": "no weight"}
    )
    return sweeps.load(scheduler="race", ended=False, question="Which β is <best>?")


def test_the_middle_of_a_race(halving: Any, read: Any) -> None:
    html = render(halving, refresh=15)
    page = read(html)
    assert page.texts["p"][0] == "Which β is <best>?" and "synthetic text" in page.texts["p"]
    first = page.texts["li"].index("2 finished")
    assert page.texts["li"][first : first + 5] == [
        "2 finished",
        "1 running",
        "2 stopped",
        "1 failed",
        "9 waiting",
    ]
    assert {"race", "smoke"} <= set(page.texts["dd"])
    assert f"{duration(halving.seconds)} on cpu" in page.texts["dd"]
    names = figures(html)
    assert {"curves-updates", "curves-time", "cost"} <= set(names)
    assert {name for name in page.ids if name in names} == set(names)
    cells = {cell.strip() for cell in page.texts["td"]}
    assert {"Diverged: loss <nan>"} <= cells
    repetition = f"--seeds 1 2 3 --name beta --storage {halving.folder.root}"
    assert (
        any(repetition in text for text in page.texts["pre"])
        and halving.folder.uri in page.texts["code"]
    )


def test_the_table_of_configurations_holds_the_merged_points_with_their_value(halving: Any) -> None:
    shown = configurations(summarise(halving), {})
    assert shown.columns[1:4] == ("beta", "tau", "keys")
    best, reference, merged = ([cell.text for cell in row.cells] for row in shown.rows[:3])
    assert best[:8] == ["1", "0", "1", "1+2", "running", "1 of 3", "31.5", "31.5 [30.5, 32.5]"]
    assert best[8] == "+1.5" and best[-2:] == ["6 min 00 s", "2.0 ×"]
    assert reference[:7] == ["2", "–", "–", "–", "finished", "1 of 3", "30.0"]
    assert merged[1:3] == ["0", "9"] and merged[5:] == reference[5:]
    assert [row.cells[3].order for row in shown.rows[:2]] == ["1+2", "–"]


def test_differences_are_tested(sweeps: Any) -> None:
    worse, better = (
        [10, 10, 8, 6, 4, 3, 10, 9, 8, 7],
        [10, 10, 9, 7, 5, 4, 10, 9, 8, 7],
    )  # counts of a sentence
    for beta, share in ((0, 0.25), (5, 0.75)):
        address = sweeps.configuration({"regime.beta": beta})
        for seed in (1, 2, 3):
            run = sweeps.trial(address, seed, [30 + beta])
            counts = np.where(np.arange(2000)[:, None] < 2000 * share, better, worse)
            write_statistics(run, "test", [Measured("bleu", 30, 29, 31, "tok:13a", 2000, counts)])
    best = configurations(summarise(sweeps.load()), {}).rows[0]
    assert re.fullmatch(r"\+(\d+\.\d)\*\* \[\+\d+\.\d, \+\d+\.\d\]", best.cells[6].text)
    assert best.cells[7].text == "< 0.001"


def test_nothing_has_begun(sweeps: Any, read: Any) -> None:
    for beta in (0, 5):
        sweeps.configuration({"regime.beta": beta})
    html = render(sweeps.load(ended=False), refresh=15)
    assert len(read(html).texts["h2"]) == 2 and figures(html) == []


def test_it_is_loaded_again_only_while_it_changes(sweeps: Any, read: Any) -> None:
    sweeps.configuration({"regime.beta": 1})
    for ended, refresh, again in ((False, 15, True), (False, None, False), (True, 15, False)):
        assert ("refresh" in read(render(sweeps.load(ended=ended), refresh=refresh)).ids) == again


def test_a_silent_driver_is_reported(sweeps: Any) -> None:
    sweeps.configuration({"regime.beta": 1})
    ended, killed = sweeps.load(), sweeps.load(ended=False)
    assert ended.silent is None
    assert killed.silent == pytest.approx(time.time() - killed.updated, abs=60)
    assert f'data-updated="{killed.updated:.0f}"' in render(killed, refresh=15)


def test_text_is_shown_and_never_run(sweeps: Any, read: Any, hostile: str) -> None:
    for value in (hostile, "other"):
        sweeps.trial(
            sweeps.configuration({"key": value, "regime.tau": 1}), 1, [30, 31], device=hostile
        )
    sweeps.trial(
        sweeps.configuration({"key": "third", "regime.tau": 2}), 1, [], "failed", error=hostile
    )
    sweeps.decide(sweeps.configurations[0]["address"], "chosen", 31, 1, 30)
    sweeps.merged.append(
        {"point": {"key": hostile}, "same_as": "key=other, tau=1", "reason": hostile}
    )
    page = read(render(sweeps.load(question=hostile), refresh=15))
    assert "img" not in page.tags and page.tags.count("script") == 3
    assert all(link.startswith("data:") for link in page.links)
    assert hostile in page.texts["td"]


@pytest.mark.parametrize("file", [None, "mine.yaml"])
def test_an_experiment_of_ones_own_is_no_scale(sweeps: Any, file: str | None) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30.0])
    sweep = sweeps.load((1,))
    definition = sweep.folder.read_record(DEFINITION)
    sweep.folder.write_record(DEFINITION, {**definition, "experiment": file})
    facts = report(sweep).facts
    assert facts.get("experiment") == file and ("scale" in facts) == (file is None)


def test_the_rest_of_a_budget_is_a_fact_until_the_sweep_ends(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30.0])
    for ended, shown in ((False, "4 min 00 s left"), (True, None)):
        sweep = sweeps.load((1,), ended=ended)
        limited = replace(sweep, deadline=sweep.updated + 240)
        assert report(limited).facts.get("budget") == shown
