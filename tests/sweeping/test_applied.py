"""Search spaces on an experiment of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core import config
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.sweeping.applied import METHOD, apply
from augury.sweeping.declarations import SPACES, SearchSpace
from augury.sweeping.proposals import combined_rows
from augury.sweeping.space import find, points, resolve
from tests import tiny

OF_TRANSLATION = {"agreement", "cipher_keys", "cipherdaug", "multi_source", "vocabulary"}
"""Spaces of ciphers, which other tasks' records have no columns for."""


@pytest.mark.parametrize("task", ["nmt", "nli", "seq2seq"])
@pytest.mark.parametrize("name", SPACES.names())
def test_every_space_applies_to_every_task_that_can_read_it(
    name: str, task: str, tmp_path: Path
) -> None:
    experiment = tiny.experiment(task, tmp_path, seeds=[3, 4])
    space = find(name)
    if (task == "nli" and name in OF_TRANSLATION) or (task, name) == ("seq2seq", "vocabulary"):
        with pytest.raises(UserError, match=f"nothing of search space '{name}' applies"):
            apply(space, experiment)
        return
    applied, _ = apply(space, experiment)
    assert applied.keys or applied.rows
    assert applied.seeds == (3, 4)
    for point in [*applied.rows.values(), *points(applied)]:
        whole = parse(config.merge(applied.base, point)).to_dict()
        varied = {key.partition(".")[0] for key in point} | set(METHOD)
        for section, value in experiment.to_dict().items():
            assert section in varied or whole[section] == value


MIXED = SearchSpace(
    question="What applies?",
    base={
        "name": "mixed",
        "task": "nmt",
        "regime": {"name": "coregularised", "over": "identity", "warmup_epochs": 3},
    },
    keys={"regime.beta": [1, -1], "vocabulary.mode": ["joint", "separate"]},
    metric="valid/bleu",
    seeds=(1,),
)


def test_keys_and_values_that_do_not_apply_are_named(tmp_path: Path) -> None:
    applied, left_out = apply(resolve(MIXED, "mixed"), tiny.experiment("nli", tmp_path))
    assert applied.keys == {"regime.beta": [1]}
    assert [name for name, _ in left_out] == ["beta=-1", "vocabulary.mode"]
    assert "vocabulary" in left_out[1].reason
    assert (applied.metric, applied.mode) == ("valid/accuracy", "max")


def test_systems_join_and_are_combined_unless_they_change_more_than_the_method(
    tmp_path: Path,
) -> None:
    """Such as the model alone; one that changes nothing is the reference."""
    draws = {"augment": [{"operator": "word_drop"}], "regime": "plain"}  # in its short form
    systems = {"baseline": {}, "drops": draws, "no dropout": {"model.dropout": 0.0}}
    experiment = tiny.experiment("nmt", tmp_path, systems=systems)
    space, _ = apply(find("augmentations"), experiment)
    combined = combined_rows(["R-Drop", "drops"], space.rows, space.families)
    assert combined["R-Drop + drops"]["regime"]["name"] == "coregularised"
    assert space.rows["no dropout"]["model.dropout"] == 0.0
    assert space.rows["drops"]["regime"] == {"name": "plain"}
    assert "no dropout" not in space.families and space.rows["baseline"]["augment"] == []
