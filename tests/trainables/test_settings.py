"""Settings of the tasks: the papers' defaults, what the form of a corpus says, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.regimes.regime import SOURCE
from tests import tiny
from trainables import classification
from trainables.nmt.config import ModelConfig, Sizes, resolve

NLI: dict[str, Any] = tiny.OF_TASK["nli"]["corpus"]
CORPORA: dict[str, dict[str, Any]] = {
    **{task: sections["corpus"] for task, sections in tiny.OF_TASK.items()},
    "pairs": {**tiny.OF_TASK["classification"]["corpus"], "form": "pairs"},
    "hypothesis": {**NLI, "form": "hypothesis"},
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
        ("nli", "FacebookAI/xlm-roberta-base", (32, 1e-5, 3, "linear"), "max_length"),
        ("seq2seq", "t5-base", (8, 3e-4, 3, "linear"), "max_pieces"),
    ],
)
def test_the_paper_s_settings_are_the_defaults(
    task: str, name: str, optimisation: tuple[Any, ...], longest: str
) -> None:
    chosen = parsed(task)
    training = chosen.training
    assert chosen.model.name == name
    names = ("max_examples", "learning_rate", "patience", "schedule")
    assert tuple(getattr(training, name) for name in names) == optimisation
    assert getattr(chosen, longest) == {"nli": 128, "seq2seq": 150}[task]
    assert (training.weights, chosen.regime.label_smoothing) == ("best", 0)
    assert training.patience < training.max_epochs  # so that stopping early can act
    assert parsed(task, training={"preset": "paper"}).training == training


@pytest.mark.parametrize(
    "regime", ["plain", {"name": "adversarial"}, {"name": "coregularised", "over": "identity"}]
)
def test_labels_are_smoothed_only_where_that_is_asked_for(regime: Any) -> None:
    assert parsed("nli", regime=regime).regime.label_smoothing == 0
    named = {"name": regime} if isinstance(regime, str) else regime
    smoothed = parsed("nli", regime={**named, "label_smoothing": 0.2})
    assert smoothed.regime.label_smoothing == 0.2


@pytest.mark.parametrize("kind", CORPORA)
def test_an_experiment_survives_being_written(kind: str) -> None:
    experiment = parsed(kind)
    assert parse(experiment.to_dict()) == experiment


@pytest.mark.parametrize(
    ("kind", "columns"), [("classification", ("text",)), ("pairs", ("sentence1", "sentence2"))]
)
def test_the_form_of_a_corpus_says_what_is_read(kind: str, columns: tuple[str, ...]) -> None:
    views = [READING, {"operator": "eda", "copies": 1, "use": "view"}]
    experiment = parsed(kind, augment=views, regime="coregularised")
    assert classification.TASK.sides(experiment) == {SOURCE: columns}
    assert experiment.scoring.metrics == ("accuracy", "macro_f1")
    assert experiment.view_names == ["reorder-qab", "eda-1"]


def test_a_size_left_out_is_the_architectures() -> None:
    assert resolve(ModelConfig(architecture="small")) == Sizes(3, 3, 256, 1024, 4, 0.3, 0.1)
    changed = ModelConfig(architecture="small", decoder_layers=1, attention_heads=8, dropout=0.0)
    assert resolve(changed) == Sizes(3, 1, 256, 1024, 8, 0.0, 0.1)


@pytest.mark.parametrize(
    ("kind", "changes", "key"),
    [
        ("nli", {"model": {"architecture": "tiny", "max_positions": 127}}, "max_length=128"),
        ("nli", {"augment": [{"operator": "cipher", "keys": [1]}]}, "source, target"),
        (
            "nli",
            {"augment": [READING], "regime": {"name": "multi_source", "equation": 2}},
            "set regime.equation=1",
        ),
        (
            "nli",
            {"augment": [READING, {"operator": "eda"}], "regime": "coregularised"},
            "records of eda",
        ),
        ("nli", {"scoring": {"metrics": ["bleu"]}}, "accuracy"),
        ("classification", {"augment": [{"operator": "semantic"}]}, "premise, hypothesis"),
        ("classification", {"corpus": {**CORPORA["classification"], "labels": ["a"]}}, "labels"),
        ("seq2seq", {"corpus": tiny.PARALLEL}, "give one of text, hypothesis, reorder"),
        ("seq2seq", {"model": {**tiny.T5, "attention_heads": 3}}, "attention_heads 3"),
        ("hypothesis", {"augment": [{"operator": "noise", "spelling": 0.1}]}, "form: hypothesis"),
    ],
)
def test_contradictions_are_refused(kind: str, changes: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=key):
        parsed(kind, **changes)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"attention_heads": 3}, "attention_heads 3"),
        ({"architecture": "tiny", "hidden_size": 130}, "hidden_size 130"),
        ({"embeddings": {"name": "alone", "codebook": 3}}, "'codebooks'"),
        ({"embeddings": {"name": "aloen"}}, "'alone'"),
    ],
)
def test_a_model_that_cannot_be_is_refused(settings: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=key):
        validate(ModelConfig, settings, "model")
