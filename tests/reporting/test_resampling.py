from __future__ import annotations

from typing import Any

import numpy as np

from augury.core.store import Folder
from augury.experiments.record import RunRecord
from augury.reporting.resampling import resample_runs
from augury.scoring.bootstrap import resample
from augury.scoring.labels import Accuracy


def records(*folders: Folder) -> list[tuple[Folder, RunRecord]]:
    return [(folder, RunRecord.read(folder)) for folder in folders]


def test_seeds_are_scored_on_the_same_draws_of_examples(results: Any) -> None:
    labels = [[1, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    seeds = [
        results.classified("base", "aa" * 8, seed, correct=correct)
        for seed, correct in enumerate(labels)
    ]
    result = resample_runs(records(*seeds), "test", "accuracy", 40)
    expected = resample(
        [np.column_stack([correct, np.ones(5)]) for correct in labels], Accuracy.value, samples=40
    )
    assert result is not None
    assert result.scores.tolist() == expected.scores.tolist() == [60.0, 60.0]
    np.testing.assert_array_equal(result.samples, expected.samples)
    assert [counts[:, 0].tolist() for counts in result.statistics] == labels


def test_one_seed_that_is_not_known_leaves_the_system_unknown(results: Any) -> None:
    known = results.classified("base", "aa" * 8, 1, correct=[1, 0, 1])
    unknown = results.classified("base", "aa" * 8, 2, correct=[1, 0, 1])
    unknown.remove("counts")
    assert resample_runs(records(known), "test", "accuracy", 10) is not None
    assert resample_runs(records(known, unknown), "test", "accuracy", 10) is None


def test_a_run_that_is_scored_again_is_read_again(results: Any) -> None:
    values = []
    for evaluation, correct in (("first", [1, 1, 1, 0]), ("second", [1, 0, 0, 0])):
        run = results.classified("base", "aa" * 8, correct=correct)
        run.write_record(
            "scores.json", run.read_record("scores.json") | {"evaluations": {"test": evaluation}}
        )
        result = resample_runs(records(run), "test", "accuracy", 10)
        assert result is not None
        values.append(result.value)
    assert values == [75.0, 25.0]
