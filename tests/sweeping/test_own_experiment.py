"""A space on an experiment file of the user's, with a second round of combinations."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping.quick import BASE
from tests.sweeping.sweeps import decisions, results, sweep

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
    main_settings=lambda: {
        "noise": ("spelling", [0.05, 0.2]),
        "word_drop": ("tau", [0.5, 2.0]),
        "coregularised": ("beta", [0.5, 4.0]),
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
def test_the_best_of_two_families_are_combined_and_tuned_once(tmp_path: Path) -> None:
    (tmp_path / "families.py").write_text(FAMILIES)
    training = BASE["training"] | {"max_updates": 16}
    own = {"systems": {"baseline": {}, "mine": {"regime.beta": 2}}}
    experiment = BASE | own | {"training": training, "validation": {"sentences": 4}}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(experiment))
    storage = tmp_path / "storage"
    flags = [str(tmp_path / "my.yaml"), "--seeds", "1"]
    first = sweep(storage, *flags, space=str(tmp_path / "families.py"))
    names = {row["name"] for row in first["table"]}
    tuned = {name for name in names if "=" in name}
    assert len(tuned) >= 2 and len({name.rpartition(", ")[0] for name in tuned}) == 1
    combined = names - {"baseline", "noise", "drop", "mine"} - tuned
    assert len(combined) >= 1 and all(" + " in name for name in combined)
    assert not names & {"labels"}  # it reads premises and hypotheses
    quick = state.load(Store(storage), "quick")
    assert [decision.action for decision in quick.decisions].count("chosen") >= 3
    recommended = yaml.safe_load(Path(first["recommended"]).read_text())
    assert recommended["seeds"] == [1]
    assert recommended["corpus"]["train"]["builtin"] == 300
    assert sum(first["chances"].values()) == pytest.approx(1)
    trained, decided = results(storage), decisions(storage)
    again = sweep(storage, *flags, space=str(tmp_path / "families.py"))
    assert again["reused"] and results(storage) == trained
    assert decisions(storage) == decided
