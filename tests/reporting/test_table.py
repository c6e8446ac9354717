from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from augury.core.rng import generator
from augury.reporting.results import SystemResult, load
from augury.reporting.table import (
    Row,
    amount,
    comparison,
    difference,
    factor,
    fitted,
    interval,
    probability,
    scored_sets,
    signed,
    title,
)
from augury.scoring.significance import approximate_randomisation, compare, holm, paired_bootstrap

BASE, CIPHER = "aa" * 8, "bb" * 8


def text(systems: list[SystemResult], width: int) -> str:
    return fitted([comparison(systems, test) for test in scored_sets(systems)], width)


@pytest.fixture
def folders(results: Any) -> list[Any]:
    return [
        results.run("baseline", BASE, bleu=30.04, seconds=100),
        results.run("cipherdaug", CIPHER, bleu=31.88, chrf=52.0, seconds=250, data=3.0),
    ]


def labels(share: float, *key: str | int) -> list[int]:
    """Right and wrong labels of 200 examples; hard ones are hard for every system."""
    ease = generator("examples").random(200)
    return [int(one) for one in ease + 0.2 * generator(*key).random(200) < share + 0.1]


@pytest.fixture
def systems(results: Any) -> list[SystemResult]:
    """A baseline of three seeds, one much better, one with a single seed, one as good as the baseline."""
    shares = {"base": 0.60, "better": 0.75, "single": 0.66, "same": 0.60}
    seeds = {"base": (1, 2, 3), "better": (1, 2), "single": (1,), "same": (1, 2, 3)}
    return load(
        [
            results.classified(name, f"{index}" * 16, seed, correct=labels(share, name, seed))
            for index, (name, share) in enumerate(shares.items())
            for seed in seeds[name]
        ]
    )


def test_a_narrow_terminal_has_the_cost_below_the_scores(folders: list[Any]) -> None:
    lines = text(load(folders), width=90).splitlines()
    assert max(map(len, lines[:10])) <= 90
    assert lines[4] == "cipherdaug       1      31.9 [30.9, 32.9]                +1.8   –   52.0"
    assert lines[9].split() == [
        "cipherdaug",
        "3.0",
        "×",
        "1.2M",
        "400",
        "10",
        "5.4M",
        "4",
        "min",
        "10",
        "s",
        "2.5",
        "×",
    ]


def test_differences_are_tested_and_corrected_for_the_table(systems: list[SystemResult]) -> None:
    table = comparison(systems, "test")
    drawn = [system.resampled["test"]["accuracy"] for system in systems]
    expected = [compare(drawn[0], own) for own in drawn[1:]]
    assert [row.tested for row in table.rows] == [None, *expected]
    assert [row.corrected for row in table.rows] == [None, *holm([one.p_value for one in expected])]
    assert [row.difference for row in table.rows[1:]] == pytest.approx([one.value for one in expected])
    assert [row.mark for row in table.rows] == ["", "**", "", ""]
    assert table.comparisons == 3
    better = expected[0]
    assert table.cells(table.rows[1])[3:5] == [
        f"{better.value:+.1f}** [{better.low:+.1f}, {better.high:+.1f}]",
        probability(table.rows[1]),
    ]


def test_one_seed_each_is_said_to_be_one(results: Any) -> None:
    folders = [
        results.classified(name, address, correct=labels(share, name))
        for name, address, share in (("base", BASE, 0.6), ("cipher", CIPHER, 0.7))
    ]
    table = comparison(load(folders), "test")
    assert "one seed against one says nothing of other seeds: cipher" in table.notes


def test_the_tests_of_sacrebleu_take_the_place_of_the_p_value(results: Any) -> None:
    folders = [
        results.classified(name, address, correct=labels(share, name))
        for name, address, share in (("base", BASE, 0.6), ("cipher", CIPHER, 0.63))
    ]
    systems = load(folders)
    base, cipher = (system.resampled["test"]["accuracy"] for system in systems)
    bootstrap, randomisation = (comparison(systems, "test", method) for method in ("bootstrap", "randomisation"))
    assert bootstrap.rows[1].corrected == paired_bootstrap(base, cipher)
    assert randomisation.rows[1].corrected == approximate_randomisation(base, cipher, lambda sums: 100 * sums[0] / 200)
    assert "sacreBLEU's paired bootstrap; *" in "\n".join(bootstrap.notes)
    assert "sacreBLEU's approximate randomisation (ar:10000|seed:12345); *" in "\n".join(randomisation.notes)


def test_without_any_cost_there_are_no_columns_of_it(systems: list[SystemResult]) -> None:
    table = comparison([replace(system, cost=None) for system in systems], "test")
    assert table.header() == ["system", "seeds", "accuracy [95 % interval]", "difference [95 %]", "p"]
    assert {len(table.cells(row)) for row in table.rows} == {5}


def test_wide_characters_keep_their_columns(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("暗号", CIPHER, bleu=30.0)]
    _, _, _, baseline, wide, *_ = text(load(folders), width=200).splitlines()
    assert baseline.index("30.0") == wide.index("30.0") + 2


def test_plain_is_json_and_exact(folders: list[Any]) -> None:
    plain = json.loads(json.dumps(comparison(load(folders), "test").plain()))
    assert plain["metrics"] == ["bleu", "chrf"]
    baseline, cipher = plain["rows"]
    assert (baseline["difference"], baseline["tested"], baseline["corrected"]) == (None, None, None)
    assert cipher["difference"] == 31.88 - 30.04
    assert cipher["scores"]["bleu"] == {
        "value": 31.88,
        "low": pytest.approx(30.88),
        "high": pytest.approx(32.88),
        "signature": "tok:13a",
        "n": 2000,
        "seeds": 1,
    }
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
    assert "times were measured on different devices: do not compare them" in table.notes


def test_a_tested_row_is_json(systems: list[SystemResult]) -> None:
    table = comparison(systems, "test")
    better = json.loads(json.dumps(table.plain()))["rows"][1]
    row = table.rows[1]
    assert row.tested is not None
    assert better["tested"] == {
        "value": row.tested.value,
        "low": row.tested.low,
        "high": row.tested.high,
        "p_value": row.tested.p_value,
        "over": "seeds and sentences",
    }
    assert better["corrected"] == row.corrected


def test_several_seeds_are_said(results: Any) -> None:
    folders = [
        results.run(name, address, seed, bleu=30.0)
        for name, address in (("base", BASE), ("cipher", CIPHER))
        for seed in (3, 5)
    ]
    notes = comparison(load(folders), "test").notes
    assert notes[2:4] == ("seeds: 3, 5", "intervals: bootstrap over sentences, with Student's t over seeds")


def test_every_test_set_of_any_system_has_its_table(results: Any) -> None:
    folders = [results.run("baseline", BASE, bleu=30.0), results.run("cipher", CIPHER, bleu=31.0, test="flores")]
    assert scored_sets(load(folders)) == ["test", "flores"]
    assert comparison(load(folders), "flores").rows[0].scores == {}
    lines = text(load(folders), width=200).splitlines()
    assert [line for line in lines if line in ("test", "flores")] == ["test", "flores"]


def test_formats() -> None:
    assert [amount(count) for count in (0, 950, 999.6, 1_230, 999_700, 36_740_000, 2.5e9)] == [
        "0",
        "950",
        "1.0k",
        "1.2k",
        "1.0M",
        "36.7M",
        "2.5G",
    ]
    assert [signed(value) for value in (1.84, -0.26, -0.04, 0.0, None)] == ["+1.8", "-0.3", "+0.0", "+0.0", "–"]
    assert [factor(1.0), factor(12.34), factor(None), interval(None)] == ["1.0 ×", "12.3 ×", "–", "–"]
    rows = [Row("a", BASE, (1,), {}, None, None, corrected, None, None) for corrected in (None, 0.0004, 0.01, 0.0499)]
    assert [probability(row) for row in rows] == ["–", "< 0.001", "0.010", "0.050"]
    assert [row.mark for row in rows] == ["", "**", "*", "*"]
    assert difference(rows[1]) == "–"
    assert [title(name) for name in ("bleu:lower", "chrf", "accuracy")] == ["BLEU (lower)", "chrF", "accuracy"]
