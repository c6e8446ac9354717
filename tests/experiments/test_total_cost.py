"""What a run has cost with the stages before it, the models of its operators and the text that
these made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Folder, Store
from augury.experiments.total_cost import total_cost


def run(store: Store, address: str, seconds: float, **description: Any) -> Folder:
    """A finished training."""
    folder = store.folder("runs", f"{address}/seed-2")
    folder.write_json("run.json", {"seed": 2, "run": description})
    outcome = {
        "rows": 10 * seconds,
        "train_seconds": seconds,
        "cpu_seconds": 2 * seconds,
        "workers": 2,
    }
    folder.write_json("outcome.json", outcome)
    return folder


def records(store: Store, address: str, models: dict[str, str], made_from: list[str]) -> str:
    """Records that an operator made with models."""
    store.folder("records", address).finish(
        {"side_data": {"models": models}, "made_from": made_from}
    )
    return f"records/{address}"


def cost(folder: Folder) -> dict[str, Any]:
    outcome = folder.read_json("outcome.json")
    seconds = outcome["train_seconds"]
    times = {
        "train_seconds": seconds,
        "cpu_seconds": outcome["cpu_seconds"],
        "device_hours": seconds * 2 / 3600,
    }
    return total_cost(folder, {"target_tokens": outcome["rows"], **times, "updates": 7})


def test_the_cost_of_a_single_training(tmp_path: Path) -> None:
    single = cost(run(Store(tmp_path), "a", 100))
    assert (single["train_seconds"], single["trainings"], single["uncounted"]) == (100, 1, [])


def test_stages_models_and_translations_are_added_once(tmp_path: Path) -> None:
    """A baseline; a model that was tuned from another; translations by it and by the baseline.

    Two stages on them.
    """
    store = Store(tmp_path)
    run(store, "base", 100)
    run(store, "reverse", 50)
    run(store, "tuned-reverse", 20, before="reverse")
    store.folder("translations", "t").finish({"seconds": 7.0})
    store.folder("translations", "u").finish({"seconds": 3.0})
    back = records(
        store,
        "b",
        {"translator": "runs/tuned-reverse/seed-2"},
        ["translations/t", "translations/u"],
    )
    forward = records(store, "f", {"translator": "runs/base/seed-2"}, ["translations/u"])
    run(store, "both", 30, before="base", records={"back": back, "forward": forward})
    again = cost(run(store, "again", 4, before="both", records={"back": back}))
    trained = 100 + 50 + 20 + 30 + 4
    assert again["train_seconds"] == trained + 10 and again["target_tokens"] == 10 * trained
    assert again["cpu_seconds"] == 2 * trained + 10
    assert again["device_hours"] == pytest.approx((2 * trained + 10) / 3600)
    assert (again["trainings"], again["updates"], again["uncounted"]) == (5, 7, [])


def test_processor_time_is_unknown_where_a_training_of_an_earlier_version_is_part_of_it(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    base = run(store, "base", 100)
    earlier = {
        key: value for key, value in base.read_json("outcome.json").items() if key != "cpu_seconds"
    }
    base.write_json("outcome.json", earlier)
    tuned = cost(run(store, "tuned", 20, before="base"))
    assert (tuned["train_seconds"], tuned["cpu_seconds"]) == (120, None)


def test_models_trained_elsewhere_are_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = records(
        store,
        "r",
        {"a": "Helsinki-NLP/opus-mt-fr-en@main", "b": "runs/of another storage/seed-1"},
        [],
    )
    priced = cost(run(store, "x", 5, records={"made": folder}))
    assert (priced["train_seconds"], priced["trainings"]) == (5, 1)
    assert priced["uncounted"] == [
        "Helsinki-NLP/opus-mt-fr-en@main",
        "runs/of another storage/seed-1",
    ]
