"""Whole sweeps on an experiment of the user's, and on an object store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.sweeping import writer
from tests.sweeping.quick import BASE
from tests.sweeping.sweeps import QUICK, choice, results, sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("local_ray"), pytest.mark.timeout(600)]

FAMILIES = """
from augury.sweeping.declarations import SearchSpace

PLAIN = {"name": "plain"}
SPACE = SearchSpace(
    question="Which helps?",
    base={"name": "families", "task": "nmt"},
    rows={
        "baseline": {"augment": [], "regime": PLAIN},
        "noise": {"augment": [{"operator": "noise", "spelling": 0.1}], "regime": PLAIN},
        "drop": {"augment": [{"operator": "word_drop"}], "regime": PLAIN},
        "labels": {"augment": [{"operator": "semantic"}], "regime": PLAIN},
    },
    families=lambda: {"noise": "records", "drop": "draws", "labels": "records"},
    joins=True,
    metric="valid/loss",
    mode="min",
    seeds=(1,),
    scheduler="race",
)
"""


@pytest.mark.long
def test_the_best_of_two_families_are_combined_once(tmp_path: Path) -> None:
    (tmp_path / "families.py").write_text(FAMILIES)
    training = BASE["training"] | {"max_updates": 16}
    own = {"systems": {"baseline": {}, "mine": {"regime.beta": 2}}}
    experiment = BASE | own | {"training": training, "validation": {"sentences": 4}}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(experiment))
    storage = tmp_path / "storage"
    flags = [str(tmp_path / "my.yaml"), "--seeds", "1"]
    first = sweep(storage, *flags, space=str(tmp_path / "families.py"))
    names = {row["name"] for row in first["table"]}
    combined = names - {"baseline", "noise", "drop", "mine"}  # without labels: it reads premises
    assert len(combined) >= 1 and all(" + " in name for name in combined)
    trained, chosen = results(storage), choice(storage)
    again = sweep(storage, *flags, space=str(tmp_path / "families.py"))
    assert again["reused"] and results(storage) == trained and choice(storage) == chosen


MOST_REQUESTS = 450
"""Of a sweep of three trials, which writes 150 files; what it shows meanwhile adds some, on a slow
machine more."""


@pytest.mark.trains
def test_a_sweep_asks_little_of_an_object_store(
    remote: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = Counter[str]()
    monkeypatch.setattr(writer, "REMOTE_WRITE_SECONDS", 3600.0)

    def counted(name: str) -> Any:
        ask = getattr(remote, name)

        def call(*arguments: Any, **options: Any) -> Any:
            requests[name] += 1
            return ask(*arguments, **options)

        return call

    for name in ("info", "find", "open", "rm"):
        monkeypatch.setattr(remote, name, counted(name))
    flags = ["--seeds", "1", "--set", "training.max_updates=16"]
    flags += ["--executor", "local", "--storage", "remote://bucket"]
    assert main(["sweep", QUICK, "--name", "quick", *flags]) == 0
    assert 0 < requests.total() <= MOST_REQUESTS, requests
