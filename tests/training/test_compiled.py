"""Layers compile whole, and once for batches of all shapes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import reset
from torch._dynamo.utils import counters
from transformers import AutoModel, MarianConfig, MarianMTModel, XLMRobertaConfig

from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.spec import parse
from augury.experiments.trial import train_here
from augury.tasks.encoder_decoder import hidden_states
from augury.training import learner, loop
from augury.training.learner import compile_layers
from augury.training.trained import OUTCOME

pytestmark = pytest.mark.slow  # torch imports half of itself to compile

PAD, VOCABULARY = 1, 60
SIZES = {"pad_token_id": PAD, "vocab_size": VOCABULARY, "max_position_embeddings": 80}
SHAPES = [(8, 10, 12), (16, 7, 7), (5, 20, 21), (9, 33, 30), (4, 40, 50), (12, 11, 9)]
"""Rows, and lengths of source and target."""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    reset()
    counters.clear()
    yield
    reset()


def translator(attention: str, dropout: float = 0.1) -> MarianMTModel:
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
        attn_implementation=attention,
    )
    torch.manual_seed(1)
    return MarianMTModel(config).train()


def encoder(attention: str) -> nn.Module:
    config = XLMRobertaConfig(
        **SIZES,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        attn_implementation=attention,
    )
    model: nn.Module = AutoModel.from_config(config)
    return model.train()


def ids(rows: int, length: int) -> Tensor:
    random = torch.Generator().manual_seed(rows)
    drawn = torch.randint(3, VOCABULARY, (rows, length), generator=random)
    drawn[::2, -1] = PAD
    return drawn


def test_a_layer_with_parts_in_a_list_is_compiled_once() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    layers = nn.ModuleList([Layer(), Layer()])
    compile_layers(nn.Sequential(layers), backend="eager")
    parts = [part for part in layers.modules() if part._compiled_call_impl is not None]
    assert parts == [*layers]


@pytest.mark.parametrize("attention", ["sdpa", pytest.param("eager", marks=pytest.mark.long)])
def test_layers_of_an_encoder_decoder_are_two_graphs_without_breaks(attention: str) -> None:
    model = translator(attention)
    compile_layers(model, backend="eager")
    for rows, source, target in SHAPES:
        hidden_states(model, ids(rows, source), ids(rows, target)).sum().backward()
    assert counters["stats"]["unique_graphs"] == 2 and not counters["graph_break"]


def test_layers_of_an_encoder_are_one_graph_without_breaks() -> None:
    model = encoder("sdpa")
    compile_layers(model, backend="eager")
    for rows, length, _ in SHAPES:
        words = ids(rows, length)
        model(
            words, attention_mask=(words != PAD)[:, None, None]
        ).last_hidden_state.sum().backward()
    assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]


@pytest.mark.long
def test_gradients_are_those_of_a_model_that_is_not_compiled() -> None:
    gradients = []
    for is_compiled in (False, True):
        model = translator("sdpa", dropout=0)
        if is_compiled:
            compile_layers(model, backend="aot_eager")
        hidden_states(model, ids(4, 9), ids(4, 8)).square().sum().backward()
        gradients.append(model.model.shared.weight.grad)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)


@pytest.mark.trains
def test_a_run_is_trained_with_compiled_layers_and_their_dropout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {
        "name": "toy",
        "task": "nmt",
        "storage": str(tmp_path),
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": {"builtin": 40},
            "valid": {"builtin": 4},
            "tests": {},
        },
        "vocabulary": {"size": 200},
        "model": {"architecture": "tiny", "hidden_size": 16, "feedforward_size": 16},
        "training": {"max_updates": 2, "validate_every": 2, "max_tokens": 300},
        "execution": {"compile": True, "executor": "local"},
        "tracking": {"enabled": False},
    }
    run = prepare(parse(content), Store(tmp_path))
    # Kernels of a CPU take minutes to build; the layers are compiled all the same.
    monkeypatch.setattr(learner, "compile_layers", partial(compile_layers, backend="eager"))
    monkeypatch.setattr(loop, "Dropout", None)  # cannot be entered
    train_here(run, torch.device("cpu"), lambda metrics: None)
    assert run.folder.exists(OUTCOME) and counters["stats"]["unique_graphs"] >= 2
