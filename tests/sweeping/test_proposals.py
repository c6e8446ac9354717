"""What later rounds add to the plan of a sweep: combinations of the best methods, and other values
of the main settings of the winner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core import config
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.sweeping import plan as plans
from augury.sweeping.applied import apply
from augury.sweeping.plan import value_at
from augury.sweeping.proposals import (
    Proposals,
    combined_rows,
    main_settings,
    method_of,
)
from augury.sweeping.space import find
from tests import tiny

CIPHER, NOISE, TYPOS, DROP = (
    {"operator": name} for name in ("cipher", "noise", "typos", "word_drop")
)
AGREE, ATTACK, PLAIN = ({"name": name} for name in ("coregularised", "adversarial", "plain"))
ROWS = {
    "cipher": {"augment": [CIPHER], "regime": AGREE},
    "R-Drop": {"augment": [], "regime": AGREE},
    "PGD": {"augment": [], "regime": ATTACK},
    "noise": {"augment": [NOISE], "regime": PLAIN},
    "drop": {"augment": [DROP], "regime": PLAIN},
}
FAMILIES = {"cipher": "views", "R-Drop": "views", "PGD": "attacks", "noise": "records"}


def test_the_best_is_combined_with_the_next_of_other_families_that_have_no_other_regime() -> None:
    assert combined_rows(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        ("cipher", "noise"): {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    rows = ROWS | {"typos": {"augment": [TYPOS], "regime": PLAIN}}
    related = combined_rows(["noise", "typos", "cipher"], rows, FAMILIES | {"typos": "records"})
    assert list(related) == [("noise", "cipher")]
    families = FAMILIES | {"drop": "draws"}
    three = combined_rows(["noise", "cipher", "drop", "PGD"], ROWS, families)
    assert list(three) == [("noise", "cipher"), ("noise", "drop")]
    assert three["noise", "cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}


def test_rows_without_a_family_are_not_combined() -> None:
    assert combined_rows(["cipher", "drop"], ROWS, FAMILIES) == {}


def test_a_combination_that_is_not_valid_leaves_the_others(tmp_path: Path) -> None:
    """Records of noise have no EDA views; the driver goes on with the same mapping."""
    experiment = tiny.experiment("classification", tmp_path)
    space = apply(find("augmentations"), experiment).space
    names = ["baseline", "spelling noise", "EDA view", "FGM 0.01"]
    plan = plans.Plan(space, Store(str(tmp_path)), {})
    for name in names:
        plan.add(space.rows[name], name)
    configurations, known = plan.configurations, dict(plan.configurations)
    proposals = Proposals(plan, lambda: None)
    best_first = {address: 0.0 for address, item in known.items() if item.name != "baseline"}
    (added, parents), *others = proposals.of_methods()[0](best_first).items()
    assert plan.configurations is configurations and not others
    assert configurations.keys() == {*known, added}
    assert configurations[added].name == "spelling noise + FGM 0.01"
    assert [known[parent].name for parent in parents] == ["spelling noise", "FGM 0.01"]


DECLARED: Any = {"coregularised": ("beta", [0.5, 2.0, 8.0]), "cipher": ("keys", [[1], [2], [1, 2]])}
DROPS = {"operator": "word_drop"}


def system(keys: list[int], beta: float) -> Any:
    """An experiment with these values of its main settings."""
    augment = [DROPS, {"operator": "cipher", "keys": keys}]
    regime = {"name": "coregularised", "beta": beta}
    return parse(tiny.content("nmt", Path("store"), augment=augment, regime=regime))


def test_main_settings_are_those_of_the_regime_and_of_operators() -> None:
    point = method_of(system([1], 2))
    domains = main_settings(point, DECLARED)
    assert [value_at(point, key) for key in domains] == [2, [1]]
    changed = config.merge(point, {"regime.beta": 8.0, "augment.1.keys": [1, 2]})
    assert list(domains) == ["regime.beta", "augment.1.keys"]
    assert changed == method_of(system([1, 2], 8.0)) and point == method_of(system([1], 2))
