from __future__ import annotations

from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.tasks.classification.settings import PretrainedClassifier
from tests.tiny import PARALLEL
from trainables.nli.config import Config

CORPUS = {"language": "qaa", "train": {"builtin": 60}, "valid": {"builtin": 12}}


def config(**changes: Any) -> Config:
    parsed = parse({"name": "toy", "task": "nli", "corpus": CORPUS, **changes})
    assert isinstance(parsed, Config)
    return parsed


def test_the_defaults_are_the_papers() -> None:
    defaults = config()
    assert (
        isinstance(defaults.model, PretrainedClassifier)
        and defaults.model.name == "FacebookAI/xlm-roberta-base"
    )
    training = defaults.training
    assert (training.max_examples, training.learning_rate, training.schedule) == (
        32,
        1e-5,
        "linear",
    )
    assert (training.patience, training.weights, training.order) == (3, "best", "random")
    assert (defaults.max_length, defaults.scoring.metrics) == (128, ("accuracy",))
    assert config(training={"preset": "paper"}).training == training


@pytest.mark.parametrize(
    "regime", ["plain", {"name": "adversarial"}, {"name": "coregularised", "over": "identity"}]
)
def test_labels_are_smoothed_only_where_that_is_asked_for(regime: Any) -> None:
    assert config(regime=regime).regime.label_smoothing == 0
    named = {"name": regime} if isinstance(regime, str) else regime
    assert config(regime={**named, "label_smoothing": 0.2}).regime.label_smoothing == 0.2
    assert config(regime=named).to_dict()["regime"]["label_smoothing"] == 0


def test_the_baseline_is_plain_and_without_augmentation() -> None:
    systems = expand(config(augment=[{"operator": "eda"}], regime={"name": "adversarial"}))
    assert systems["baseline"].augment == () and systems["baseline"].regime.to_dict() == {
        "name": "plain",
        "label_smoothing": 0.0,
    }
    assert config(augment=[{"operator": "eda"}]).record_origins == ["eda"]


READING = {"operator": "reorder", "parallel": PARALLEL, "use": "view"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model": {"architecture": "tiny", "max_positions": 127}},
            "max_length=128 subwords exceeds model.max_positions=",
        ),
        (
            {"augment": [{"operator": "cipher", "keys": [1]}]},
            "these records have no source, target",
        ),
        (
            {"augment": [READING], "regime": {"name": "multi_source", "equation": 2}},
            "set regime.equation=1",
        ),
        (
            {"augment": [READING, {"operator": "eda"}], "regime": "coregularised"},
            "reads the view reorder-qab with every source, and the records of eda have none",
        ),
        ({"augment": [READING]}, "regime plain does not read the view reorder-qab"),
        ({"scoring": {"metrics": ["bleu"]}}, "not labels; allowed: accuracy"),
    ],
)
def test_contradictions(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        config(**changes)
