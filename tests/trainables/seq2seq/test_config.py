"""A generator's experiment file."""

from __future__ import annotations

import re
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import parse
from trainables.seq2seq.architecture import PretrainedGenerator
from trainables.seq2seq.config import GeneratorTraining, HypothesisCorpus, ReorderCorpus, TextCorpus


def test_the_paper_s_settings_are_the_defaults(toy: Any) -> None:
    file = toy.content({"form": "text", **toy.parallel})
    for section in ("model", "max_pieces", "training"):
        del file[section]
    chosen = parse(file)
    assert chosen.model == PretrainedGenerator(name="t5-base")  # type: ignore[attr-defined]
    assert chosen.max_pieces == 150  # type: ignore[attr-defined]
    training = chosen.training
    assert (training.max_examples, training.learning_rate, training.clip_norm) == (8, 3e-4, 1.0)
    assert GeneratorTraining.model_validate(
        {"preset": "paper", "max_epochs": 5}
    ) == GeneratorTraining(max_epochs=5)
    assert chosen.regime.label_smoothing == 0
    assert (
        training.patience < training.validations
    )  # so that early stopping, which the paper has, can act


@pytest.mark.parametrize(
    ("form", "kind"),
    [("text", TextCorpus), ("reorder", ReorderCorpus), ("hypothesis", HypothesisCorpus)],
)
def test_the_form_says_what_a_corpus_is_and_survives_being_written(
    toy: Any, form: str, kind: type
) -> None:
    experiment = toy.experiment(form)
    assert type(experiment.corpus) is kind
    assert parse(experiment.to_dict()) == experiment


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"corpus": {"source_language": "aa", "target_language": "ab", "train": {"builtin": 9}}},
            "the corpus has no 'form': give one of text, hypothesis, reorder",
        ),
        (
            {"corpus": {"form": "reordr"}},
            "unknown form of corpus 'reordr': did you mean 'reorder'?",
        ),
        (
            {"model": {"architecture": "tiny", "hidden_size": 15}},
            "hidden_size 15 must be a multiple of attention_heads 4",
        ),
    ],
)
def test_errors_name_key_and_remedy(toy: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        parse({**toy.content({"form": "text", **toy.parallel}), **change})


@pytest.mark.parametrize("form", ["hypothesis", "reorder"])
def test_operators_that_would_change_a_prompt_are_refused(toy: Any, form: str) -> None:
    file = toy.content({"form": form, **(toy.nli if form == "hypothesis" else toy.parallel)})
    with pytest.raises(UserError, match=f"prompt that a generator of form: {form} reads"):
        parse({**file, "augment": [{"operator": "noise", "casing": 0.1}]})
