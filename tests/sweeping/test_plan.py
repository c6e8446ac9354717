"""Configurations and their addresses.

Points that are the same experiment are merged with a reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.sweeping import plan as plans
from augury.sweeping import space
from augury.sweeping.plan import SweepPlan


def planned(
    name: str, store: Store, assignments: dict[str, Any] | None = None, **changes: Any
) -> SweepPlan:
    space_ = replace(space.find(name), **changes)
    return plans.make(space_, store, assignments or {})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


def names(plan: SweepPlan) -> list[str]:
    return [entry.name for entry in plan.configurations.values()]


def merged(plan: SweepPlan) -> list[tuple[str, str]]:
    """The points that were merged, each with the configuration that it is."""
    return [(entry.name, entry.same_as) for entry in plan.merged]


def test_tau_and_warmup_without_agreement_are_one_experiment(store: Store) -> None:
    keys = {"regime.beta": [0, 5], "regime.tau": [1, 2], "regime.warmup_epochs": [0, 9]}
    plan = planned("agreement", store, keys=keys)
    assert len(plan.configurations) == 1 + 1 + 4
    same = "beta=0, tau=1, warmup_epochs=0"
    others = ["tau=1, warmup_epochs=9", "tau=2, warmup_epochs=0", "tau=2, warmup_epochs=9"]
    assert merged(plan) == [(f"beta=0, {other}", same) for other in others]
    assert plan.merged[1].reason.startswith("regime.tau has no effect")
    # A warm-up on the cipher alone matters all the same.
    keys = {"regime.beta": [0], "regime.warmup_epochs": [0, 9]}
    assert merged(planned("agreement", store, {"regime.warmup_views": "cipher"}, keys=keys)) == []


ROWS = {
    "plain": {"augment": [], "regime": "plain"},
    "pull": {},
    "no pull": {"regime.beta": 0},
    "no pull, flatter": {"regime.beta": 0, "regime.tau": 2},
    "no pull again": {"regime.beta": 0},
}


def test_rows_keep_their_names_and_the_reference_is_first(store: Store) -> None:
    plan = planned("agreement", store, keys={}, rows=ROWS, reference="pull")
    assert names(plan) == ["pull", "plain", "no pull"]
    assert merged(plan) == [("no pull, flatter", "no pull"), ("no pull again", "no pull")]
    assert [entry.reason for entry in plan.merged] == [
        "regime.tau has no effect: beta=0 disables the divergence",
        "both resolve to the same run",
    ]
    plan = planned("agreement", store, keys={"regime.beta": [0, 2]}, rows=ROWS, reference="plain")
    assert names(plan) == ["plain", "pull", "no pull", "beta=2"]
    assert merged(plan)[-1] == ("beta=0", "no pull")


def test_what_is_swept_cannot_be_set(store: Store) -> None:
    with pytest.raises(UserError, match="--set regime.beta: space 'agreement' sweeps this key"):
        planned("agreement", store, {"regime.beta": 3})


def test_what_is_compared_is_measured_in_validation(store: Store) -> None:
    rows = {"plain": {}, "by chrF": {"validation.metric": "chrf"}}
    for changes in [{"metric": "valid/blue"}, {"rows": rows}]:
        with pytest.raises(UserError, match="does not measure in validation: .*valid/loss"):
            planned("agreement", store, **changes)
    for metric in ("valid/loss", "valid/perplexity"):
        assert planned("agreement", store, metric=metric, rows=rows, keys={}).configurations


def test_the_papers_attack_has_no_radius(store: Store) -> None:
    space_ = space.find("pgd", "paper")
    corpus = {"language": "qaa", "train": {"builtin": 60}, "valid": {"builtin": 12}}
    settings = {"corpus": corpus, "model": {"architecture": "tiny"}}
    plan = plans.make(space_, store, settings)
    assert names(plan)[:2] == ["regime=plain", "ε = 3, α = 1, K = 3"]
    assert len(plan.configurations) == 2 + 3 * 2 * 2
    paper: Any = list(plan.configurations.values())[1].experiment.regime
    assert (paper.epsilon, paper.step_length, paper.steps, paper.clean_weight) == (None, 1, 3, 0)
    assert merged(plan) == [("ε = 5, α = 1, K = 3", "ε = 3, α = 1, K = 3")]
    assert "3 steps of 1 cannot exceed it: nothing is projected" in plan.merged[0].reason


def test_rows_that_differ_only_in_scoring_are_rejected(store: Store) -> None:
    rows = {"beam 5": {"decoding.beam": 5}, "greedy": {"decoding.beam": 1}}
    with pytest.raises(UserError, match="'beam 5' and 'greedy' .* train the same model and differ"):
        planned("agreement", store, keys={}, rows=rows)
