"""The likelihood of held-out rows, and layers that compile once for batches of all shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import reset
from torch._dynamo.utils import counters
from torch.nn.functional import cross_entropy
from transformers import AutoModel, MarianConfig, MarianMTModel, XLMRobertaConfig

from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.trial import train_here
from augury.regimes.regime import Rows
from augury.tasks.encoder_decoder import hidden_states
from augury.training import learner, loop
from augury.training.batching import Lengths
from augury.training.learner import compile_layers, likelihood
from augury.training.trained import OUTCOME
from tests import tiny


@pytest.mark.parametrize("max_tokens", [1, 12, 1000])
def test_likelihood_is_that_of_all_rows_together(max_tokens: int) -> None:
    random = torch.Generator().manual_seed(1)
    counts = [3, 1, 4, 2, 5]  # rows of every example
    hidden = [torch.randn(count, 6, generator=random) for count in counts]
    labels = [torch.randint(0, 9, (count,), generator=random) for count in counts]
    weight, bias = torch.randn(9, 6, generator=random), torch.randn(9, generator=random)
    seen: list[int] = []

    def rows(examples: np.ndarray) -> Rows:
        seen.extend(examples.tolist())
        chosen = (
            [hidden[example] for example in examples],
            [labels[example] for example in examples],
        )
        return Rows(torch.cat(chosen[0])[None], weight, bias, torch.cat(chosen[1]))

    result = likelihood(
        rows, Lengths(np.array(counts), np.array(counts)), max_tokens, torch.device("cpu")
    )
    logits = torch.cat(hidden) @ weight.T + bias
    assert result.loss == pytest.approx(float(cross_entropy(logits, torch.cat(labels))), rel=1e-6)
    assert result.accuracy == pytest.approx(
        float((logits.argmax(1) == torch.cat(labels)).float().mean())
    )
    assert sorted(seen) == [0, 1, 2, 3, 4]


slow = pytest.mark.slow  # torch imports half of itself to compile
PAD, VOCABULARY = 1, 60
SIZES = {"pad_token_id": PAD, "vocab_size": VOCABULARY, "max_position_embeddings": 80}
SHAPES = [(8, 10, 12), (16, 7, 7), (5, 20, 21), (9, 33, 30), (4, 40, 50), (12, 11, 9)]
"""Rows, and lengths of source and target."""


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing is compiled yet."""
    reset()
    counters.clear()
    yield
    reset()


def translator(dropout: float = 0.1) -> MarianMTModel:
    config = MarianConfig(
        **SIZES,
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        decoder_start_token_id=2,
        dropout=dropout,
        attn_implementation="sdpa",
    )
    torch.manual_seed(1)
    return MarianMTModel(config).train()


def encoder() -> nn.Module:
    config = XLMRobertaConfig(
        **SIZES,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        attn_implementation="sdpa",
    )
    model: nn.Module = AutoModel.from_config(config)
    return model.train()


def ids(rows: int, length: int) -> Tensor:
    random = torch.Generator().manual_seed(rows)
    drawn = torch.randint(3, VOCABULARY, (rows, length), generator=random)
    drawn[::2, -1] = PAD
    return drawn


@slow
def test_a_layer_with_parts_in_a_list_is_compiled_once() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    layers = nn.ModuleList([Layer(), Layer()])
    compile_layers(nn.Sequential(layers), backend="eager")
    parts = [part for part in layers.modules() if part._compiled_call_impl is not None]
    assert parts == [*layers]


@slow
@pytest.mark.parametrize(("make", "graphs"), [(translator, 2), (encoder, 1)])
def test_layers_of_one_kind_are_one_graph_without_breaks(
    fresh: None, make: Callable[[], nn.Module], graphs: int
) -> None:
    model = make()
    compile_layers(model, backend="eager")
    for rows, source, target in SHAPES:
        words = ids(rows, source)
        if make is translator:
            states = hidden_states(model, words, ids(rows, target))
        else:
            states = model(words, attention_mask=(words != PAD)[:, None, None]).last_hidden_state
        states.sum().backward()
    assert counters["stats"]["unique_graphs"] == graphs and not counters["graph_break"]


@slow
@pytest.mark.long
def test_gradients_are_those_of_a_model_that_is_not_compiled(fresh: None) -> None:
    gradients = []
    for is_compiled in (False, True):
        model = translator(dropout=0)
        if is_compiled:
            compile_layers(model, backend="aot_eager")
        hidden_states(model, ids(4, 9), ids(4, 8)).square().sum().backward()
        gradients.append(model.model.shared.weight.grad)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)


@slow
@pytest.mark.trains
def test_a_run_is_trained_with_compiled_layers_and_their_dropout(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = {"compile": True, "executor": "local"}
    run = prepare(tiny.experiment("nmt", tmp_path, execution=execution), Store(tmp_path))
    # Kernels of a CPU take minutes to build; the layers are compiled all the same.
    monkeypatch.setattr(learner, "compile_layers", partial(compile_layers, backend="eager"))
    monkeypatch.setattr(loop, "Dropout", None)  # cannot be entered
    train_here(run, torch.device("cpu"), lambda metrics: None)
    assert run.folder.exists(OUTCOME) and counters["stats"]["unique_graphs"] >= 2
