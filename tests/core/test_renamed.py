from __future__ import annotations

from augury.core import config
from augury.experiments.spec import parse
from tests.tiny import OF_TASK


def test_files_and_overrides_may_have_former_names() -> None:
    content = {
        "name": "mine",
        "task": "nmt",
        **OF_TASK["nmt"],
        "training": {"max_passes": 5},
        "systems": {"baseline": {}, "late": {"training.validate_every_passes": 2}},
    }
    content = config.override(content, ["training.max_passes=7", "regime.warmup_passes=3"])
    assert content["training"] == {"max_epochs": 7}
    assert content["regime"] == {"warmup_epochs": 3}
    regime = {"name": "coregularised", "over": "identity", "warmup_passes": 3}
    experiment = parse({**content, "regime": regime})
    assert experiment.training.max_epochs == 7
    assert experiment.regime.to_dict()["warmup_epochs"] == 3
    assert experiment.systems["late"] == {"training.validate_every_epochs": 2}
