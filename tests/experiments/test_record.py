"""The record of a run: what it has cost with the stages before it, the models of its operators and
the text that these made; its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import Cost, RunRecord
from augury.training.trained import Outcome
from tests.run_folders import outcome


def trained(store: Store, address: str, seconds: float, **settings: Any) -> Folder:
    """A finished training of two workers."""
    folder = store.folder("runs", f"{address}/seed-2")
    RunRecord(address, address, 2, "nmt").write_description(folder, settings)
    rows = int(10 * seconds)
    outcome(seconds, rows=rows, cpu_seconds=2 * seconds, workers=2, updates=7).write(folder)
    return folder


def records(store: Store, address: str, models: dict[str, str], made_from: list[str]) -> str:
    """Records that an operator made with models."""
    store.folder("records", address).finish(
        {"side_data": {"models": models}, "made_from": made_from}
    )
    return f"records/{address}"


def cost(folder: Folder) -> Cost:
    return Cost.of(folder, Outcome.read(folder), data_factor=1.0)


def test_stages_models_and_translations_are_added_once(tmp_path: Path) -> None:
    """A baseline, a model that was tuned from another, translations by both, two stages on them."""
    store = Store(tmp_path)
    trained(store, "base", 100)
    trained(store, "reverse", 50)
    trained(store, "tuned-reverse", 20, before="reverse")
    store.folder("translations", "t").finish({"seconds": 7.0})
    store.folder("translations", "u").finish({"seconds": 3.0})
    texts = ["translations/t", "translations/u"]
    back = records(store, "b", {"translator": "runs/tuned-reverse/seed-2"}, texts)
    forward = records(store, "f", {"translator": "runs/base/seed-2"}, ["translations/u"])
    trained(store, "both", 30, before="base", records={"back": back, "forward": forward})
    again = cost(trained(store, "again", 4, before="both", records={"back": back}))
    seconds = 100 + 50 + 20 + 30 + 4
    assert again.train_seconds == seconds + 10 and again.target_tokens == 10 * seconds
    assert again.cpu_seconds == 2 * seconds + 10
    assert again.device_hours == pytest.approx((2 * seconds + 10) / 3600)
    assert (again.trainings, again.updates, again.uncounted) == (5, 7, ())


def test_models_trained_elsewhere_are_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    names = ("Helsinki-NLP/opus-mt-fr-en@main", "runs/of another storage/seed-1")
    folder = records(store, "r", dict(zip("ab", names, strict=True)), [])
    priced = cost(trained(store, "x", 5, records={"made": folder}))
    assert (priced.train_seconds, priced.trainings) == (5, 1)
    assert priced.uncounted == names


def test_a_record_with_a_wrong_entry_is_refused(run: Any) -> None:
    content = run.folder.read_record("run.json")
    run.folder.write_record("run.json", content | {"seed": "three"})
    with pytest.raises(UserError, match=rf"{run.folder.uri}.*seed"):
        RunRecord.read(run.folder)
