"""Everything in a storage as frames."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.errors import UserError
from augury.reporting.frames import compare
from augury.reporting.frames import results as results_frame


@pytest.fixture
def folders(results: Any) -> list[Any]:
    correct = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    return [
        results.classified(name, name[0] * 16, seed, correct=labels[seed:] + labels[:seed])
        for name, labels in correct.items()
        for seed in (1, 2)
    ]


def test_runs_by_tests_by_metrics(results: Any, folders: list[Any]) -> None:
    results.run("later", "dd" * 8)
    frame = results_frame(results.store.root)
    assert list(zip(frame["system"], frame["seed"], strict=True)) == [
        ("base", 1),
        ("base", 2),
        ("cipher", 1),
        ("cipher", 2),
    ]
    first = frame.iloc[0]
    assert (first["test"], first["metric"], first["value"], first["n"]) == (
        "test",
        "accuracy",
        25.0,
        200,
    )
    assert (
        first["low"] < 25 < first["high"]
        and first["train_seconds"] == 100.0
        and first["run"] == folders[0].uri
    )


def test_a_comparison_as_a_frame(results: Any, folders: list[Any]) -> None:
    root = results.store.root
    baseline, system = compare(f"{root}/runs/{'b' * 16}", f"{root}/runs/{'c' * 16}").to_dict(
        "records"
    )
    assert (baseline["seeds"], system["seeds"], system["difference"]) == ("1 2", "1 2", 50.0)
    assert (
        system["difference_low"] <= 50 <= system["difference_high"]
        and system["p_corrected"] == 0.01
    )
    with pytest.raises(UserError):
        compare(f"{root}/runs/{'b' * 16}", f"{root}/runs/none")


def test_an_empty_storage_has_a_frame(tmp_path: Any) -> None:
    assert len(results_frame(tmp_path)) == 0 and "value" in results_frame(tmp_path).columns
