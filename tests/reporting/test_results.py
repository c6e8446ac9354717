from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.rng import generator
from augury.core.store import Folder
from augury.reporting import experiment, rendering
from augury.reporting.results import (
    Cost,
    Estimate,
    best_validations,
    estimate,
    from_hypotheses,
    load_experiment,
    load_groups,
)
from augury.scoring import significance
from augury.scoring.scores import score as scored
from augury.scoring.signature import without_resampling
from augury.scoring.stored import Measured, Score, read_statistics, write_statistics
from tests.run_folders import load


def score(value: float, low: float, high: float, signature: str = "tok:13a") -> Score:
    return Score("bleu", value, low, high, signature, 100)


def test_seeds_of_one_address_are_one_system(results: Any) -> None:
    folders = [
        results.run("baseline", "aa" * 8, 2, bleu=30.0, seconds=90),
        results.run("cipher", "bb" * 8, 1, bleu=33.0),
        results.run("baseline", "aa" * 8, 1, bleu=31.0, seconds=110),
    ]
    baseline, cipher = load(folders)
    assert (baseline.name, cipher.name) == ("baseline", "cipher")
    assert list(baseline.runs.items()) == [(1, folders[2]), (2, folders[0])]
    assert baseline.tests["test"]["bleu"].value == 30.5
    assert baseline.tests["test"]["bleu"].seeds == (1, 2)
    assert baseline.cost == Cost(
        parameters=1_230_000,
        data_factor=1.0,
        updates=400,
        epochs={"source": 10.0},
        onset=0.0,
        pieces={"source": 12.0, "target": 11.0},
        weights=("averaged", "averaged"),
        target_tokens=5_400_000,
        train_seconds=100.0,
        device_hours=100 / 3600,
        device="cpu",
    )
    assert list(baseline.tests["test"]) == ["bleu", "chrf"]


def test_an_unfinished_seed_is_listed_and_left_out(results: Any) -> None:
    folders = [
        results.run("baseline", "aa" * 8, seed, bleu=30.0 if seed == 1 else None)
        for seed in (1, 2, 10)
    ]
    (baseline,) = load(folders)
    assert baseline.unscored == (2, 10)
    assert baseline.tests["test"]["bleu"] == Estimate(30.0, 29.0, 31.0, "tok:13a", 2000, (1,))


def test_a_system_without_scores_has_no_cost(results: Any) -> None:
    (baseline,) = load([results.run("baseline", "aa" * 8)])
    assert (baseline.tests, baseline.cost, baseline.unscored) == ({}, None, (1,))


def test_plain_is_json(results: Any) -> None:
    folders = [
        results.run("baseline", "aa" * 8, seed, bleu=30.0 if seed == 1 else None) for seed in (1, 2)
    ]
    plain = json.loads(json.dumps(load(folders)[0].to_dict()))
    assert plain["runs"] == {"1": folders[0].uri, "2": folders[1].uri}
    assert (plain["name"], plain["address"], plain["task"], plain["unscored"]) == (
        "baseline",
        "aa" * 8,
        "nmt",
        [2],
    )
    estimate = {
        "value": 30.0,
        "low": 29.0,
        "high": 31.0,
        "signature": "tok:13a",
        "n": 2000,
        "seeds": [1],
        "sd": None,
    }
    assert plain["tests"]["test"]["bleu"] == estimate
    assert plain["cost"]["train_seconds"] == 100.0


def test_a_metric_whose_file_is_gone_keeps_its_scores(results: Any) -> None:
    run = results.classified("base", "aa" * 8, correct=[1, 0])
    gone = "/nowhere/mine.py"
    content = json.loads(
        json.dumps(run.read_record("scores.json")).replace('"accuracy"', f'"{gone}"')
    )
    counts = read_statistics(run, "test")["accuracy"]
    write_statistics(run, "test", [Measured(gone, 50.0, 0.0, 100.0, "", 2, counts)])
    run.write_record("scores.json", content, ["counts/test.npz"])
    (base,) = load([run])
    assert base.tests["test"][gone].value == 50.0 and base.resampled == {"test": {}}


def test_a_baseline_that_failed_keeps_its_place(results: Any) -> None:
    run = results.run("cipher", "bb" * 8, 1, bleu=31.0)
    systems = load_experiment({"cipher": {1: run}}, {"baseline": (1, 2), "cipher": (1, 2)})
    assert [(system.name, system.unscored) for system in systems] == [
        ("baseline", (1, 2)),
        ("cipher", (2,)),
    ]
    html = rendering.page(experiment.report(systems, "failed", ["baseline, seed 1 diverged"]))
    assert "baseline, seed 1 diverged" in html and "no scores on test" in html


def test_values_that_are_not_finite_are_no_best_validation(results: Any) -> None:
    history = [
        (1, {"valid/loss": math.nan}),
        (2, {"valid/loss": 2.0}),
        (3, {"valid/loss": math.inf}),
    ]
    assert best_validations(results.run("base", "aa" * 8, history=history)) == {"loss": 2.0}


def test_equal_names_are_told_apart_by_address(results: Any) -> None:
    folders = [results.run("cipher", address * 8, bleu=30.0) for address in ("ab", "cd")]
    assert [system.name for system in load(folders)] == ["cipher abab", "cipher cdcd"]


def labels(seed: int, share: float) -> list[int]:
    """Right and wrong labels of 300 examples; hard ones are hard for every seed."""
    ease = generator("examples").random(300)
    return [int(value) for value in ease + 0.3 * generator("seed", seed).random(300) < share + 0.15]


def test_with_the_counts_of_examples_the_interval_is_that_of_both_levels(results: Any) -> None:
    folders = [
        results.classified("base", "aa" * 8, seed, correct=labels(seed, 0.7)) for seed in (1, 2, 3)
    ]
    (base,) = load(folders)
    drawn = base.resampled["test"]["accuracy"]
    assert (drawn.seeds, len(drawn.samples)) == (3, 1000)
    expected = significance.interval(drawn)
    accuracy = base.tests["test"]["accuracy"]
    assert (accuracy.low, accuracy.high, accuracy.n, accuracy.seeds) == (
        expected.low,
        expected.high,
        300,
        (1, 2, 3),
    )
    assert accuracy.value == pytest.approx(sum(sum(labels(seed, 0.7)) for seed in (1, 2, 3)) / 9)
    assert "resampled" not in base.to_dict()


def test_one_seed_has_the_interval_that_it_was_scored_with(results: Any) -> None:
    run = results.classified("base", "aa" * 8, correct=labels(1, 0.7))
    (kept,) = run.read_record("scores.json")["tests"]["test"]
    accuracy = load([run])[0].tests["test"]["accuracy"]
    assert (accuracy.value, accuracy.low, accuracy.high) == (
        kept["value"],
        kept["low"],
        kept["high"],
    )


def test_as_many_samples_as_any_run_asks_for(results: Any) -> None:
    asked = {"scoring.bootstrap_samples": 1500}
    folders = [
        results.classified("base", "aa" * 8, correct=[1, 0]),
        results.classified("cipher", "bb" * 8, correct=[1, 1], parameters=asked),
    ]
    assert [len(system.resampled["test"]["accuracy"].samples) for system in load(folders)] == [
        1500,
        1500,
    ]


def test_groups_are_systems_even_of_one_configuration(results: Any) -> None:
    seeds = [results.run("base", "ab" * 8, seed, bleu=30.0 + seed) for seed in (1, 2, 3)]
    first, others = load_groups([{1: seeds[0]}, {2: seeds[1], 3: seeds[2]}])
    assert (first.name, others.name) == ("base abab seed 1", "base abab seed 2, 3")
    assert (first.tests["test"]["bleu"].value, others.tests["test"]["bleu"].value) == (31.0, 32.5)
    assert [
        system.name for system in load_groups([{1: seeds[0]}, {2: seeds[1]}], ["one", None])
    ] == ["one", "base"]


def test_a_system_may_be_its_hypotheses_alone() -> None:
    references = ["the cat is on the mat", "there is a dog in my garden", "good"]
    texts = {
        Folder("/tmp", "one.txt"): references,
        Folder("/tmp", "two.txt"): ["the cat sat on the mat", "", "good"],
    }
    system = from_hypotheses(
        "mine", texts, references, test="toy", language="en", metrics=["chrf", "bleu"]
    )
    assert list(system.tests["toy"]) == ["chrf", "bleu"]
    scores = [
        scored(lines, references, language="en", metrics=["chrf"], samples=1)[0]
        for lines in texts.values()
    ]
    estimate = system.tests["toy"]["chrf"]
    assert estimate.value == sum(seed_score.value for seed_score in scores) / 2
    assert (estimate.measure, estimate.n, estimate.seeds) == (
        without_resampling(scores[0].signature),
        3,
        (1, 2),
    )
    assert "|bs:1000|seed:12345|" in estimate.signature
    assert system.resampled["toy"]["chrf"].scores.tolist() == [
        seed_score.value for seed_score in scores
    ]
    plain = json.loads(json.dumps(system.to_dict()))
    assert (plain["runs"], plain["cost"], len(plain["address"])) == (
        {"1": "/tmp/one.txt", "2": "/tmp/two.txt"},
        None,
        16,
    )


def test_one_seed_keeps_its_interval() -> None:
    assert estimate({1: score(31.5, 29.0, 34.5)}, None) == Estimate(
        31.5, 29.0, 34.5, "tok:13a", 100, (1,)
    )


def test_seeds_widen_the_interval_by_students_t() -> None:
    mean = estimate(
        {1: score(29.0, 26.0, 33.0), 2: score(30.0, 27.0, 34.0), 3: score(31.0, 28.0, 35.0)}, None
    )
    spread = 4.30265273 * 1.0 / 3**0.5  # t with 2 degrees of freedom, standard deviation 1
    assert mean.value == 30.0
    assert mean.low == pytest.approx(30.0 - (3.0**2 + spread**2) ** 0.5)
    assert mean.high == pytest.approx(30.0 + (4.0**2 + spread**2) ** 0.5)


def test_equal_seeds_leave_the_sentences_interval() -> None:
    mean = estimate(dict.fromkeys(range(4), score(30.0, 28.0, 33.0)), None)
    assert (mean.low, mean.value, mean.high) == (28.0, 30.0, 33.0)


def test_different_signatures_are_both_shown() -> None:
    assert estimate({1: score(1, 1, 1, "a"), 2: score(1, 1, 1, "b")}, None).signature == "a or b"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=40
    )
)
def test_the_interval_holds_that_of_sentences_within_the_range_of_the_metric(
    drawn: list[tuple[float, ...]],
) -> None:
    scores = [score(value, value - below, value + above) for value, below, above in drawn]
    mean = estimate(dict(enumerate(scores)), None)
    below, above = (sum(seed_score[side] for seed_score in drawn) / len(drawn) for side in (1, 2))
    assert 0 <= mean.low <= mean.value <= mean.high <= 100
    assert mean.value - mean.low >= min(below, mean.value) - 1e-9
    assert mean.high - mean.value >= min(above, 100 - mean.value) - 1e-9
