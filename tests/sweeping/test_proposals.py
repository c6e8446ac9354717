"""What later rounds add to the plan of a sweep: combinations of the best methods, and other values
of the main settings of the winner."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import pytest
from ray import tune

from augury.core.store import Store
from augury.experiments.spec import parse
from augury.sweeping import plan as plans
from augury.sweeping.applied import apply
from augury.sweeping.main_settings import (
    main_settings,
    sections,
    suggest,
    values_of,
    with_values,
)
from augury.sweeping.proposals import Proposals
from augury.sweeping.rounds import combinations
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
    assert combinations(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        ("cipher", "noise"): {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    rows = ROWS | {"typos": {"augment": [TYPOS], "regime": PLAIN}}
    related = combinations(["noise", "typos", "cipher"], rows, FAMILIES | {"typos": "records"})
    assert list(related) == [("noise", "cipher")]
    families = FAMILIES | {"drop": "draws"}
    three = combinations(["noise", "cipher", "drop", "PGD"], ROWS, families)
    assert list(three) == [("noise", "cipher"), ("noise", "drop")]
    assert three["noise", "cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}


def test_rows_without_a_family_are_not_combined() -> None:
    assert combinations(["cipher", "drop"], ROWS, FAMILIES) == {}


def test_a_combination_that_is_not_valid_leaves_the_others(tmp_path: Path) -> None:
    """Records of noise have no EDA views; the driver goes on with the same mapping."""
    experiment = tiny.experiment("classification", tmp_path)
    space = apply(find("augmentations"), experiment).space
    names = ["baseline", "spelling noise", "EDA view", "FGM 0.01"]
    plan = plans.Plan(space, Store(str(tmp_path)), {})
    for name in names:
        plan.add(space.rows[name], name)
    configurations, known = plan.configurations, dict(plan.configurations)
    proposals = Proposals(plan, space, lambda: None)
    best_first = {address: 0.0 for address, item in known.items() if item.name != "baseline"}
    (added, parents), *others = proposals.rounds[0](best_first).items()
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
    point = sections(system([1], 2))
    domains = main_settings(point, DECLARED)
    assert list(domains) == ["regime.beta", "augment.1.keys"]
    assert values_of(point, domains) == {"regime.beta": 2, "augment.1.keys": [1]}
    other = system([1, 2], 8.0)
    assert with_values(point, values_of(sections(other), domains)) == sections(other)
    assert point == sections(system([1], 2))


@pytest.mark.parametrize("mode", ["max", "min"])
def test_suggestions_are_new_and_a_function_of_the_scores(mode: Literal["max", "min"]) -> None:
    domains = main_settings(sections(system([1], 2)), DECLARED)
    scored = [({"regime.beta": 2.0, "augment.1.keys": [1]}, 20.0)]
    first = suggest(domains, scored, 4, mode=mode)
    assert len(first) == 4 and first == suggest(domains, scored, 4, mode=mode)
    assert scored[0][0] not in first
    every = suggest(domains, [*scored, *((values, 19.0) for values in first)], 20, mode=mode)
    assert len(every) <= 4 and not any(values in first for values in every)


def test_suggestions_are_drawn_to_where_the_scores_are_good() -> None:
    domains = {"regime.beta": tune.uniform(0, 10)}
    scored = [({"regime.beta": float(beta)}, float(beta)) for beta in range(11)]
    high, low = (
        [values["regime.beta"] for values in suggest(domains, scored, 8, mode=mode)]
        for mode in ("max", "min")
    )
    assert fmean(high) > 5 > fmean(low)
