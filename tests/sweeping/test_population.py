"""The values that may change in population-based training, and the address of a population.

Without Ray.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from ray import tune

from augury.core import config
from augury.core.errors import UserError
from augury.core.mutability import fixed_reason, mutable_keys
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.sweeping import population
from augury.sweeping import space as spaces
from augury.sweeping.space import Space
from augury.training.checkpoint import MODEL, STATE, Position
from augury.training.settings import Training
from trainables.seq2seq.config import GeneratorTraining

QUICK = str(Path(__file__).with_name("quick.py"))
AGREEMENT = {"regime.beta": tune.loguniform(0.1, 20), "regime.tau": tune.uniform(0.5, 4)}


def mutating(mutations: dict[str, Any]) -> Space:
    return replace(spaces.find(QUICK), mutations=mutations)


def check(mutations: dict[str, Any], launcher: str = "direct", **dotted: Any) -> None:
    space = mutating(mutations)
    population.check(space, launcher, [parse(config.merge(space.base, dotted))])


def test_settings_of_single_updates_may_change():
    check(AGREEMENT)
    check(
        {
            "training.learning_rate": [1e-3, 1e-2],
            "regime.label_smoothing": [0.0, 0.1],
            "model.dropout": [0.1, 0.3],
        }
    )
    check(
        {
            "regime.warmup_views": tune.choice(["both", "cipher"]),
            "training.clip_norm": tune.uniform(0, 1),
        }
    )


@pytest.mark.parametrize(
    ("mutations", "message"),
    [
        ({}, "define 'mutations' in space 'quick'"),
        (
            {"training.weight_decay": [0, 0.1]},
            "'training.weight_decay' cannot change during training: the state of",
        ),
        ({"training.adam_betas": [[0.9, 0.98]]}, "which a checkpoint restores"),
        ({"training.max_tokens": [500, 1000]}, "a member goes on in the middle of an epoch"),
        ({"training.max_updates": [64, 128]}, "members are compared after as many validations"),
        ({"regime.over": ["ciphers", "identity"]}, "decides which views are read together"),
        ({"augment.0.keys": [[1], [2]]}, "all members share the data"),
        ({"model.hidden_size": [32, 64]}, "all members share the data, the model sizes"),
        ({"regime.epsilon": [1.0, 3.0]}, "space 'quick' with the mutations epsilon=1 is not valid"),
        ({"regime.tau": [0, 1]}, "with the mutations tau=0 is not valid"),
        ({"training.clip_norm": tune.uniform(-1, 1)}, "with the mutations clip_norm=-"),
    ],
)
def test_fixed_settings_are_rejected_with_the_reason(mutations, message):
    with pytest.raises(UserError, match=message):
        check(mutations)


@pytest.mark.parametrize("key", ["training.max_tokens", "model.hidden_size"])
def test_members_do_not_differ_in_what_cannot_change(key):
    space = replace(mutating(AGREEMENT), keys={key: [500, 1000]})
    with pytest.raises(UserError, match=f"'{key}' cannot change"):
        population.check(space, "direct", [parse(space.base)])


def test_ray_train_workers_are_rejected():
    with pytest.raises(UserError, match="it would be plain random search"):
        check(AGREEMENT, "ray")


def test_a_mutation_must_suit_every_member():
    with pytest.raises(UserError, match="unknown key 'regime.beta'"):
        check(AGREEMENT, regime={"name": "multi_source"})


@pytest.mark.parametrize("settings", [Training(), GeneratorTraining()])
def test_every_setting_of_the_optimisation_is_marked(settings):
    changing = set(mutable_keys(settings))
    assert changing | {
        key for key in type(settings).model_fields if fixed_reason(settings, key)
    } == set(type(settings).model_fields)
    assert "learning_rate" in changing and "max_tokens" not in changing


def test_the_address_of_a_population_depends_on_everything_that_affects_its_members():
    space = mutating(AGREEMENT)
    address = population.address("quick", space, ["a", "b"], [1, 2])
    equal = {
        key: tune.loguniform(0.1, 20) if key == "regime.beta" else value
        for key, value in AGREEMENT.items()
    }
    assert population.address("quick", mutating(equal), ["b", "a"], [2, 1]) == address
    others = [
        population.address("quick", space, ["a", "b"], [1, 2, 3]),
        population.address("quick", space, ["a", "b", "c"], [1, 2]),
        population.address("other", space, ["a", "b"], [1, 2]),
        population.address(
            "quick", mutating({**AGREEMENT, "regime.tau": tune.uniform(0.5, 8)}), ["a", "b"], [1, 2]
        ),
        population.address("quick", mutating({"regime.beta": [1, 5]}), ["a", "b"], [1, 2]),
        population.address(
            "quick", mutating({"regime.beta": tune.choice([1, 5, 9])}), ["a", "b"], [1, 2]
        ),
        population.address("quick", replace(space, mode="max"), ["a", "b"], [1, 2]),
    ]
    assert len({address, *others}) == 1 + len(others)


def test_explored_values_stay_in_their_domains():
    values = {
        "regime.beta": 0.08,
        "regime.tau": 4.8,
        "training.learning_rate": 0.0012345678,
        "seed": 3,
    }
    mutations = {**AGREEMENT, "training.learning_rate": [1e-3]}
    assert population._bounded(values, mutations) == {
        "regime.beta": 0.1,
        "regime.tau": 4.0,
        "training.learning_rate": 0.001235,
        "seed": 3,
    }


def checkpoint(directory: Path, address: str, seed: int) -> tune.Checkpoint:
    directory.mkdir()
    position = Position(address, seed, 1, update=8, scores={4: 30.0, 8: 29.0})
    torch.save({"optimizer": {}, "position": asdict(position)}, directory / STATE)
    (directory / MODEL).write_bytes(f"weights of {address}".encode())
    return tune.Checkpoint.from_directory(str(directory))


def test_a_member_adopts_the_weights_of_another(tmp_path):
    run = Store(tmp_path).folder("runs", "mine/seed-1")
    population._adopt(run, checkpoint(tmp_path / "other", "other", 2), "mine", 1)
    adopted = run.sub("checkpoints/00000008")
    position = torch.load(adopted.local() / STATE, weights_only=True)["position"]
    assert (position["address"], position["seed"], position["update"]) == ("mine", 1, 8)
    assert position["scores"] == {8: 29.0}  # the better checkpoint, after update 4, is not here
    assert (adopted.local() / MODEL).read_bytes() == b"weights of other"
    population._adopt(
        run, checkpoint(tmp_path / "mine", "mine", 1), "mine", 1
    )  # its own, after a pause
    assert (adopted.local() / MODEL).read_bytes() == b"weights of other"
