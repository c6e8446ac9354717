"""Whole sweeps with Optuna, on an experiment of the user's, and on an object store."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.sweeping.quick import BASE
from tests.sweeping.sweeps import choice, results, sweep

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
