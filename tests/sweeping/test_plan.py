"""Configurations and their addresses.

Points that are the same experiment are merged with a reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.store import Store
from augury.sweeping import plan as plans
from augury.sweeping import space
from augury.sweeping.plan import Plan


def planned(
    name: str, store: Store, assignments: dict[str, Any] | None = None, **changes: Any
) -> Plan:
    space_ = replace(space.find(name), **changes)
    return plans.make(space_, store, assignments or {}, space.sample(space_))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


def names(plan: Plan) -> list[str]:
    return [entry.name for entry in plan.configurations.values()]


def test_the_baseline_precedes_the_points(store):
    plan = planned("multi_source", store)
    assert names(plan) == [
        "baseline",
        "equation=1, keys=1",
        "equation=1, keys=1+2",
        "equation=2, keys=1",
        "equation=2, keys=1+2",
    ]
    assert next(iter(plan.configurations.values())).experiment.augment == ()
    assert plan.merged == []


def test_budgets_equal_in_updates_are_those_of_the_reference(store):
    rows = {"plain": {}, "longer": {"training.patience": 9, "training.max_tokens": 700}}
    changes = {"keys": {}, "rows": rows, "reference": "plain"}
    budget = {"equal": "updates", "training.max_epochs": None, "training.max_updates": 90}
    plan = planned("agreement", store, budget, **changes)
    ends = [entry.experiment.training.max_updates for entry in plan.configurations.values()]
    assert ends == [90, 90]
    swept = {"keys": {"training.max_updates": [5, 9]}, "reference": None}
    with pytest.raises(UserError, match="leave out one of both"):
        planned("agreement", store, {"equal": "updates"}, **swept)


@pytest.mark.parametrize(
    ("dropouts", "expected"),
    [
        ([0.0, 0.2], [("default, dropout=0.1", 0.1), ("dropout=0", 0.0), ("dropout=0.2", 0.2)]),
        ([0.2, 0.1], [("dropout=0.1", 0.1), ("dropout=0.2", 0.2)]),
    ],
)
def test_the_default_of_a_swept_key_is_a_point_or_named_with_its_value(store, dropouts, expected):
    plain = {"augment": [], "regime": "plain", "model.dropout": 0.1}
    space_ = replace(
        space.find("agreement"),
        base=config.merge(space.find("agreement").base, plain),
        keys={"model.dropout": dropouts},
    )
    plan = plans.make(space_, store, {}, space.sample(space_))
    shown = [(entry.name, entry.point["model.dropout"]) for entry in plan.configurations.values()]
    assert shown == expected and plan.merged == []


def test_tau_and_warmup_without_agreement_are_one_experiment(store):
    keys = {"regime.beta": [0, 5], "regime.tau": [1, 2], "regime.warmup_epochs": [0, 9]}
    plan = planned("agreement", store, keys=keys)
    assert len(plan.configurations) == 1 + 1 + 4
    assert [title(entry.point) for entry in plan.merged] == [
        "beta=0, tau=1, warmup_epochs=9",
        "beta=0, tau=2, warmup_epochs=0",
        "beta=0, tau=2, warmup_epochs=9",
    ]
    assert {entry.same_as for entry in plan.merged} == {"beta=0, tau=1, warmup_epochs=0"}
    assert plan.merged[1].reason.startswith("regime.tau has no effect")


def test_warmup_on_the_cipher_alone_matters_without_agreement_too(store):
    keys = {"regime.beta": [0], "regime.warmup_epochs": [0, 9]}
    plan = planned("agreement", store, {"regime.warmup_views": "cipher"}, keys=keys)
    assert plan.merged == []


def test_keys_equal_modulo_the_alphabet_are_one_experiment(store):
    alphabet = "abcdefghijklmnopqrstuvwxyzäöüß"
    keys = {"augment.0.keys": [[1], [31], [1, 2], [31, 32], [1, 31]]}
    plan = planned("cipher_keys", store, {"augment.0.alphabet": alphabet}, keys=keys)
    assert names(plan) == ["baseline", "keys=1", "keys=1+2"]
    assert [(title(entry.point), entry.same_as) for entry in plan.merged] == [
        ("keys=31", "keys=1"),
        ("keys=31+32", "keys=1+2"),
        ("keys=1+31", "keys=1"),
    ]
    assert "on this text it is the same as operator=cipher, keys=1," in plan.merged[0].reason


def test_a_given_alphabet_has_no_mode(store):
    keys = {
        "augment.0.alphabet": ["abcdefgh"],
        "augment.0.mode": ["alpha", "lower"],
        "augment.0.min_count": [1, 2],
    }
    plan = planned("cipher_keys", store, keys=keys)
    assert len(plan.configurations) == 2 and len(plan.merged) == 3
    assert plan.merged[0].reason == "augment.0.min_count has no effect: the alphabet is given"


def test_keys_are_compared_modulo_the_fitted_alphabet_too(store):
    fitted = planned("cipher_keys", store, keys={"augment.0.keys": [[1]]})
    assert len(fitted.configurations) == 2
    fits = [store.folder("fits", address) for address in store.addresses("fits")]
    sizes = {len(cycle) for fit in fits for cycle in fit.read_json("fitted.json")["cycles"]}
    size = max(sizes)
    plan = planned("cipher_keys", store, keys={"augment.0.keys": [[1], [1 + size]]})
    assert names(plan) == ["baseline", "keys=1"]


def test_settings_of_the_other_vocabulary_mode_have_no_effect(store):
    plan = planned("vocabulary", store)
    assert len(plan.configurations) == 1 + 4 + 1
    assert (
        plan.merged[0].reason
        == "vocabulary.size_per_key has no effect: the mode of the vocabulary is separate"
    )


def test_an_unknown_key_names_the_nearest(store):
    with pytest.raises(
        UserError, match="point betta=1 is not valid(.|\n)*'regime.betta': did you mean 'beta'"
    ):
        planned("agreement", store, keys={"regime.betta": [1]})


def test_a_swept_key_cannot_be_set(store):
    with pytest.raises(UserError, match="--set regime.beta: space 'agreement' sweeps this key"):
        planned("agreement", store, {"regime.beta": 3})


def test_a_reference_of_the_space(store):
    plan = planned("agreement", store, keys={"regime.beta": [1, 0]}, reference={"regime.beta": 0})
    assert names(plan) == ["beta=0", "beta=1"]
    assert plan.merged == []


def test_addresses_do_not_depend_on_the_order_of_points(store):
    fewer = planned("agreement", store, keys={"regime.beta": [1, 5]})
    more = planned("agreement", store, keys={"regime.beta": [5, 2, 1]})
    assert set(fewer.configurations) <= set(more.configurations)


ROWS = {
    "plain": {"augment": [], "regime": "plain"},
    "pull": {},
    "no pull": {"regime.beta": 0},
    "no pull, flatter": {"regime.beta": 0, "regime.tau": 2},
    "no pull again": {"regime.beta": 0},
}


def test_rows_keep_their_names_and_the_reference_is_first(store):
    plan = planned("agreement", store, keys={}, rows=ROWS, reference="pull")
    assert names(plan) == ["pull", "plain", "no pull"]
    assert [(entry.label, entry.same_as, entry.reason) for entry in plan.merged] == [
        ("no pull, flatter", "no pull", "regime.tau has no effect: beta=0 disables the divergence"),
        ("no pull again", "no pull", "both resolve to the same run"),
    ]


def test_rows_can_be_combined_with_a_grid(store):
    plan = planned("agreement", store, keys={"regime.beta": [0, 2]}, rows=ROWS, reference="plain")
    assert names(plan) == ["plain", "pull", "no pull", "beta=2"]
    assert plan.merged[-1].label == "beta=0" and plan.merged[-1].same_as == "no pull"


@pytest.mark.parametrize("key", ["regime.tau", "augment.0.keys", "augment"])
def test_keys_of_rows_cannot_be_set(store, key):
    with pytest.raises(UserError, match=f"--set {key}: space 'agreement' sweeps this key"):
        planned("agreement", store, {key: 1}, keys={}, rows=ROWS, reference="pull")
    plan = planned(
        "agreement", store, {"training.max_updates": 900}, keys={}, rows=ROWS, reference="pull"
    )
    assert {entry.experiment.training.max_updates for entry in plan.configurations.values()} == {
        900
    }


def test_a_radius_that_the_steps_cannot_reach_has_no_effect(store):
    keys = {"regime.epsilon": [2, 3, 5], "regime.steps": [3]}
    plan = planned("pgd", store, {"regime.alpha": 1.0, "corpus.train.builtin": 60}, keys=keys)
    assert names(plan) == ["regime=plain", "epsilon=2, steps=3", "epsilon=3, steps=3"]
    assert [(entry.label, entry.same_as) for entry in plan.merged] == [
        ("epsilon=5, steps=3", "epsilon=3, steps=3")
    ]
    assert plan.merged[0].reason == (
        "regime.epsilon has no effect: 3 steps of 1 cannot exceed it: nothing is projected"
    )


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_the_papers_attack_has_no_radius(store, scale):
    space_ = space.find("pgd", scale)
    corpus = {"language": "qaa", "train": {"builtin": 60}, "valid": {"builtin": 12}}
    settings = {"corpus": corpus, "model": {"architecture": "tiny"}}
    plan = plans.make(space_, store, settings, space.sample(space_))
    assert (
        names(plan)[:2] == ["regime=plain", "ε = 3, α = 1, K = 3"]
        and len(plan.configurations) == 2 + 3 * 2 * 2
    )
    paper = plan.configurations[list(plan.configurations)[1]].experiment.regime
    assert (paper.epsilon, paper.step_length, paper.steps, paper.clean_weight) == (None, 1, 3, 0)
    assert [(entry.label, entry.same_as) for entry in plan.merged] == [
        ("ε = 5, α = 1, K = 3", "ε = 3, α = 1, K = 3")
    ]
    assert "3 steps of 1 cannot exceed it: nothing is projected" in plan.merged[0].reason


def test_rows_that_differ_only_in_scoring_are_rejected(store):
    rows = {"beam 5": {"decoding.beam": 5}, "greedy": {"decoding.beam": 1}}
    with pytest.raises(
        UserError,
        match="'beam 5' and 'greedy' of space 'agreement' train the same model and differ only",
    ):
        planned("agreement", store, keys={}, rows=rows)
