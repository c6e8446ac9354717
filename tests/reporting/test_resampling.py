from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from augury.core.store import Folder
from augury.reporting.resampling import resampled
from augury.scoring import accuracy
from augury.scoring.bootstrap import resample
from augury.scoring.metrics import metric
from augury.scoring.scores import score

PAIRS = [("eins", "one of us"), ("zwei", "two of them"), ("drei", "three")]
HYPOTHESES = ["one of us all", "two of me", "three"]


def test_seeds_are_scored_on_the_same_draws_of_examples(results: Any) -> None:
    labels = [[1, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    seeds = [results.classified("base", "aa" * 8, seed, correct=correct) for seed, correct in enumerate(labels)]
    found = resampled(seeds, "test", "accuracy", 40)
    expected = resample([np.column_stack([correct, np.ones(5)]) for correct in labels], accuracy.value, samples=40)
    assert found is not None
    assert found.scores.tolist() == expected.scores.tolist() == [60.0, 60.0]
    np.testing.assert_array_equal(found.samples, expected.samples)
    assert [counts[:, 0].tolist() for counts in found.statistics] == labels


@pytest.fixture
def translated(results: Any) -> Folder:
    """A run that has kept its hypotheses, but not the counts of their sentences."""
    results.corpus(PAIRS)
    run: Folder = results.run("base", "aa" * 8, bleu=1.0, hypotheses=HYPOTHESES)
    scores = score(HYPOTHESES, [target for _, target in PAIRS], language="en")
    run.write_json("scores.json", run.read_json("scores.json") | {"tests": {"test": [one.plain() for one in scores]}})
    return run


def test_hypotheses_are_counted_again(translated: Folder) -> None:
    found = resampled([translated], "test", "chrf", 40)
    chrf = metric("chrf", "en")
    statistics = chrf.statistics(HYPOTHESES, [target for _, target in PAIRS])
    assert found is not None
    np.testing.assert_array_equal(found.statistics[0], statistics)
    np.testing.assert_array_equal(found.samples, resample([statistics], chrf.value, samples=40).samples)


@pytest.mark.parametrize("lost", ["hypotheses/test.txt", "test set", "a line"])
def test_nothing_is_made_up(results: Any, translated: Folder, lost: str) -> None:
    if lost == "test set":
        results.store.folder("corpora", "7e57" * 4).remove()
    elif lost == "a line":
        translated.sub("hypotheses").write("test.txt", "one of us all\ntwo of me\n")
    else:
        translated.remove(lost)
    assert resampled([translated], "test", "bleu", 40) is None


def test_a_metric_that_is_not_known_here_is_not_counted(translated: Folder) -> None:
    scores = translated.read_json("scores.json")
    scores["tests"]["test"][0]["name"] = "bleurt"
    translated.write_json("scores.json", scores)
    assert resampled([translated], "test", "bleurt", 40) is None


def test_labels_without_their_counts_are_counted_from_the_test_set(results: Any) -> None:
    results.inferences([("a", "b", "neutral"), ("c", "d", "neutral"), ("e", "f", "entailment")])
    labels = ["neutral", "entailment", "entailment"]
    run = results.classified("base", "aa" * 8, correct=[1, 0, 1], hypotheses=labels)
    run.remove("statistics")
    found = resampled([run], "test", "accuracy", 10)
    assert found is not None and found.statistics[0].tolist() == [[1, 1], [0, 1], [1, 1]]


def test_one_seed_that_is_not_known_leaves_the_system_unknown(results: Any) -> None:
    known = results.classified("base", "aa" * 8, 1, correct=[1, 0, 1])
    unknown = results.classified("base", "aa" * 8, 2, correct=[1, 0, 1])
    unknown.remove("statistics")
    assert resampled([known], "test", "accuracy", 10) is not None
    assert resampled([known, unknown], "test", "accuracy", 10) is None


def test_a_run_that_is_scored_again_is_read_again(results: Any) -> None:
    values = []
    for evaluation, correct in (("first", [1, 1, 1, 0]), ("second", [1, 0, 0, 0])):
        run = results.classified("base", "aa" * 8, correct=correct)
        run.write_json("scores.json", run.read_json("scores.json") | {"evaluation": evaluation})
        found = resampled([run], "test", "accuracy", 10)
        assert found is not None
        values.append(found.value)
    assert values == [75.0, 25.0]
