from __future__ import annotations

import json
import re
import time
from typing import Any

import numpy as np
import pytest

from augury.cli import main
from augury.reporting.sweeps.page import render
from augury.scoring.scores import Score, write_statistics


def figures(html: str) -> list[str]:
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    return list(json.loads(data[1]))


@pytest.fixture
def halving(sweeps: Any) -> Any:
    """A race in the middle: a baseline, four points, one stopped, one failed."""
    sweeps.results.corpus([("ein", "a")], note="synthetic text")
    baseline = sweeps.configuration({}, "baseline")
    points = [{"regime.beta": beta, "regime.tau": tau, "augment.0.keys": [1, 2]} for beta in (0, 5) for tau in (1, 2)]
    first, second, third, fourth = (sweeps.configuration(point) for point in points)
    sweeps.trial(baseline, 1, [20, 29, 30])
    sweeps.trial(first, 1, [20, 30, 31.5], seconds=120)
    sweeps.trial(first, 2, [20, 30], "running")
    sweeps.trial(second, 1, [19, 25], "stopped")
    sweeps.trial(third, 1, [19, 25], "paused")
    sweeps.trial(fourth, 1, [], "failed", error="Diverged: loss <nan>")
    sweeps.decide(first, 1, "promoted", 30, 0.5, 28)
    sweeps.decide(second, 1, "stopped", 25, 0.5, 28)
    sweeps.merged.append({"point": {"regime.beta": 0, "regime.tau": 9}, "same_as": "baseline", "reason": "no weight"})
    return sweeps.load(scheduler="halving", ended=False, question="Which β is <best>?")


def test_the_middle_of_a_race(halving: Any, read: Any) -> None:
    html = render(halving, refresh=15)
    found = read(html)
    assert found.texts["h1"] == ["Sweep beta"]
    assert found.texts["p"][0] == "Which β is <best>?"
    assert found.texts["p"][1].startswith("So far, with 2 trials finished, on test, beta=0, tau=1, keys=1+2 scores 1.5")
    assert found.texts["p"][1].endswith("; 1 of 6 trials failed; 1 of 5 configurations were stopped early.")
    assert found.texts["p"][2] == "synthetic text"
    assert found.texts["h2"] == [
        "Configurations",
        "How the score answers to what was swept",
        "Parallel coordinates",
        "Learning curves",
        "Score against cost",
        "What the race decided",
        "Points that are the same experiment",
        "Failed trials",
        "Where it lies",
    ]
    assert found.texts["li"][:6] == ["2 finished", "1 running", "1 paused", "1 stopped", "1 failed", "9 waiting"]
    assert found.texts["dd"][:6] == [
        "1, 2, 3",
        "halving",
        "smoke",
        "0.2 hours on cpu",
        "2023-11-14 22:13:20 UTC",
        "2023-11-14 23:13:20 UTC",
    ]
    names = figures(html)
    assert names == [
        "response-validation",
        "response-test",
        "parallel",
        "curves-updates",
        "curves-time",
        "cost",
        "rung-1",
    ]
    assert [name for name in found.ids if name in names] == names


def test_the_table_of_configurations(halving: Any, read: Any) -> None:
    found = read(render(halving))
    assert found.texts["th"][:10] == [
        "rank",
        "beta",
        "tau",
        "keys",
        "state",
        "seeds",
        "validation BLEU",
        "BLEU test",
        "difference [95 %]",
        "p",
    ]
    assert found.texts["small"] == ["baseline, reference"]
    best, reference = found.texts["td"][:12], found.texts["td"][12:24]
    assert best[:8] == ["0", "1", "1+2", "running", "1 of 3", "31.5", "31.5 [30.5, 32.5]", "+1.5"]
    assert best[-2:] == ["6 min 00 s", "2.0 ×"]
    assert reference[:6] == ["–", "–", "–", "finished", "1 of 3", "30.0"]
    assert "stopped at rung 1" in found.texts["td"]
    assert {"1.5", "running", "[1, 2]"} <= {
        value or "" for value in re.findall(r'data-sort="([^"]*)"', render(halving))
    }


def test_differences_are_tested(sweeps: Any, read: Any) -> None:
    worse, better = [8, 6, 4, 3, 10, 9, 8, 7, 10], [9, 7, 5, 4, 10, 9, 8, 7, 10]  # counts of a sentence
    for beta, share in ((0, 0.25), (5, 0.75)):
        run = sweeps.trial(sweeps.configuration({"regime.beta": beta}), 1, [30 + beta])
        counts = np.where(np.arange(2000)[:, None] < 2000 * share, better, worse)
        write_statistics(run, "test", [Score("bleu", 30, 29, 31, "tok:13a", 2000, counts)])
    found = read(render(sweeps.load()))
    best = found.texts["td"][:8]
    assert re.fullmatch(r"\+(\d+\.\d)\*\* \[\+\d+\.\d, \+\d+\.\d\]", best[5])
    assert best[6] == "< 0.001"
    assert any("* p < 0.05, ** p < 0.01" in note for note in found.texts["li"])


def test_decisions_merges_failures_and_places(halving: Any, read: Any) -> None:
    found = read(render(halving))
    assert found.texts["summary"] == ["11 notes on the numbers", "All 2 decisions", "Addresses of all runs"]
    for cell in ("25.0 [24.5, 25.5]", "1, after 2 validations", "no weight", "Diverged: loss <nan>"):
        assert cell in found.texts["td"]
    assert halving.folder.uri in found.texts["code"]
    assert "beta=0, tau=9" in found.texts["th"]


def test_nothing_has_begun(sweeps: Any, read: Any) -> None:
    for beta in (0, 5):
        sweeps.configuration({"regime.beta": beta})
    html = render(sweeps.load(ended=False), refresh=15)
    assert read(html).texts["h2"] == ["Configurations", "Where it lies"]
    assert figures(html) == []


def test_a_page_of_sixty_configurations_is_little_more_than_plotly(sweeps: Any) -> None:
    for beta in range(60):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": beta % 7, "seed": beta % 3})
        for seed in (1, 2, 3, 4, 5):
            sweeps.trial(address, seed, [20 + beta / 10 + index for index in range(20)])
    html = render(sweeps.load([1, 2, 3, 4, 5]))
    assert 4_000_000 < len(html) < 5_500_000


def test_it_is_loaded_again_only_while_it_changes(sweeps: Any, read: Any) -> None:
    sweeps.configuration({"regime.beta": 1})
    for ended, refresh, again in ((False, 15, True), (False, None, False), (True, 15, False)):
        assert ("refresh" in read(render(sweeps.load(ended=ended), refresh=refresh)).ids) == again


def test_a_driver_that_is_not_heard_of_any_more_is_said_to_be(sweeps: Any, capsys: pytest.CaptureFixture[str]) -> None:
    sweeps.configuration({"regime.beta": 1})
    ended, killed = sweeps.load(), sweeps.load(ended=False)
    assert ended.silent is None
    assert killed.silent == pytest.approx(time.time() - killed.updated, abs=60)
    assert f'data-updated="{killed.updated:.0f}"' in render(killed, refresh=15)
    assert main(["watch", killed.name, "--storage", killed.folder.root, "--once"]) == 0
    assert "nothing was heard of the sweep since 2023-11-1" in capsys.readouterr().err


def test_text_is_shown_and_never_run(sweeps: Any, read: Any, hostile: str) -> None:
    for value in (hostile, "other"):
        sweeps.trial(sweeps.configuration({"key": value, "regime.tau": 1}), 1, [30, 31], device=hostile)
    sweeps.trial(sweeps.configuration({"key": "third", "regime.tau": 2}), 1, [], "failed", error=hostile)
    sweeps.decide(sweeps.configurations[0]["address"], 1, "chosen", 31, 1, 30)
    sweeps.merged.append({"point": {"key": hostile}, "same_as": hostile, "reason": hostile})
    found = read(render(sweeps.load(question=hostile), refresh=15))
    assert "img" not in found.tags
    assert found.links == ["data:,"]
    assert found.tags.count("script") == 3
    assert hostile in found.texts["td"]
