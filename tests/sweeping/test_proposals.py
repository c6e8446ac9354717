"""What later rounds add to the plan of a sweep: combinations of the best methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core.store import Store
from augury.sweeping import plan as plans
from augury.sweeping.applied import apply
from augury.sweeping.proposals import combine, combined_rows
from augury.sweeping.space import find
from tests import tiny

CIPHER, NOISE, TYPOS, DROP = (
    {"operator": name} for name in ("cipher", "noise", "typos", "word_drop")
)
AGREE, ATTACK, PLAIN = ({"name": name} for name in ("coregularised", "adversarial", "plain"))
ROWS: dict[str, Any] = {
    "cipher": {"augment": [CIPHER], "regime": AGREE},
    "R-Drop": {"augment": [], "regime": AGREE},
    "PGD": {"augment": [], "regime": ATTACK},
    "noise": {"augment": [NOISE], "regime": PLAIN},
    "typos": {"augment": [TYPOS], "regime": PLAIN},
    "drop": {"augment": [DROP], "regime": PLAIN},
    "alone": {"augment": [DROP], "regime": PLAIN},
}
FAMILIES = {
    **{"cipher": "views", "R-Drop": "views", "PGD": "attacks"},
    **{"noise": "records", "typos": "records", "drop": "draws"},
}


def test_the_best_is_combined_with_the_next_of_other_families_that_have_no_other_regime() -> None:
    assert combined_rows(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        "cipher + noise": {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    related = combined_rows(["noise", "typos", "cipher"], ROWS, FAMILIES)
    assert list(related) == ["noise + cipher"]
    three = combined_rows(["noise", "cipher", "drop", "PGD"], ROWS, FAMILIES)
    assert list(three) == ["noise + cipher", "noise + drop"]
    assert three["noise + cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}
    assert combined_rows(["cipher", "alone"], ROWS, FAMILIES) == {}  # it has no family


def test_regimes_may_be_left_out_or_be_names() -> None:
    rows = {"noise": {"augment": [NOISE]}, "R-Drop": {"regime": "coregularised"}}
    combined = combined_rows(list(rows), rows, {"noise": "records", "R-Drop": "views"})
    assert combined == {"noise + R-Drop": {"augment": [NOISE], "regime": AGREE}}


def test_a_combination_that_is_not_valid_leaves_the_others(tmp_path: Path) -> None:
    """Records of noise have no EDA views; the driver goes on with the same mapping."""
    experiment = tiny.experiment("classification", tmp_path)
    space, _ = apply(find("augmentations"), experiment)
    names = ["baseline", "spelling noise", "EDA view", "FGM 0.01"]
    plan = plans.SweepPlan(space, Store(str(tmp_path)), {})
    for name in names:
        plan.add(space.rows[name], name)
    configurations, known = plan.configurations, dict(plan.configurations)
    (added,) = combine(plan, dict.fromkeys(known, 0.0))
    assert plan.configurations is configurations
    assert configurations.keys() == {*known, added}
    assert configurations[added].name == "spelling noise + FGM 0.01"
