from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from augury.core.rng import generator
from augury.reporting.comparison import compare_all, comparison, scored_sets
from augury.reporting.numbers import (
    amount,
    epochs,
    factor,
    interval,
    number,
    probability,
    signed,
    time_unit,
)
from augury.reporting.results import SystemResult, load_groups
from augury.reporting.score_tables import score_table
from augury.scoring.seed_variance import block_variance, pool, sample_variance
from augury.scoring.significance import (
    Difference,
    compare,
    compare_blocks,
    holm,
)
from augury.scoring.significance import interval as interval_over_seeds
from tests.run_folders import load

BASE, CIPHER = "aa" * 8, "bb" * 8


@pytest.fixture
def folders(results: Any) -> list[Any]:
    return [
        results.run("baseline", BASE, bleu=30.04, seconds=100),
        results.run("cipherdaug", CIPHER, bleu=31.88, chrf=52.0, seconds=250, data=3.0),
    ]


def labels(share: float, *key: str | int) -> list[int]:
    """Right and wrong labels of 200 examples; hard ones are hard for every system."""
    ease = generator("examples").random(200)
    return [int(value) for value in ease + 0.2 * generator(*key).random(200) < share + 0.1]


@pytest.fixture
def systems(results: Any) -> list[SystemResult]:
    """A baseline of three seeds, one much better, one with a single seed, one as good as the
    baseline."""
    shares = {"base": 0.60, "better": 0.75, "single": 0.66, "same": 0.60}
    seeds = {"base": (1, 2, 3), "better": (1, 2), "single": (1,), "same": (1, 2, 3)}
    return load(
        [
            results.classified(name, f"{index}" * 16, seed, correct=labels(share, name, seed))
            for index, (name, share) in enumerate(shares.items())
            for seed in seeds[name]
        ]
    )


def with_least_p(tested: Difference) -> Difference:
    return replace(tested, p_value=max(tested.p_value, 0.01 if tested.seeds == 2 else 0.0))


def test_differences_are_tested_and_corrected_for_the_table(systems: list[SystemResult]) -> None:
    table = comparison(systems, "test")
    drawn = [system.resampled["test"]["accuracy"] for system in systems]
    pooled = pool([sample_variance(system) for system in drawn])
    expected = [compare(drawn[0], system, pooled) for system in drawn[1:]]
    assert [row.tested for row in table.rows] == [None, *map(with_least_p, expected)]
    corrected = holm([difference.p_value for difference in expected])
    assert corrected[0] < 0.001  # of two seeds, which are not told apart below 1 %
    assert [row.corrected for row in table.rows] == [None, 0.01, *corrected[1:]]
    assert [row.difference for row in table.rows[1:]] == pytest.approx(
        [difference.value for difference in expected]
    )
    assert [row.mark for row in table.rows] == ["", "*", "", ""]
    assert table.comparisons == 3
    for row, system in zip(table.rows, drawn, strict=True):
        bounds = interval_over_seeds(system, pooled)
        assert (row.scores["accuracy"].low, row.scores["accuracy"].high) == pytest.approx(
            (bounds.low, bounds.high)
        )
    better = expected[0]
    assert (
        table.rows[1].difference_text
        == f"{better.value:+.1f}* [{better.low:+.1f}, {better.high:+.1f}]"
    )


def test_decodings_of_one_configuration_are_corrected_like_systems(
    systems: list[SystemResult],
) -> None:
    p_values = [row.corrected for row in comparison(systems, "test").rows]
    decodings = [replace(system, address=BASE) for system in systems]
    assert [row.corrected for row in comparison(decodings, "test").rows] == p_values
    assert len({*p_values}) > 2


AMD, INTEL = "AMD EPYC (26/2), AVX512 bf16, fp32", "Intel Xeon (6/143), AVX512, fp32"


def trained_on(system: SystemResult, *machines: str) -> SystemResult:
    return replace(system, hardware=dict(zip(system.runs, machines, strict=True)))


def test_seeds_are_blocks_where_each_was_trained_on_one_kind_of_machine(
    systems: list[SystemResult],
) -> None:
    base, _, _, same = systems
    blocks = [trained_on(system, AMD, AMD, INTEL) for system in (base, same)]
    drawn = [system.resampled["test"]["accuracy"] for system in blocks]
    expected = compare_blocks(*drawn, block_variance(drawn))
    table = comparison(blocks, "test")
    assert table.rows[1].tested == expected
    assert any(AMD in note and INTEL in note for note in table.warnings)


def test_systems_of_one_seed_on_different_machines_are_not_tested(
    systems: list[SystemResult],
) -> None:
    base, better, _, same = systems
    mixed = [
        trained_on(base, AMD, AMD, AMD),
        trained_on(same, AMD, AMD, INTEL),
        trained_on(better, AMD, AMD),
    ]
    table = comparison(mixed, "test")
    assert table.rows[1].tested is None and table.rows[1].difference is not None
    assert table.rows[2].tested is not None and table.comparisons == 1
    assert any("not tested" in note and "same" in note for note in table.warnings)


def test_a_comparison_says_what_it_could_see(systems: list[SystemResult]) -> None:
    power = comparison([systems[0], systems[3]], "test").power
    assert power is not None and (power.seeds, power.sentences) == (3, 200)
    assert power.target < power.smallest and f"{power.smallest:.1f} accuracy" in power.text
    assert comparison([systems[0], systems[2]], "test").power is None  # one seed
    of_race = comparison(systems, "test").power
    assert of_race is not None and of_race.seeds == 2  # of those that have several
    alone = [replace(system, resampled={}) for system in systems]
    assert comparison(alone, "test").power is None


def test_single_seeds_are_noted(results: Any) -> None:
    folders = [
        results.classified(name, address, correct=labels(share, name))
        for name, address, share in (("base", BASE, 0.6), ("cipher", CIPHER, 0.7))
    ]
    table = comparison(load(folders), "test")
    assert any("one seed" in note and "cipher" in note for note in table.notes)


def test_without_any_cost_there_are_no_columns_of_it(systems: list[SystemResult]) -> None:
    table = comparison([replace(system, cost=None) for system in systems], "test")
    shown = score_table([table])
    assert len(shown.columns) == 5 and {len(row.cells) for row in shown.rows} == {5}


def test_plain_is_json_and_exact(folders: list[Any]) -> None:
    plain = json.loads(json.dumps(comparison(load(folders), "test").to_dict()))
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
        "seeds": [1],
        "sd": None,
    }
    assert (cipher["time_factor"], cipher["cost"]["data_factor"]) == (2.5, 3.0)


def test_different_signatures_have_no_difference(results: Any) -> None:
    folders = [
        results.run("baseline", BASE, bleu=30.0),
        results.run("cipher", CIPHER, bleu=31.0, signature="tok:none"),
    ]
    table = comparison(load(folders), "test")
    assert table.rows[1].difference is None
    assert any("do not compare" in note for note in table.warnings)


def test_times_on_processors_are_compared_by_processor_time_where_all_have_it(results: Any) -> None:
    base = results.run("baseline", BASE, bleu=30.0, seconds=100, cpu_seconds=50)
    cipher = results.run("cipher", CIPHER, bleu=31.0, seconds=900, cpu_seconds=75)
    earlier = results.run("earlier", "ee" * 8, bleu=31.0, seconds=400)
    assert [row.time_factor for row in comparison(load([base, cipher]), "test").rows] == [1.0, 1.5]
    assert [row.time_factor for row in comparison(load([base, cipher, earlier]), "test").rows] == [
        1.0,
        9.0,
        4.0,
    ]


def test_two_seeds_of_one_configuration_have_times_of_their_own(results: Any) -> None:
    seeds = [
        results.run("baseline", BASE, seed, bleu=30.0, seconds=100.0 * seed) for seed in (1, 4)
    ]
    table = comparison(load_groups([{1: seeds[0]}, {4: seeds[1]}]), "test")
    assert [table.seconds(row) for row in table.rows] == [100.0, 400.0]
    assert [row.time_factor for row in table.rows] == [1.0, 4.0]


def test_another_text_of_the_same_name_is_not_compared(results: Any) -> None:
    runs = [results.run("baseline", BASE, bleu=30.0), results.run("cipher", CIPHER, bleu=31.0)]
    described = runs[1].read_record("run.json")
    described["inputs"][1]["address"] = "0" * 16
    runs[1].write_record("run.json", described)
    table = comparison(load(runs), "test")
    assert table.rows[1].difference is None
    assert any("another text for cipher" in note for note in table.warnings)


def test_seeds_are_those_scored_on_the_test_set(results: Any) -> None:
    for seed, tests in ((1, ("x", "y")), (2, ("x",))):
        run = results.run("baseline", BASE, seed, bleu=30.0)
        content = run.read_record("scores.json")
        run.write_record(
            "scores.json", content | {"tests": dict.fromkeys(tests, content["tests"]["test"])}
        )
    systems = load([results.store.folder("runs", f"{BASE}/seed-{seed}") for seed in (1, 2)])
    assert [comparison(systems, test).rows[0].seeds for test in ("x", "y")] == [(1, 2), (1,)]
    tables = compare_all(systems, ["x", "y"])
    assert [table.test for table in tables] == ["x", "y"]  # no mean of different seeds
    assert any("different seeds" in note for note in tables[0].warnings)


def test_times_of_different_devices_are_not_compared(results: Any) -> None:
    folders = [
        results.run("baseline", BASE, bleu=30.0),
        results.run("cipher", CIPHER, bleu=31.0, device="NVIDIA H100"),
    ]
    table = comparison(load(folders), "test")
    assert [row.time_factor for row in table.rows] == [1.0, None]
    assert any("do not compare" in note for note in table.warnings)


def test_a_tested_row_is_json(systems: list[SystemResult]) -> None:
    table = comparison(systems, "test")
    better = json.loads(json.dumps(table.to_dict()))["rows"][1]
    row = table.rows[1]
    assert row.tested is not None
    assert better["tested"] == {
        "value": row.tested.value,
        "low": row.tested.low,
        "high": row.tested.high,
        "p_value": row.tested.p_value,
        "over": "seeds and sentences",
        "seeds": 2,
    }
    assert better["corrected"] == row.corrected


def test_every_test_set_of_any_system_has_its_table(results: Any) -> None:
    folders = [
        results.run("baseline", BASE, bleu=30.0),
        results.run("cipher", CIPHER, bleu=31.0, test="flores"),
    ]
    assert scored_sets(load(folders)) == ["test", "flores"]
    assert comparison(load(folders), "flores").rows[0].scores == {}


def test_numbers_for_people() -> None:
    counts = (0, 950, 999.6, 1_230, 999_700, 36_740_000, 2.5e9)
    assert [amount(count) for count in counts] == [
        "0",
        "950",
        "1.0k",
        "1.2k",
        "1.0M",
        "36.7M",
        "2.5G",
    ]
    assert [signed(value) for value in (1.84, -0.26, -0.04, 0.0)] == [
        "+1.8",
        "-0.3",
        "+0.0",
        "+0.0",
    ]
    assert [number(1.0, factor), number(12.34, factor), number(None, factor)] == [
        "1.0 ×",
        "12.3 ×",
        "–",
    ]
    assert [interval(31.5, 29.0, 34.0), interval(31.5, None, None)] == ["31.5 [29.0, 34.0]", "31.5"]
    assert [probability(p) for p in (0.0004, 0.01, 0.0499)] == ["< 0.001", "0.010", "0.050"]
    assert [
        epochs({"source": 40.0, **views}) for views in ({}, {"a": 20.0}, {"a": 20.0, "b": 30.0})
    ] == [
        "40",
        "40 / 20",
        "40 / 20–30",
    ]
    assert [time_unit(seconds)[0] for seconds in (299, 300, 18_000)] == [
        "seconds",
        "minutes",
        "hours",
    ]
