"""Settings of the tasks: the papers' defaults, what the form of a corpus says, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.experiments.spec import parse
from tests import tiny
from trainables.nmt.config import ModelSettings, Sizes

CORPORA: dict[str, dict[str, Any]] = {
    **{task: sections["corpus"] for task, sections in tiny.OF_TASK.items()},
    "pairs": {**tiny.OF_TASK["classification"]["corpus"], "form": "pairs"},
    "hypothesis": {**tiny.OF_TASK["nli"]["corpus"], "form": "hypothesis"},
    "reorder": {**tiny.PARALLEL, "form": "reorder"},
}
TASKS = {"pairs": "classification", "hypothesis": "seq2seq", "reorder": "seq2seq"}
READING = {"operator": "reorder", "parallel": tiny.PARALLEL, "use": "view"}


def parsed(kind: str, **changes: Any) -> Any:
    content = {"name": "toy", "task": TASKS.get(kind, kind), "corpus": CORPORA[kind], **changes}
    return parse(content)


@pytest.mark.parametrize(
    ("task", "name", "optimisation", "longest"),
    [
        ("nli", "FacebookAI/xlm-roberta-base", (32, 1e-5, 3, "linear"), {"max_length": 128}),
        ("seq2seq", "t5-base", (8, 3e-4, 3, "linear"), {"max_pieces": 150}),
    ],
)
def test_the_paper_s_settings_are_the_defaults(
    task: str, name: str, optimisation: tuple[Any, ...], longest: dict[str, int]
) -> None:
    chosen = parsed(task)
    training = chosen.training
    assert chosen.model.name == name
    names = ("max_examples", "learning_rate", "patience", "schedule")
    assert tuple(getattr(training, name) for name in names) == optimisation
    assert {key: getattr(chosen, key) for key in longest} == longest
    assert (training.weights, chosen.regime.label_smoothing) == ("best", 0)
    assert training.patience < training.max_epochs  # so that stopping early can act


@pytest.mark.parametrize("kind", CORPORA)
def test_an_experiment_survives_being_written(kind: str) -> None:
    experiment = parsed(kind)
    assert parse(experiment.to_dict()) == experiment


def test_a_size_left_out_is_the_architectures() -> None:
    changed = ModelSettings(architecture="small", decoder_layers=1, attention_heads=8, dropout=0.0)
    assert changed.sizes == Sizes(3, 1, 256, 1024, 8, 0.0, 0.1)
    with pytest.raises(UserError, match="attention_heads 3"):
        validate(ModelSettings, {"attention_heads": 3}, "model")


@pytest.mark.parametrize(
    ("kind", "changes", "key"),
    [
        ("nli", {"model": {"architecture": "tiny", "max_positions": 127}}, "max_length=128"),
        ("nli", {"augment": [{"operator": "cipher", "keys": [1]}]}, "have no source"),
        (
            "nli",
            {"augment": [READING], "regime": {"name": "multi_source", "equation": 2}},
            "set regime.equation=1",
        ),
        ("seq2seq", {"corpus": tiny.PARALLEL}, "give one of text, hypothesis, reorder"),
    ],
)
def test_contradictions_are_refused(kind: str, changes: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=key):
        parsed(kind, **changes)
