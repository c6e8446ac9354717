from __future__ import annotations

import json
from typing import Any

import pytest

from augury.reporting.results import load
from augury.reporting.table import amount, comparison, factor, interval, markdown, scored_sets, signed, text, title

BASE, CIPHER = "aa" * 8, "bb" * 8


@pytest.fixture
def folders(results: Any) -> list[Any]:
    return [results.run("baseline", BASE, bleu=30.04, seconds=100),
            results.run("cipherdaug", CIPHER, bleu=31.88, chrf=52.0, seconds=250, data=3.0)]  # fmt: skip


def test_text(folders: list[Any]) -> None:
    assert text(load(folders), width=200) == (
        "test\n"
        "system       seeds   BLEU [95 % interval]   difference   chrF    data   parameters   tokens seen   train time"
        "   × baseline\n"
        "─────────────────────────────────────────────────────────────────────────────────────────────────────────────"
        "─────────────\n"
        "baseline         1      30.0 [29.0, 31.0]            –   50.0   1.0 ×         1.2M          5.4M   1 min 40 s"
        "        1.0 ×\n"
        "cipherdaug       1      31.9 [30.9, 32.9]         +1.8   52.0   3.0 ×         1.2M          5.4M   4 min 10 s"
        "        2.5 ×\n"
        "\n"
        "BLEU: tok:13a, n = 2,000\nchrF: tok:13a, n = 2,000\nseeds: 1\nintervals: bootstrap over sentences\n"
    )


def test_a_narrow_terminal_has_the_cost_below_the_scores(folders: list[Any]) -> None:
    lines = text(load(folders), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[4] == "cipherdaug       1      31.9 [30.9, 32.9]         +1.8   52.0"
    assert lines[9] == "cipherdaug   3.0 ×         1.2M          5.4M   4 min 10 s        2.5 ×"


def test_wide_characters_keep_their_columns(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("暗号", CIPHER, bleu=30.0)]
    _, _, _, baseline, wide, *_ = text(load(folders), width=200).splitlines()
    assert baseline.index("30.0") == wide.index("30.0") + 2


def test_markdown(results: Any, folders: list[Any]) -> None:
    odd = results.run("a|b [red]", "cc" * 8, seed=7)
    assert markdown(load([*folders, odd])) == (
        "### test\n\n"
        "| system | seeds | BLEU [95 % interval] | difference | chrF | data | parameters | tokens seen | train time |"
        " × baseline |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| baseline | 1 | 30.0 [29.0, 31.0] | – | 50.0 | 1.0 × | 1.2M | 5.4M | 1 min 40 s | 1.0 × |\n"
        "| cipherdaug | 1 | 31.9 [30.9, 32.9] | +1.8 | 52.0 | 3.0 × | 1.2M | 5.4M | 4 min 10 s | 2.5 × |\n"
        "| a\\|b [red] | 0 | – | – | – | – | – | – | – | – |\n\n"
        "- BLEU: tok:13a, n = 2,000\n- chrF: tok:13a, n = 2,000\n- seeds: baseline 1; cipherdaug 1; a|b [red] 7\n"
        "- intervals: bootstrap over sentences\n- a|b [red]: no scores yet for seed 7\n"
    )


def test_plain_is_json_and_exact(folders: list[Any]) -> None:
    plain = json.loads(json.dumps(comparison(load(folders), "test").plain()))
    assert plain["metrics"] == ["bleu", "chrf"]
    baseline, cipher = plain["rows"]
    assert baseline["difference"] is None
    assert cipher["difference"] == 31.88 - 30.04
    assert cipher["scores"]["bleu"] == {
        "value": 31.88, "low": pytest.approx(30.88), "high": pytest.approx(32.88), "signature": "tok:13a", "n": 2000,
        "seeds": 1,
    }  # fmt: skip
    assert (cipher["time_factor"], cipher["cost"]["data_factor"]) == (2.5, 3.0)


def test_different_signatures_have_no_difference(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("cipher", CIPHER, bleu=31.0, signature="tok:none")]
    table = comparison(load(folders), "test")
    assert table.rows[1].difference is None
    assert table.notes[:2] == ("BLEU: tok:13a, n = 2,000", "BLEU: tok:none, n = 2,000")
    assert "BLEU was not measured in the same way for all systems: do not compare it" in table.notes


def test_times_of_different_devices_are_not_compared(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("cipher", CIPHER, bleu=31.0, device="NVIDIA H100")]
    table = comparison(load(folders), "test")
    assert [row.time_factor for row in table.rows] == [1.0, None]
    assert table.notes[-1] == "times were measured on different devices: do not compare them"


def test_several_seeds_are_said(results: Any) -> None:
    folders = [results.run(name, address, seed, bleu=30.0) for name, address in (("base", BASE), ("cipher", CIPHER))
               for seed in (3, 5)]  # fmt: skip
    notes = comparison(load(folders), "test").notes
    assert notes[2:] == ("seeds: 3, 5", "intervals: bootstrap over sentences, with Student's t over seeds")


def test_every_test_set_of_any_system_has_its_table(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("cipher", CIPHER, bleu=31.0, test="flores")]
    assert scored_sets(load(folders)) == ["test", "flores"]
    assert comparison(load(folders), "flores").rows[0].scores == {}
    lines = text(load(folders), width=200).splitlines()
    assert [line for line in lines if line in ("test", "flores")] == ["test", "flores"]


def test_formats() -> None:
    assert [amount(count) for count in (0, 950, 999.6, 1_230, 999_700, 36_740_000, 2.5e9)] == [
        "0", "950", "1.0k", "1.2k", "1.0M", "36.7M", "2.5G"]  # fmt: skip
    assert [signed(value) for value in (1.84, -0.26, -0.04, 0.0, None)] == ["+1.8", "-0.3", "+0.0", "+0.0", "–"]
    assert [factor(1.0), factor(12.34), factor(None), interval(None)] == ["1.0 ×", "12.3 ×", "–", "–"]
    assert [title(name) for name in ("bleu:lower", "chrf", "accuracy")] == ["BLEU (lower)", "chrF", "accuracy"]
