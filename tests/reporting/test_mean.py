"""The mean over test sets is a test set like others, and translations of an example are drawn
together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augury.core.store import Folder, Store
from augury.corpora.corpus import NLI, CorpusWriter
from augury.experiments.record import Input, RunRecord
from augury.reporting.comparison import compare_all, comparison, with_mean
from augury.reporting.results import Estimate, SystemResult
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.labels import Accuracy
from augury.scoring.significance import clusters, interval, mean_over

SIGNATURE = "labels:exact|version:augury-0.1"

value = Accuracy.value


def accuracy(right: np.ndarray) -> np.ndarray:
    return np.stack([right, np.ones_like(right)], axis=1)


def system(
    name: str,
    tests: dict[str, Resampled],
    known: bool = True,
    runs: dict[int, Folder] | None = None,
) -> SystemResult:
    estimates = {}
    for test, drawn in tests.items():
        between = interval(drawn)
        n = len(drawn.statistics[0])
        estimates[test] = {
            "accuracy": Estimate(
                drawn.value, between.low, between.high, SIGNATURE, n, tuple(range(drawn.seeds))
            )
        }
    return SystemResult(
        name,
        name * 16,
        runs=runs or {},
        record=RunRecord(name, name * 16, 1, "nli"),
        tests=estimates,
        cost=None,
        unscored=(),
        resampled={test: {"accuracy": drawn} for test, drawn in tests.items()} if known else {},
    )


def of_shares(shares: list[float], examples: int = 1000) -> dict[str, Resampled]:
    """Test sets of which these shares are right, in per cent."""
    return {
        f"l{place}": resample(
            [accuracy((np.arange(examples) < share * examples / 100).astype(int))],
            value,
            samples=20,
        )
        for place, share in enumerate(shares)
    }


@pytest.mark.parametrize(
    ("shares", "mean", "printed"),
    [
        (
            [
                80.8,
                74.5,
                77.3,
                73.6,
                75.8,
                74.9,
                70.0,
                64.8,
                65.7,
                76.3,
                74.9,
                71.6,
                71.4,
                74.5,
                68.5,
            ],
            72.9733,
            73.0,
        )
    ],
)
def test_the_average_of_dong_et_al_is_rounded_after_the_mean(
    shares: list[float], mean: float, printed: float
) -> None:
    tests = of_shares(shares)
    (system_with_mean,) = with_mean([system("a", tests)], list(tests))
    estimate = system_with_mean.tests["mean"]["accuracy"]
    assert estimate.value == pytest.approx(mean, abs=5e-5) and round(estimate.value, 1) == printed
    assert (estimate.n, estimate.signature) == (15_000, f"mean of 15 test sets, {SIGNATURE}")


def test_examples_in_the_same_place_are_drawn_together() -> None:
    """Equal sets have the noise of one of them, unrelated ones less."""
    random = np.random.default_rng(0)
    labels, unrelated = (random.integers(2, size=400) for _ in range(2))
    same = {name: resample([accuracy(labels)], value) for name in ("a", "b")}
    unlike = {"a": resample([accuracy(labels)], value), "b": resample([accuracy(unrelated)], value)}
    (equal,) = with_mean([system("a", same)], ["a", "b"])
    assert np.array_equal(equal.resampled["mean"]["accuracy"].samples, same["a"].samples)
    (system_with_mean,) = with_mean([system("a", unlike)], ["a", "b"])
    single, both = (
        resampled.samples.std()
        for resampled in (same["a"], system_with_mean.resampled["mean"]["accuracy"])
    )
    assert both == pytest.approx(single / 2**0.5, rel=0.1)


def run_on(store: Store, ids: dict[str, Sequence[str]]) -> Folder:
    """A run, and its test sets with examples of these ids."""
    inputs = [Input(test, f"{place:016x}", len(ids[test])) for place, test in enumerate(ids)]
    for text in inputs:
        row = {
            "premise": "",
            "hypothesis": "",
            "label": "neutral",
            "language": "",
            "origin": "",
            "views": [],
        }
        writer = CorpusWriter(store.folder("corpora", text.address))
        rows = [{**row, "id": name, "lineage": None} for name in ids[text.role]]
        writer.add(pa.Table.from_pylist(rows, schema=NLI.schema))
        writer.finish({"kind": "nli"})
    run = store.folder("runs", "a/seed-1")
    RunRecord("a", "a", 1, "nli", inputs=tuple(inputs)).write_description(run, {})
    return run


@pytest.mark.parametrize("named", [True, False])
def test_translations_are_known_by_their_ids_where_one_set_lacks_a_row(
    named: bool, tmp_path: Path
) -> None:
    """Rows are numbered `<set>-<row>`, or have an id of their own, the same in all sets."""
    random = np.random.default_rng(0)
    right = random.integers(2, size=400)
    rows = {"de": [*range(400)], "sw": [row for row in range(400) if row != 3]}
    ids = {
        test: [f"pair {row}" if named else f"{test}-{row:08}" for row in rows[test]]
        for test in rows
    }
    tests = {test: resample([accuracy(right[rows[test]])], value) for test in rows}
    (system_with_mean,) = with_mean(
        [system("a", tests, runs={1: run_on(Store(tmp_path), ids)})], ["de", "sw"]
    )
    drawn = system_with_mean.resampled["mean"]["accuracy"]
    together = clusters(
        [([str(row) for row in rows[test]], accuracy(right[rows[test]])) for test in rows]
    )
    assert np.array_equal(drawn.samples, resample([together], mean_over(value, 2)).samples)
    assert drawn.samples.std() == pytest.approx(
        tests["de"].samples.std(), rel=0.02
    )  # one language tells it all


@pytest.mark.parametrize(
    "ids",
    [
        {
            "de": [f"de-{row:08}" for row in range(1, 401)],
            "sw": [f"sw-{row:08}" for row in range(401, 801)],
        },
        {"de": ["de-00000001", "de-00000002"], "sw": ["sw-00000001", "sw-00000002"]},
    ],
    ids=["one file after the other", "of other sets than were scored"],
)
def test_translations_without_an_id_in_common_are_known_by_their_place(
    ids: dict[str, list[str]], tmp_path: Path
) -> None:
    drawn = resample([accuracy(np.random.default_rng(0).integers(2, size=400))], value)
    tests = {"de": drawn, "sw": drawn}
    (system_with_mean,) = with_mean(
        [system("a", tests, runs={1: run_on(Store(tmp_path), ids)})], ["de", "sw"]
    )
    assert np.array_equal(system_with_mean.resampled["mean"]["accuracy"].samples, drawn.samples)


def test_sets_of_unequal_length() -> None:
    tests = {
        "a": resample([accuracy(np.ones(5, int))], value),
        "b": resample([accuracy(np.zeros(3, int))], value),
    }
    (system_with_mean,) = with_mean([system("a", tests)], ["a", "b"])
    estimate = system_with_mean.tests["mean"]["accuracy"]
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (50.0, 50.0, 50.0, 8)


def test_seeds_are_averaged_and_tested() -> None:
    def seeds(shares: list[float]) -> Any:
        return resample(
            [accuracy((np.arange(200) < 2 * share).astype(int)) for share in shares], value
        )

    systems = with_mean(
        [
            system("a", {"x": seeds([50, 52]), "y": seeds([60, 62])}),
            system("b", {"x": seeds([70, 72]), "y": seeds([80, 82])}),
        ],
        ["x", "y"],
    )
    assert systems[0].resampled["mean"]["accuracy"].scores.tolist() == [55.0, 57.0]
    row = comparison(systems, "mean").rows[1]
    assert (
        row.difference == 20.0
        and row.tested is not None
        and row.tested.over == "seeds and sentences"
    )


def test_without_counts_the_interval_is_the_mean_of_intervals() -> None:
    tests = of_shares([60, 80])
    (system_with_mean,) = with_mean([system("a", tests, known=False)], list(tests))
    ends = [system_with_mean.tests[test]["accuracy"] for test in tests]
    estimate = system_with_mean.tests["mean"]["accuracy"]
    assert (estimate.low, estimate.high) == tuple(
        sum(getattr(e, end) for e in ends) / 2 for end in ("low", "high")
    )
    assert system_with_mean.resampled["mean"] == {}


def test_a_system_without_one_of_the_sets_has_no_mean() -> None:
    tests = of_shares([60, 80])
    complete, partial = with_mean(
        [system("a", tests), system("b", {"l0": tests["l0"]})], ["l0", "l1"]
    )
    assert "mean" in complete.tests and "mean" not in partial.tests


def test_the_mean_of_several_sets_comes_first() -> None:
    tests = of_shares([60, 80])
    systems = [system("a", tests), system("b", tests)]
    assert [table.test for table in compare_all(systems, ["l0", "l1"])] == ["mean", "l0", "l1"]
    assert [table.test for table in compare_all(systems, ["l0"])] == ["l0"]
    parts = [system(name, {test: tests[test]}) for name, test in (("a", "l0"), ("b", "l1"))]
    assert [table.test for table in compare_all(parts, ["l0", "l1"])] == ["l0", "l1"], (
        "no system has both"
    )
