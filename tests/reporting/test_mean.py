"""The mean over test sets is a test set like others, and translations of an example are drawn
together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augury.core.store import Folder, Store
from augury.corpora.corpus import NLI, CorpusWriter
from augury.experiments.record import Input, RunRecord
from augury.reporting.comparison import with_mean
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
    runs: dict[int, Folder] | None = None,
) -> SystemResult:
    estimates = {}
    for test, drawn in tests.items():
        n, seeds = len(drawn.statistics[0]), range(drawn.seeds)
        shown = Estimate(drawn.value, *interval(drawn), SIGNATURE, n, tuple(seeds))
        estimates[test] = {"accuracy": shown}
    resampled = {test: {"accuracy": drawn} for test, drawn in tests.items()}
    return SystemResult(name, name * 16, runs or {}, tests=estimates, resampled=resampled)


def test_the_average_of_dong_et_al_is_rounded_after_the_mean() -> None:
    shares = [80.8, 74.5, 77.3, 73.6, 75.8, 74.9, 70.0, 64.8, 65.7, 76.3, 74.9, 71.6, 71.4, 74.5]
    tests = {}
    for share in [*shares, 68.5]:
        right = (np.arange(1000) < share * 10).astype(int)
        tests[f"l{len(tests)}"] = resample([accuracy(right)], value, samples=20)
    partial = system("b", {"l0": tests["l0"]})
    with_one, without = with_mean([system("a", tests), partial], list(tests))
    mean = with_one.tests["mean"]["accuracy"]
    assert mean.value == pytest.approx(72.9733, abs=5e-5) and round(mean.value, 1) == 73.0
    assert (mean.n, mean.signature) == (15_000, f"mean of 15 test sets, {SIGNATURE}")
    assert "mean" not in without.tests


def test_all_exceptions_of_a_mean_may_be_in_its_smallest_set() -> None:
    """Of sets of 1,000 and 20 without an error: 0.05^(1/40) = 0.92785."""
    tests = {}
    for name, count in (("large", 1000), ("small", 20)):
        rights = accuracy(np.ones(count, int))
        tests[name] = resample([rights], value, samples=20, examples=Accuracy.examples(rights))
    (result,) = with_mean([system("a", tests)], list(tests))
    assert result.tests["mean"]["accuracy"].low == pytest.approx(92.785, abs=0.001)


def run_on(root: Path, ids: Mapping[str, Sequence[str]]) -> Folder:
    """A run, and its test sets with examples of these ids."""
    store, inputs = Store(root), []
    texts = dict.fromkeys(("premise", "hypothesis", "language", "origin"), "")
    row: dict[str, Any] = {**texts, "label": "neutral", "views": [], "lineage": None}
    for place, (test, names) in enumerate(ids.items()):
        inputs.append(Input(test, f"{place:016x}", len(names)))
        writer = CorpusWriter(store.folder("corpora", f"{place:016x}"))
        rows = [{**row, "id": name} for name in names]
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
    right = np.random.default_rng(0).integers(2, size=400)
    rows = {"de": [*range(400)], "sw": [row for row in range(400) if row != 3]}
    pattern = "pair {row}" if named else "{test}-{row:08}"
    ids = {test: [pattern.format(test=test, row=row) for row in rows[test]] for test in rows}
    tests = {test: resample([accuracy(right[rows[test]])], value) for test in rows}
    translated = system("a", tests, runs={1: run_on(tmp_path, ids)})
    (system_with_mean,) = with_mean([translated], ["de", "sw"])
    drawn = system_with_mean.resampled["mean"]["accuracy"]
    together = clusters(
        [([str(row) for row in rows[test]], accuracy(right[rows[test]])) for test in rows]
    )
    assert np.array_equal(drawn.samples, resample([together], mean_over(value, 2)).samples)


def test_the_mean_is_over_the_sets_that_systems_have_in_common() -> None:
    sets = {test: resample([accuracy(np.arange(100) % 3)], value) for test in "abc"}
    names = {"more": "abc", "fewer": "ab"}
    systems = [system(name, {test: sets[test] for test in tests}) for name, tests in names.items()]
    means = with_mean(systems, ["a", "b"])
    assert [list(mean.tests) for mean in means] == [["a", "b", "mean"]] * 2
