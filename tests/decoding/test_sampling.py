"""Sampling: exact distributions, and outputs that depend on their key alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest
from transformers import PreTrainedModel, T5Config, T5ForConditionalGeneration

from augury.core.rng import seed_of
from augury.decoding import sampling
from augury.decoding.sampling import gumbel, sample
from augury.decoding.settings import Sampling

PAD, EOS, VOCABULARY = 0, 1, 60
SOURCES = [[5, 6, 7, EOS], [8, EOS], [9, 10, 11, 12, 13, 14, EOS], [20, 21, EOS]]


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    """A T5 that has learned nothing, with logits far from even."""
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    symbols = {"pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD}
    model = T5ForConditionalGeneration(T5Config(vocab_size=VOCABULARY, **sizes, **symbols))
    with torch.no_grad():
        model.shared.weight.mul_(2)
    return model.eval()


def keys_of(count: int, copy: int = 0) -> list[int]:
    return [seed_of(1, "sample", f"train-{row}", copy) for row in range(count)]


@pytest.mark.parametrize(
    "chosen",
    [
        Sampling(top_k=8, max_length=1),
        Sampling(top_k=20, top_p=0.7, temperature=1.5, max_length=1),
    ],
    ids=["top 8", "top 20, 0.7 of the mass, flatter"],
)
def test_over_many_keys_pieces_are_drawn_with_their_probabilities(
    model: PreTrainedModel, chosen: Sampling
) -> None:
    draws = 6_000
    source, start = torch.tensor(SOURCES[:1]), torch.tensor([[PAD]])
    with torch.no_grad():
        first = model(input_ids=source, decoder_input_ids=start).logits[0, 0].double()
    first[PAD] = -math.inf
    logits = first.numpy() / chosen.temperature
    order = np.argsort(-logits)[: chosen.top_k or VOCABULARY]
    expected = np.exp(logits[order] - logits[order].max())
    expected /= expected.sum()
    inside = np.cumsum(expected) - expected < chosen.top_p
    order, expected = order[inside], expected[inside] / expected[inside].sum()
    outputs = sample(model, [SOURCES[0]] * draws, keys_of(draws), chosen)
    pieces = np.bincount([output[0] if output else EOS for output in outputs], minlength=VOCABULARY)
    assert pieces.sum() == pieces[order].sum() == draws
    often = expected * draws >= 5
    counts, chances = [
        np.append(values[often], values[~often].sum()) for values in (pieces[order], expected)
    ]
    kept = chances > 0
    assert chisquare(counts[kept], chances[kept] * draws).pvalue > 0.001


def test_pieces_that_follow_are_drawn_anew(model: PreTrainedModel) -> None:
    """The noise of the second step says nothing of that of the first."""
    keys = torch.tensor(keys_of(20_000))
    piece = torch.zeros(len(keys), 1, dtype=torch.long)
    first, second = (gumbel(keys, torch.tensor(step), piece)[:, 0].numpy() for step in (1, 2))
    other = gumbel(keys, torch.tensor(1), piece + 1)[:, 0].numpy()
    assert kstest(first, "gumbel_r").pvalue > 0.001
    for noise in (second, other):
        assert abs(np.corrcoef(first, noise)[0, 1]) < 0.03
    neighbours = gumbel(torch.arange(20_000), torch.tensor(1), piece)[:, 0].numpy()
    assert kstest(neighbours, "gumbel_r").pvalue > 0.001
    assert abs(np.corrcoef(neighbours[1:], neighbours[:-1])[0, 1]) < 0.03


def test_the_noise_is_the_same_everywhere() -> None:
    """Golden values, computed with Python's whole numbers: SplitMix64 of SplitMix64."""
    noise = gumbel(
        torch.tensor([0, 2**62 + 1]), torch.tensor(3), torch.tensor([[0, 7], [31999, 7]])
    )
    assert noise[0].tolist() == pytest.approx([1.518457073589, 0.067783820619], abs=1e-9)
    assert noise[1].tolist() == pytest.approx([-0.787841314389, -0.157456964747], abs=1e-9)


@settings(max_examples=6, deadline=None)
@given(st.permutations(range(12)), st.integers(4, 60))
def test_an_output_does_not_depend_on_its_batch(
    model: PreTrainedModel, order: list[int], batch_tokens: int
) -> None:
    sources, keys, chosen = SOURCES * 3, keys_of(12), Sampling(max_length=6)
    together = sample(model, sources, keys, chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "BATCH_TOKENS", batch_tokens)
        mixed, of_mixed = [sources[row] for row in order], [keys[row] for row in order]
        assert sample(model, mixed, of_mixed, chosen) == [together[row] for row in order]
    of_copy = sample(model, sources, keys_of(12, copy=1), chosen)
    assert sum(output == other for output, other in zip(together, of_copy, strict=True)) < 4
