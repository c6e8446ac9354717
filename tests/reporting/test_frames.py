"""Results as frames: a storage, a comparison, a sweep."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from augury.core.errors import UserError
from augury.reporting import frames


def test_a_storage_has_runs_by_tests_by_metrics_and_a_comparison(
    results: Any, tmp_path: Any
) -> None:
    correct = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    runs = [
        results.run(name, name[0] * 16, seed, correct=labels[seed:] + labels[:seed])
        for name, labels in correct.items()
        for seed in (1, 2)
    ]
    results.run("later", "dd" * 8)
    frame, root = frames.results(results.store.root), f"{results.store.root}/runs"
    assert list(frame["system"]) == ["base", "base", "cipher", "cipher"]
    assert list(frame["seed"]) == [1, 2, 1, 2] and list(frame["run"]) == [run.uri for run in runs]
    first = frame.iloc[0]
    known = first[["test", "metric", "value", "n", "train_seconds"]].tolist()
    assert known == ["test", "accuracy", 25.0, 200, 100.0] and first["low"] < 25 < first["high"]
    baseline, system = frames.compare(f"{root}/{'b' * 16}", f"{root}/{'c' * 16}").to_dict("records")
    assert (baseline["seeds"], system["seeds"], system["difference"]) == ("1 2", "1 2", 50.0)
    assert system["difference_low"] <= 50 <= system["difference_high"]
    assert system["p_corrected"] == 0.01
    with pytest.raises(UserError):
        frames.compare(f"{root}/{'b' * 16}", f"{root}/none")
    empty = frames.results(tmp_path)
    assert len(empty) == 0 and list(empty.columns) == list(frame.columns)


def test_a_sweep_has_a_row_for_each_system(sweeps: Any) -> None:
    baseline, ours, other = (
        sweeps.configuration(point, name)
        for point, name in (({}, "baseline"), ({"a": 1}, "ours"), ({"a": 2}, "other"))
    )
    for address, bleu in ((baseline, 30.0), (ours, 33.0)):
        for seed in (1, 2):
            sweeps.trial(address, seed, [20.0, bleu], bleu=bleu + seed)
    sweeps.trial(other, 1, [19.0], "stopped")
    sweeps.chosen = ours
    frame = frames.sweep(sweeps.load((1, 2), scheduler="race")).set_index("name")
    assert list(frame.index) == ["ours", "baseline", "other"]
    assert frame["seeds"].tolist() == [2, 2, 0]
    assert frame["state"].tolist() == ["finished", "finished", "stopped"]
    assert frame["recommended"].tolist() == [True, False, False]
    assert frame["score"].tolist()[:2] == [34.5, 31.5] and pd.isna(frame["score"]["other"])
    assert frame["difference"]["ours"] == pytest.approx(3.0)
    assert pd.isna(frame["difference"]["baseline"])
    assert {*frame["metric"]} == {"bleu"} and {*frame["test"]} == {"test"}
    assert frame["train_seconds"]["ours"] == 120.0
    assert "ours" in frame.attrs["answer"] and frame.attrs["page"].endswith("index.html")
