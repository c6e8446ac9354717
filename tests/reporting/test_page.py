from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.reporting.page import render
from augury.reporting.results import load
from augury.reporting.table import comparison, difference, probability


@pytest.fixture
def folders(results: Any) -> list[Any]:
    results.corpus([("ein <b>Haus</b>", "a house"), ("zwei", "two"), ("drei", "three")], note="synthetic text")
    history = [(10, {"train/loss": 4.0}), (20, {"train/loss": 3.0, "valid/bleu": 12.5, "train/seconds": 5.0})]
    return [
        results.run("baseline", "aa" * 8, bleu=30.0, hypotheses=["a home", "too", ""], history=history),
        results.run(
            "cipher & co",
            "bb" * 8,
            bleu=31.8,
            hypotheses=["a house", "two", "three"],
            history=history,
            parameters={"regime.beta": 5, "augment.0.keys": [1, 2]},
            seconds=250,
        ),
    ]


def test_the_page_says_and_shows_what_came_out(folders: list[Any], read: Any) -> None:
    found = read(render(load(folders), "ciphers"))
    assert found.texts["title"] == ["ciphers: cipher & co on test"]
    assert found.texts["h1"] == ["ciphers"]
    assert found.texts["p"][:2] == [
        "On test, cipher & co scores 1.8 BLEU more than baseline (31.8 against 30.0) at 2.5 × the training time, "
        "but the difference is not tested and one seed does not decide.",
        "synthetic text",
    ]
    assert found.texts["h2"] == [
        "Scores and cost",
        "Learning curves",
        "Score against cost",
        "Examples",
        "What differs between the systems",
        "What was compared",
    ]
    for cell in ("30.0 [29.0, 31.0]", "31.8 [30.8, 32.8]", "+1.8", "50.0", "1.2M", "5.4M", "4 min 10 s", "2.5 ×"):
        assert cell in found.texts["td"]
    assert "BLEU: tok:13a, n = 2,000" in found.texts["li"]
    assert found.texts["dd"] == [
        "ein <b>Haus</b>",
        "a house",
        "a home",
        "a house",
        "zwei",
        "two",
        "too",
        "two",
        "drei",
        "three",
        "(empty)",
        "three",
    ]
    settings = ["regime.beta", "5", "augment.0.keys", "[1, 2]"]
    addresses = ["aa" * 8, "a" * 16, "7e57" * 4, "c0ffee", "bb" * 8, "a" * 16, "7e57" * 4, "c0ffee"]
    assert found.texts["code"] == settings + addresses


def test_the_page_shows_the_difference_with_interval_and_mark(results: Any, read: Any) -> None:
    labels = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    systems = load(
        [
            results.classified(name, name[0] * 16, seed, correct=correct[seed:] + correct[:seed])
            for name, correct in labels.items()
            for seed in (1, 2)
        ]
    )
    found = read(render(systems, "labels"))
    _, cipher = comparison(systems, "test").rows
    assert cipher.mark == "**"
    assert difference(cipher) in found.texts["td"] and probability(cipher) in found.texts["td"]
    assert "the difference is real (95 % interval +" in found.texts["p"][0]
    assert any("two-level test over seeds and sentences" in note for note in found.texts["li"])


def test_the_charts_have_a_place_each(folders: list[Any], read: Any) -> None:
    html = render(load(folders), "ciphers")
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    names = list(json.loads(data[1]))
    assert names == ["valid-bleu-updates", "valid-bleu-time", "train-loss-updates", "train-loss-time", "cost"]
    assert [name for name in read(html).ids if name in names] == names


def test_the_page_needs_no_network(folders: list[Any], read: Any) -> None:
    html = render(load(folders), "ciphers")
    found = read(html)
    assert found.links == ["data:,"]
    assert found.tags.count("script") == 3
    assert len(html) > 4_000_000  # Plotly is inside
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1] and "@import" not in style[1]


def test_text_is_shown_and_never_run(results: Any, read: Any, hostile: str) -> None:
    results.corpus([(hostile, hostile)], note=hostile)
    history = [(1, {"train/loss": 1.0, "valid/bleu": 1.0})]
    folders = [
        results.run(
            name,
            address * 8,
            bleu=30.0,
            hypotheses=[hostile],
            history=history,
            signature=hostile,
            device=hostile,
            parameters={hostile: name, "note": hostile + name},
        )
        for name, address in ((hostile, "aa"), (f"other {hostile}", "bb"))
    ]
    found = read(render(load(folders), "ciphers"))
    assert "img" not in found.tags
    assert found.links == ["data:,"]
    assert found.texts["dd"] == [hostile] * 4


def test_a_page_without_history_translations_or_rival(results: Any, read: Any) -> None:
    found = read(render(load([results.run("baseline", "aa" * 8, bleu=30.0)]), "ciphers"))
    assert found.texts["h2"] == ["Scores and cost", "Learning curves", "Score against cost", "What was compared"]
    assert "Training has left no history yet." in found.texts["p"]


def test_equal_configurations_and_several_scored_sets(results: Any, read: Any) -> None:
    folders = [results.run("base", "aa" * 8, bleu=30.0), results.run("again", "bb" * 8, bleu=30.0, test="flores")]
    found = read(render(load(folders), "ciphers"))
    assert found.texts["h3"] == ["test", "flores"]
    assert "Their configurations are equal." in found.texts["p"]


def test_no_page_before_there_are_scores(results: Any) -> None:
    with pytest.raises(UserError, match="no run has scores yet"):
        render(load([results.run("baseline", "aa" * 8)]), "ciphers")


def test_several_test_sets_begin_with_their_mean_and_have_a_heat_map(results: Any, read: Any) -> None:
    systems = []
    for system in load(
        [
            results.classified(name, name[0] * 16, seed, correct=correct)
            for seed in (1, 2)
            for name, correct in {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}.items()
        ]
    ):
        sets = {"en": "test", "sw": "test"}
        systems.append(
            replace(
                system,
                tests={name: system.tests[of] for name, of in sets.items()},
                resampled={name: system.resampled[of] for name, of in sets.items()},
            )
        )
    found = read(render(systems, "labels"))
    assert found.texts["p"][0].startswith("On the mean of the test sets, cipher scores 50.0 accuracy more than base")
    assert found.texts["h3"][:3] == ["the mean of the test sets", "en", "sw"]
    assert "Test sets" in found.texts["h2"]
