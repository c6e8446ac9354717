"""Generators from their experiment file to outputs, scores and export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard

from augury.decoding.settings import Sampling
from augury.experiments.run import Run
from augury.reporting.exporting import export
from augury.sweeping.driver import run_experiment
from trainables.nmt.translation import Translation
from trainables.seq2seq import TASK

MORE = [("cat sees dog .", "cat dog sees ."), ("bee likes hen .", "bee hen likes .")]
"""The sentence pairs of a test set."""


def trained(toy: Any, form: str, **changes: Any) -> Run:
    """The run of a small training."""
    experiment = toy.experiment(form, **changes)
    runs, failures, *_ = run_experiment(experiment)
    assert not failures
    return Run.read(runs[experiment.name][1])


def test_parameters_are_a_function_of_the_seed_alone(toy: Any) -> None:
    run = toy.prepared(toy.experiment("hypothesis"))
    state = torch.get_rng_state()
    first = Translation(run).module
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    again, other = Translation(run).module, Translation(run.with_seed(2)).module
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(parameter, same) for parameter, same in pairs)
    assert not torch.equal(first.shared.weight, other.shared.weight)


def test_validation_is_the_likelihood_of_held_out_targets(toy: Any) -> None:
    task, cpu = Translation(toy.prepared(toy.experiment("hypothesis"))), torch.device("cpu")
    task.module.eval()
    with torch.no_grad():
        result = task.validate(cpu)  # the four pairs of the training text
        batch = task.load(np.arange(4), 0, cpu).batch
        logits = task.module(
            input_ids=batch.sources[0],
            attention_mask=batch.sources[0] != task.pad,
            decoder_input_ids=task.module.prepare_decoder_input_ids_from_labels(batch.labels),
        ).logits
    real = batch.labels != task.pad
    loss = torch.nn.functional.cross_entropy(logits[real], batch.labels[real])
    assert result.loss == pytest.approx(float(loss), rel=1e-5)
    assert result.score == -result.loss
    assert result.metrics["perplexity"] == pytest.approx(float(loss.exp()), rel=1e-4)
    right = (logits[real].argmax(-1) == batch.labels[real]).float().mean()
    assert result.metrics["accuracy"] == pytest.approx(100 * float(right), rel=1e-5)


@pytest.mark.trains
def test_a_reorderer_is_trained_scored_used_and_exported(
    toy: Any, run_card: Any, tmp_path: Path
) -> None:
    run = trained(toy, "reorder", corpus={"tests": {"more": toy.text("more", MORE)}})
    written = run.folder.sub("hypotheses").read("more.txt").decode().splitlines()
    assert TASK.translate(run, [" cat sees dog .", "bee\tlikes hen ."]) == written  # cleaned first
    scores = run.folder.read_record("scores.json")["tests"]["more"]
    assert [(score["name"], score["n"]) for score in scores] == [("bleu", 2), ("chrf", 2)]

    texts = ["reorder: cat sees dog .", "reorder: bee likes hen ."]
    for form in ("hf", "ctranslate2"):
        export(run.folder, form, tmp_path / form)
        assert run_card(tmp_path / form, texts=texts) == written
    card = ModelCard.load(tmp_path / "hf" / "README.md")
    assert card.data.metrics == ["bleu", "chrf"]
    fine_tuned = trained(toy, "text", model={"name": str(tmp_path / "hf")})
    assert len(TASK.translate(fine_tuned, ["cat sees dog ."])) == 1


@pytest.mark.trains
def test_samples_are_those_of_their_keys(toy: Any) -> None:
    draw, sampling = TASK.sampler(trained(toy, "hypothesis")), Sampling(max_length=8)
    prompts = ["neutral: A dog runs.", "entailment: Two cats sleep.", "neutral: A dog runs."]
    drawn = draw(prompts, [1, 2, 3], sampling)
    assert drawn[0] != drawn[2]
    assert draw(prompts[::-1], [3, 2, 1], sampling) == drawn[::-1]
