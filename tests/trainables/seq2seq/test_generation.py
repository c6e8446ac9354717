"""The task of a generator: examples, batches, rows, losses, on prepared toy pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from augury.regimes.regime import Progress
from augury.tasks.sequence_training import Batch
from trainables.seq2seq.generation import Generation

CPU = torch.device("cpu")


@pytest.fixture
def task(toy: Any) -> Generation:
    return Generation(
        toy.prepared(toy.experiment("reorder")), lambda: pytest.fail("no operator draws")
    )


def test_lengths_are_those_of_the_batches(task: Generation) -> None:
    for example in (0, 7, len(task.lengths.cost) - 1):
        loaded = task.load(np.array([example]), 0, CPU)
        assert loaded.batch.sources.shape == (1, 1, task.lengths.sources[example])
        assert loaded.batch.labels.shape == (1, task.lengths.targets[example])
        assert (
            loaded.tokens
            == loaded.positions
            == task.lengths.sources[example] + task.lengths.targets[example]
        )
        assert loaded.batch.labels[0, -1] == task.module.config.eos_token_id
    assert task.ids(np.array([0, 1])) == ["train-00000001 (source)", "train-00000002 (source)"]


def test_the_loss_is_that_of_transformers(task: Generation) -> None:
    task.module.eval()
    batch = task.load(np.arange(6), 0, CPU).batch
    own = task.module(
        input_ids=batch.sources[0],
        attention_mask=batch.sources[0] != task.pad,
        labels=batch.labels.masked_fill(batch.labels == task.pad, -100),
    ).loss
    losses = task.loss(batch, Progress(0))
    assert losses.divisor == losses.rows == int((batch.labels != task.pad).sum())
    assert float(losses.total.detach()) / losses.divisor == pytest.approx(
        float(own.detach()), rel=1e-5
    )


def test_padding_does_not_change_the_loss(task: Generation) -> None:
    task.module.eval()
    batch = task.load(np.array([0, 1, 2]), 0, CPU).batch
    sides = [torch.nn.functional.pad(side, (0, 4), value=task.pad) for side in batch[:2]]
    wider = Batch(*sides, batch.real)
    before, after = task.loss(batch, Progress(0)), task.loss(wider, Progress(0))
    assert before.rows == after.rows
    assert float(before.total.detach()) == pytest.approx(float(after.total.detach()), rel=1e-5)


def test_validation_is_the_likelihood_of_held_out_targets(task: Generation) -> None:
    task.module.eval()
    with torch.no_grad():
        result = task.validate(CPU)
        batch = task.held_out_batch(task.valid, np.arange(12))
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
