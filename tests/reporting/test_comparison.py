"""The comparison of systems: tests over seeds and sentences, their correction, what is not
compared, and what is warned about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.augment.health import Health
from augury.core.rng import generator
from augury.reporting.answer import answer
from augury.reporting.comparison import Comparison, compare_all, comparison
from augury.reporting.results import SystemResult
from augury.reporting.score_tables import by_test, score_table
from augury.scoring import significance
from augury.scoring.seed_variance import pool, sample_variance
from augury.scoring.significance import compare, holm
from tests.run_folders import load

BASE, CIPHER = "aa" * 8, "bb" * 8
AMD, INTEL = "AMD EPYC (26/2), AVX512 bf16, fp32", "Intel Xeon (6/143), AVX512, fp32"


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
            results.run(name, f"{index}" * 16, seed, correct=labels(share, name, seed))
            for index, (name, share) in enumerate(shares.items())
            for seed in seeds[name]
        ]
    )


def pair(results: Any, base: dict[str, Any], cipher: dict[str, Any]) -> Comparison:
    """Compare BLEU 30 and 31, with further facts of the two runs."""
    runs = [
        results.run("baseline", BASE, **{"bleu": 30.0, **base}),
        results.run("cipher", CIPHER, **{"bleu": 31.0, **cipher}),
    ]
    return comparison(load(runs), "test")


def test_differences_are_tested_and_corrected_for_the_table(systems: list[SystemResult]) -> None:
    table = comparison(systems, "test")
    drawn = [system.resampled["test"]["accuracy"] for system in systems]
    pooled = pool([sample_variance(system) for system in drawn])
    expected = [compare(drawn[0], system, pooled) for system in drawn[1:]]
    corrected = holm([difference.p_value for difference in expected])
    assert corrected[0] < 0.001  # of two seeds, which are not told apart below 1 %
    expected[0] = replace(expected[0], p_value=0.01)
    assert [row.tested for row in table.rows] == [None, *expected]
    assert [row.corrected for row in table.rows] == [None, 0.01, *corrected[1:]]
    values = [difference.value for difference in expected]
    assert [row.difference for row in table.rows[1:]] == pytest.approx(values)
    assert [row.mark for row in table.rows] == ["", "*", "", ""]
    assert table.comparisons == 3
    for row, system in zip(table.rows, drawn, strict=True):
        bounds, score = significance.interval(system, pooled), row.scores["accuracy"]
        assert (score.low, score.high) == pytest.approx((bounds.low, bounds.high))
    better = expected[0]
    ends = f"[{better.low:+.1f}, {better.high:+.1f}]"
    assert score_table(table).rows[1].cells[3].text == f"{better.value:+.1f}* {ends}"
    decodings = [replace(system, address=BASE) for system in systems]
    p_values = [row.corrected for row in table.rows]
    assert [row.corrected for row in comparison(decodings, "test").rows] == p_values


def test_seeds_on_other_hardware_than_the_baselines_are_not_tested(
    systems: list[SystemResult],
) -> None:
    def on(system: SystemResult, *machines: str) -> SystemResult:
        return replace(system, hardware=dict(zip(system.runs, machines, strict=True)))

    base, _, _, same = systems
    table = comparison([on(system, AMD, AMD, INTEL) for system in (base, same)], "test")
    assert table.rows[1].tested == comparison([base, same], "test").rows[1].tested
    assert any(AMD in note and INTEL in note for note in table.warnings)
    table = comparison([on(base, AMD, AMD, AMD), on(same, AMD, AMD, INTEL)], "test")
    assert table.rows[1].tested is None and table.rows[1].difference is not None


def test_a_comparison_says_what_it_could_see(systems: list[SystemResult]) -> None:
    said = comparison([systems[0], systems[3]], "test").power_text
    assert said.startswith("power: 3 seeds and 200 examples may miss differences below ")
    assert comparison([systems[0], systems[2]], "test").power_text == ""  # one seed
    of_race = comparison(systems, "test").power_text
    assert of_race.startswith("power: 2 seeds")  # of those that have several


def test_the_power_of_a_mean_of_equal_sets_is_that_of_one(systems: list[SystemResult]) -> None:
    twice = [
        replace(
            system,
            tests=dict.fromkeys("xy", system.tests["test"]),
            resampled=dict.fromkeys("xy", system.resampled["test"]),
        )
        for system in systems
    ]
    of_mean, of_one, _ = (table.power_text for table in compare_all(twice, ["x", "y"]))
    assert of_mean == of_one.replace("200 examples", "400 examples")


@pytest.mark.parametrize("other", [{"signature": "tok:none"}, {"text": "0" * 16}])
def test_scores_of_other_texts_or_signatures_have_no_difference(results: Any, other: Any) -> None:
    table = pair(results, {}, other)
    assert table.rows[1].difference is None
    assert any("compare" in warning for warning in table.warnings)


@pytest.mark.parametrize(
    ("base", "cipher", "factor"),
    [
        ({"cpu_seconds": 50}, {"seconds": 900, "cpu_seconds": 75}, 1.5),
        ({"cpu_seconds": 50}, {"seconds": 900}, 9.0),
        ({}, {"seconds": 900, "device": "NVIDIA H100"}, None),
    ],
)
def test_times_are_compared_on_one_device_by_processor_time_where_all_have_it(
    results: Any, base: Any, cipher: Any, factor: float | None
) -> None:
    assert [row.time_factor for row in pair(results, base, cipher).rows] == [1.0, factor]


def test_seeds_are_those_scored_on_the_test_set(results: Any) -> None:
    for seed, tests in ((1, ("x", "y")), (2, ("x",))):
        run = results.run("baseline", BASE, seed, bleu=30.0)
        content = run.read_record("scores.json")
        scores = dict.fromkeys(tests, content["tests"]["test"])
        run.write_record("scores.json", content | {"tests": scores})
    systems = load([results.store.folder("runs", f"{BASE}/seed-{seed}") for seed in (1, 2)])
    assert [comparison(systems, test).rows[0].seeds for test in ("x", "y")] == [(1, 2), (1,)]
    tables = compare_all(systems, ["x", "y"])
    assert [table.test for table in tables] == ["x", "y"]  # no mean of different seeds


def test_a_text_is_the_same_where_the_first_seed_is_not_scored_on_it(results: Any) -> None:
    runs = [results.run("aa", BASE, 1, bleu=30.0, test="other")]
    runs += [results.run(name, name * 8, 2, bleu=30.0) for name in ("aa", "bb")]
    table = comparison(load(runs), "test")
    assert table.rows[1].difference == 0 and not any("one way" in line for line in table.warnings)


def test_where_less_is_better_the_least_is_the_best(results: Any) -> None:
    ter = {"base": 60.0, "better": 55.0, "worse": 62.0}
    runs = [results.run(name, name, bleu=value, metric="ter") for name, value in ter.items()]
    table = comparison(load(runs), "test")
    assert [table.gain(row) for row in table.rows] == [None, 5.0, -2.0]
    assert table.rows[1].difference == -5.0 and table.lower_is_better
    assert "better scores 5.0 TER less than base (55.0 against 60.0)" in answer(table)
    assert [row.cells[1].shade for row in by_test([table]).rows] == [None, 1.0, -0.4]


def test_a_model_no_better_than_a_trivial_output_is_warned_about(results: Any) -> None:
    """A constant scores 17.9 BLEU on this text: 99.0 is better, 9.0 is not."""
    results.corpus([(f"s{number}", f"w{number} x{number} the end .") for number in range(100)])
    runs = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("no", 9.0), ("so", 99.0))]
    table = comparison(load(runs), "test")
    (warning,) = table.warnings
    assert "nothing: no;" in warning
    tested = replace(table.rows[1], corrected=0.0001)
    assert tested.meaningless and not tested.mark
    assert "mean nothing" in answer(replace(table, rows=(table.rows[0], tested)))


@pytest.mark.parametrize(("correct", "warned"), [(40, True), (60, True), (90, False)])
def test_labels_no_better_than_one_label_are_warned_about(
    results: Any, correct: int, warned: bool
) -> None:
    """55 of the 100 examples have one label; the interval of 60 right ones holds 55."""
    results.corpus([("a", "b", label) for label in ["neutral"] * 55 + ["entailment"] * 45])
    run = results.run("a", "aa" * 8, correct=[1] * correct + [0] * (100 - correct))
    assert bool(comparison(load([run]), "test").warnings) == warned


def test_what_never_acted_and_unequal_budgets_are_told(results: Any) -> None:
    runs = [results.run(name, name * 8, bleu=30.0) for name in ("aa", "bb")]
    content = runs[1].read_record("scores.json")
    content["cost"] |= {"onset": 180.0, "updates": 108}
    runs[1].write_record("scores.json", content)
    warnings = comparison(load(runs), "test").warnings
    assert any("regime.warmup_steps" in warning and "180" in warning for warning in warnings)
    assert any("bb saw 0.27 times the updates of aa;" in warning for warning in warnings)
    content["cost"] |= {"trainings": 2}  # of which these are the last one's
    runs[1].write_record("scores.json", content)
    assert "updates of aa" not in " ".join(comparison(load(runs), "test").warnings)


def test_outputs_of_earlier_stages_come_first(results: Any) -> None:
    good = Health("rot-1", "cipher", 998, measures={"yield": 1.0, "copied": 0.001})
    bad = Health("back_translation", "back_translation", 1, {"empty": 99}, {"yield": 0.01})
    runs = [results.run(name, name * 8, bleu=30.0) for name in ("aa", "bb")]
    for run, output, before in zip(runs, (good, bad), (None, "aa" * 8), strict=True):
        facts = {"run": {"health": [output.to_dict()], "before": before}}
        run.write_record("run.json", {**run.read_record("run.json"), **facts})
    (system,) = load(runs[1:])
    assert system.outputs == (good, bad)
