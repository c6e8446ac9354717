"""The task of a generator: models, examples, batches, rows, losses, on prepared toy pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.regimes.regime import Progress
from augury.text.pieces import subwords
from trainables.seq2seq.config import TinyT5
from trainables.seq2seq.generator import Generation, build

CPU = torch.device("cpu")


@pytest.fixture
def task(toy: Any) -> Generation:
    return Generation(toy.prepared(toy.experiment("hypothesis")))


def test_lengths_are_those_of_the_batches(task: Generation) -> None:
    for example in (0, 1, 3):
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
    batch = task.load(np.arange(4), 0, CPU).batch
    assert bool((batch.labels == task.pad).any())
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


def test_validation_is_the_likelihood_of_held_out_targets(task: Generation) -> None:
    task.module.eval()
    with torch.no_grad():
        result = task.validate(CPU)
        batch = task.held_out_batch(task.valid, np.arange(4))
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


TEXT = ["the cat sees the dog", "the dog hears a fox and a hen", "a bee"]
TINY = TinyT5(
    architecture="tiny",
    layers=1,
    hidden_size=16,
    feedforward_size=32,
    attention_heads=2,
    dropout=0.0,
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer: pad 1, end of sentence 2."""
    folder = Store(tmp_path_factory.mktemp("tokenizer")).folder("vocabularies", "toy")
    subwords.learn(TEXT, 60, folder)
    return subwords.directory_of(folder)


def test_parameters_are_a_function_of_the_seed_alone(directory: str) -> None:
    state = torch.get_rng_state()
    first = build(TINY, directory, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    again, other = build(TINY, directory, seed=1), build(TINY, directory, seed=2)
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(parameter, same) for parameter, same in pairs)
    assert not torch.equal(first.shared.weight, other.shared.weight)


@pytest.mark.parametrize("form", ["text", "reorder", "hypothesis"])
def test_a_run_reads_the_pairs_of_its_form(toy: Any, form: str) -> None:
    experiment = toy.experiment(form)
    known = Graph(toy.store).plan(experiment).address
    run = toy.prepared(experiment)
    assert run.address == known and run.inputs[0].rows == (4 if form == "hypothesis" else 108)
    assert run.corpus("train").address == toy.made(experiment).address


def test_tests_are_scored_where_a_reference_says_something(toy: Any) -> None:
    more = {"tests": {"more": toy.text("more", [("cat sees dog .", "cat dog sees .")])}}
    for form in ("text", "reorder"):
        assert toy.prepared(toy.experiment(form, corpus=more)).tests == ["more"]
    more = {"tests": {"more": toy.nli["train"]}}
    assert toy.prepared(toy.experiment("hypothesis", corpus=more)).tests == []
