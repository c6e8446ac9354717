from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augury.reporting import experiment, rendering
from augury.reporting.comparison import comparison
from augury.reporting.results import (
    Estimate,
    estimate,
    load_experiment,
    load_groups,
)
from augury.scoring import significance
from augury.scoring.bootstrap import resample
from augury.scoring.labels import Accuracy
from augury.scoring.stored import Measured, Score, read_statistics, write_statistics
from tests import tiny
from tests.run_folders import Results, load


def test_a_metric_whose_file_is_gone_keeps_its_scores_and_decides_nothing(results: Any) -> None:
    run, gone = results.run("base", "aa" * 8, correct=[1, 0]), "/nowhere/mine.py"
    content = run.read_record("scores.json")
    content["tests"]["test"].insert(0, {**content["tests"]["test"][0], "name": gone})
    counts = read_statistics(run, "test")["accuracy"]
    measured = [Measured(name, 50.0, 0.0, 100.0, "", 2, counts) for name in (gone, "accuracy")]
    write_statistics(run, "test", measured)
    run.write_record("scores.json", content, ["counts/test.npz"])
    (base,) = load([run])
    assert base.tests["test"][gone].value == 50.0 and [*base.resampled["test"]] == ["accuracy"]
    table = comparison([base], "test")
    assert table.metrics == ("accuracy", gone) and gone in "".join(table.warnings)


def test_a_baseline_that_failed_keeps_its_place(results: Any) -> None:
    run = results.run("cipher", "bb" * 8, 1, bleu=31.0)
    described = tiny.experiment("nmt", Path("results"), seeds=[1, 2])
    systems = load_experiment({"cipher": {1: run}}, {"baseline": described, "cipher": described})
    assert [(system.name, system.unscored) for system in systems] == [
        ("baseline", (1, 2)),
        ("cipher", (2,)),
    ]
    html = rendering.page(experiment.report(systems, "failed", ["baseline, seed 1 diverged"]))
    assert "baseline, seed 1 diverged" in html and "no scores on test" in html


def test_seeds_of_one_address_are_one_system(results: Any) -> None:
    folders = [
        results.run("baseline", "aa" * 8, 2, bleu=30.0, seconds=90),
        results.run("cipher", "bb" * 8, 1, bleu=33.0),
        results.run("baseline", "aa" * 8, 1, bleu=31.0, seconds=110),
        results.run("baseline", "aa" * 8, 10),
    ]
    baseline, cipher = load(folders)
    assert (baseline.name, cipher.name, baseline.unscored) == ("baseline", "cipher", (10,))
    assert list(baseline.runs.items()) == [(1, folders[2]), (2, folders[0]), (10, folders[3])]
    bleu = baseline.tests["test"]["bleu"]
    assert (bleu.value, bleu.seeds) == (30.5, (1, 2))
    one = Estimate(33.0, 32.0, 34.0, "tok:13a", 2000, (1,))
    assert cipher.tests["test"]["bleu"] == one
    assert baseline.cost is not None and baseline.cost.train_seconds == 100.0


def test_equal_names_are_told_apart_by_address_then_seed(results: Any) -> None:
    folders = [results.run("cipher", address * 8, bleu=30.0) for address in ("ab", "cd")]
    assert [system.name for system in load(folders)] == ["cipher abab seed 1", "cipher cdcd seed 1"]
    seeds = [results.run("base", "ab" * 8, seed, bleu=30.0 + seed) for seed in (1, 2, 3)]
    first, others = load_groups([{1: seeds[0]}, {2: seeds[1], 3: seeds[2]}])
    assert (first.name, others.name) == ("base abab seed 1", "base abab seed 2, 3")
    assert others.tests["test"]["bleu"].value == 32.5


def test_one_system_in_two_storages_is_two(tmp_path: Path) -> None:
    stores = [Results(tmp_path / name) for name in ("one", "two")]
    runs = [{1: results.run("base", "ab" * 8, bleu=30.0)} for results in stores]
    names = [system.name for system in load_groups(runs, ["base", "base"])]
    assert names == [f"base abab seed 1 in {results.store.root}" for results in stores]


@pytest.mark.parametrize(
    ("scores", "ends"),
    [
        ([(98.5, 96.0, 101.0)], (98.5, 96.0, 100.0)),
        ([(29.0, 26.0, 33.0), (30.0, 27.0, 34.0), (31.0, 28.0, 35.0)], (30.0, 26.0, 35.0)),
    ],
)
def test_without_counts_the_interval_holds_those_of_all_seeds(
    scores: list[tuple[float, float, float]], ends: tuple[float, float, float]
) -> None:
    by_seed = {seed: Score("bleu", *numbers, "tok:13a", 100) for seed, numbers in enumerate(scores)}
    known = estimate(by_seed, None)
    assert (known.value, known.low, known.high) == pytest.approx(ends)


def test_seeds_are_scored_on_the_same_draws_of_examples(results: Any) -> None:
    """The interval is that of both levels."""
    right = [[1, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    folders = [
        results.run("base", "aa" * 8, seed, correct=correct) for seed, correct in enumerate(right)
    ]
    (base,) = load(folders)
    drawn, accuracy = base.resampled["test"]["accuracy"], base.tests["test"]["accuracy"]
    counts = [np.column_stack([correct, np.ones(5)]) for correct in right]
    expected = resample(counts, Accuracy.value)
    assert drawn.scores.tolist() == expected.scores.tolist() == [60.0, 60.0]
    np.testing.assert_array_equal(drawn.samples, expected.samples)
    assert [counts[:, 0].tolist() for counts in drawn.statistics] == right
    between = significance.interval(expected).within((0.0, 100.0))
    assert (accuracy.low, accuracy.high) == (between.low, between.high)
    assert (accuracy.n, accuracy.seeds, accuracy.value) == (5, (0, 1), 60.0)


def test_one_seed_that_is_not_known_leaves_the_system_unknown(results: Any) -> None:
    """Its counts are gone, or are those of fewer examples than were scored."""
    known, gone, short = (
        results.run("base", "aa" * 8, seed, correct=[1, 0, 1]) for seed in (1, 2, 3)
    )
    gone.remove("counts")
    counts = read_statistics(short, "test")["accuracy"][:2]
    write_statistics(short, "test", [Measured("accuracy", 50.0, 0.0, 100.0, "", 2, counts)])
    short.write_record("scores.json", short.read_record("scores.json"), ["counts/test.npz"])
    assert load([known])[0].samples("test", "accuracy") is not None
    for unknown in (gone, short):
        assert load([known, unknown])[0].samples("test", "accuracy") is None


def test_a_run_that_is_scored_again_is_read_again(results: Any) -> None:
    for evaluation, correct, value in (("one", [1, 1, 1, 0], 75.0), ("two", [1, 0, 0, 0], 25.0)):
        run = results.run("base", "aa" * 8, correct=correct)
        scores = run.read_record("scores.json") | {"evaluations": {"test": evaluation}}
        run.write_record("scores.json", scores, ["counts/test.npz"])
        result = load([run])[0].samples("test", "accuracy")
        assert result is not None and result.value == value
