"""Results as frames: a storage, a comparison, a sweep."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting import frames


def test_a_storage_has_runs_by_tests_by_metrics_and_a_comparison(
    results: Any, tmp_path: Any
) -> None:
    correct = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    for name, labels in correct.items():
        for seed in (1, 2):
            results.run(name, name[0] * 16, seed, correct=labels[seed:] + labels[:seed])
    results.run("later", "dd" * 8)
    frame, root = frames.results(results.store.root), f"{results.store.root}/runs"
    assert list(frame["system"]) == ["base", "base", "cipher", "cipher"]
    known = frame.iloc[0][["seed", "test", "metric", "value", "n", "train_seconds"]].tolist()
    assert known == [1, "test", "accuracy", 25.0, 200, 100.0]
    baseline, system = frames.compare(f"{root}/{'b' * 16}", f"{root}/{'c' * 16}").to_dict("records")
    assert (baseline["seeds"], system["seeds"], system["difference"]) == ((1, 2), (1, 2), 50.0)
    assert system["difference_low"] <= 50 <= system["difference_high"]
    empty = frames.results(tmp_path)
    assert len(empty) == 0 and list(empty.columns) == list(frame.columns)


def test_the_answer_is_of_the_test_sets_that_both_systems_have(results: Any) -> None:
    for name, tests in (("base", ("x", "y")), ("ours", ("x",))):
        run = results.run(name, name * 4, bleu=30.0)
        content = run.read_record("scores.json")
        scores = dict.fromkeys(tests, content["tests"]["test"])
        run.write_record("scores.json", content | {"tests": scores})
    frame = frames.compare("ciphers/base", "ciphers/ours", results.store.root)
    assert {*frame["test"]} == {"x"} and frame.attrs["answer"].startswith("On x, ")


def test_a_sweep_has_a_row_for_each_system(sweeps: Any) -> None:
    baseline, ours = (sweeps.configuration({}, name) for name in ("baseline", "ours"))
    for address, bleu in ((baseline, 30.0), (ours, 33.0)):
        for seed in (1, 2):
            sweeps.trial(address, seed, [20.0, bleu], bleu=bleu + seed)
    sweeps.chosen = ours
    frame = frames.sweep(sweeps.load((1, 2), scheduler="race")).set_index("name")
    assert frame["seeds"].to_dict() == {"ours": 2, "baseline": 2}
    assert frame["recommended"].tolist() == [True, False]
    assert frame["score"].tolist() == [34.5, 31.5]
    assert frame["difference"]["ours"] == pytest.approx(3.0)
    assert "ours" in frame.attrs["answer"] and frame.attrs["page"].endswith("index.html")
