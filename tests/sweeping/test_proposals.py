"""What later rounds add to the plan of a sweep."""

from __future__ import annotations

from pathlib import Path

from augury.core.store import Store
from augury.sweeping import plan as plans
from augury.sweeping.applied import apply
from augury.sweeping.proposals import Proposals
from augury.sweeping.space import find
from tests import tiny


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
