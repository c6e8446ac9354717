"""Normalisation before every sublayer: the layers are OpenNMT-py's, written out here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear
from transformers import AutoModelForSeq2SeqLM

from augury.decoding.generate import generate
from augury.decoding.settings import Decoding
from augury.experiments.cost import transformer
from tests.hypotheses import decoder_of
from trainables.nmt.config import ModelConfig
from trainables.nmt.model import PreNormTranslator, build, known_elsewhere, parameters, plain
from trainables.sequence import hidden_states

PAD, UNK, EOS, VOCABULARY, HEADS = 1, 0, 2, 60, 4
DROPOUT = {"dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1}
TINY = ModelConfig(architecture="tiny", max_positions=64, norm="pre", **DROPOUT)
Weights = dict[str, Tensor]


def tiny(**changes: Any) -> PreNormTranslator:
    config = ModelConfig.model_validate({**TINY.to_dict(), **changes})
    model = build(config, VOCABULARY, pad=PAD, eos=EOS, seed=3)
    assert isinstance(model, PreNormTranslator)
    return model


def moved(model: PreNormTranslator) -> PreNormTranslator:
    """The model with other norms than 1 and 0, and stronger layers than at the start."""
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and "embed" not in name and "shared" not in name:
                parameter.add_(0.2 * torch.randn(parameter.shape, generator=random))
    return model.eval()


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(
        3, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed)
    )


# What OpenNMT-py computes, from the parameters by their names


def normed(state: Weights, name: str, x: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"])


def dense(state: Weights, name: str, x: Tensor) -> Tensor:
    return linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def attended(state: Weights, name: str, x: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
    """Multi-head attention; places of `hidden` (B, 1, T, S) are not seen."""

    def heads(y: Tensor) -> Tensor:
        return y.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    query, key, value = (
        heads(dense(state, f"{name}.{part}_proj", y))
        for part, y in (("q", x), ("k", memory), ("v", memory))
    )
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    context = scores.masked_fill(hidden, -math.inf).softmax(-1) @ value
    return dense(state, f"{name}.out_proj", context.transpose(1, 2).flatten(2))


def fed_forward(state: Weights, layer: str, x: Tensor) -> Tensor:
    inner = dense(state, f"{layer}.fc1", normed(state, f"{layer}.final_layer_norm", x)).relu()
    return x + dense(state, f"{layer}.fc2", inner)


def opennmt(state: Weights, source: Tensor, read: Tensor, layers: int = 2) -> Tensor:
    """Decoder states: x + f(norm(x)) for every sublayer, and a norm at the end of both stacks."""

    def embedded(side: str, rows: Tensor) -> Tensor:
        table = state[f"model.{side}.embed_tokens.weight"]
        positions = state[f"model.{side}.embed_positions.weight"]
        return table[rows] * math.sqrt(table.shape[1]) + positions[: rows.shape[1]]

    pads = (source == PAD)[:, None, None]
    memory = embedded("encoder", source)
    for number in range(layers):
        layer = f"model.encoder.layers.{number}"
        x = normed(state, f"{layer}.self_attn_layer_norm", memory)
        memory = memory + attended(state, f"{layer}.self_attn", x, x, pads)
        memory = fed_forward(state, layer, memory)
    memory = normed(state, "model.encoder.layer_norm", memory)
    later = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).triu(1)[None, None]
    output = embedded("decoder", read)
    for number in range(layers):
        layer = f"model.decoder.layers.{number}"
        x = normed(state, f"{layer}.self_attn_layer_norm", output)
        output = output + attended(state, f"{layer}.self_attn", x, x, later)
        x = normed(state, f"{layer}.encoder_attn_layer_norm", output)
        output = output + attended(state, f"{layer}.encoder_attn", x, memory, pads)
        output = fed_forward(state, layer, output)
    return normed(state, "model.decoder.layer_norm", output)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_states_and_gradients_are_those_of_opennmts_layers(attention: str) -> None:
    model = moved(tiny(attention=attention))
    source, target = ids(3, 9), ids(3, 7, seed=1)
    source[1:, 6:] = PAD
    state = {name: value.detach().clone() for name, value in model.state_dict().items()}
    drawn = [name for name, value in model.named_parameters() if value.requires_grad]
    for name in drawn:
        state[name].requires_grad_()
    read = model.prepare_decoder_input_ids_from_labels(target)
    weights = torch.randn(3, 7, 128, generator=torch.Generator().manual_seed(2))
    states, expected = hidden_states(model, source, target), opennmt(state, source, read)
    assert torch.allclose(states, expected, atol=1e-4)
    unmoved = hidden_states(model, source, target, torch.zeros(3, 9, 128))
    assert torch.allclose(unmoved, states, atol=1e-5)
    for result in (states, expected):
        (result * weights).sum().backward()
    for name, value in model.named_parameters():
        if value.requires_grad:
            assert torch.allclose(value.grad, state[name].grad, rtol=1e-3, atol=1e-3), name


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout", "activation_dropout"])
def test_every_kind_of_dropout_acts_in_training_alone(kind: str) -> None:
    source, target = ids(2, 6), ids(2, 5, seed=1)
    model = tiny(**{**dict.fromkeys(DROPOUT, 0), kind: 0.5})
    first, second = (hidden_states(model, source, target) for _ in range(2))
    assert model.training and not torch.equal(first, second)
    model.eval()
    first, second = (hidden_states(model, source, target) for _ in range(2))
    assert torch.equal(first, second)


def test_what_both_norms_have_is_drawn_alike_and_the_last_norms_are_ones() -> None:
    pre = tiny().state_dict()
    post = build(
        ModelConfig(architecture="tiny", max_positions=64), VOCABULARY, pad=PAD, eos=EOS, seed=3
    )
    further = pre.keys() - post.state_dict().keys()
    assert further == {
        f"model.{side}.layer_norm.{kind}"
        for side in ("encoder", "decoder")
        for kind in ("weight", "bias")
    }
    assert all(torch.equal(pre[name], value) for name, value in post.state_dict().items())
    assert all(pre[name].eq(name.endswith("weight")).all() for name in further)


@pytest.mark.parametrize("shared", [False, True])
def test_parameters_are_those_of_post_norm_and_two_norms(shared: bool) -> None:
    """OpenNMT's base: 44,138,496 without embeddings, and 2 × 2 × 512."""
    sizes = {"architecture": "transformer_wmt_en_de", "max_positions": 16}
    config = ModelConfig.model_validate({**sizes, "share_all_embeddings": shared, "norm": "pre"})
    matrices = 1 if shared else 2
    expected = 44_138_496 + 2 * 2 * 512 + matrices * 1_000 * 512
    assert parameters(config, 1_000) == expected
    estimated = transformer(1_000, 512, 2048, 6, 6, matrices=matrices).parameters
    assert estimated == pytest.approx(expected, rel=0.01)  # biases and norms are left out


@pytest.mark.parametrize(
    "changes", [{}, {"share_all_embeddings": True}, {"embeddings": {"name": "table", "size": 32}}]
)
def test_ctranslate2_and_other_programs_translate_as_generate_does(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    model = moved(tiny(**changes))
    sources = [row[: 2 + 3 * place].tolist() for place, row in enumerate(ids(4, 12))]
    greedy = Decoding(beam=1, max_length=20)
    expected = generate(model, sources, greedy)
    assert len({best.ids for best in expected}) > 1
    pieces = [f"piece{index}" for index in range(VOCABULARY)]
    ours = decoder_of(plain(model), pieces, unk=UNK).translate(sources, greedy)
    known_elsewhere(plain(model)).save_pretrained(tmp_path)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    for hypotheses in (ours, generate(loaded, sources, greedy)):
        assert [best.ids for best in hypotheses] == [best.ids for best in expected]
        assert [best.score for best in hypotheses] == pytest.approx(
            [best.score for best in expected], abs=1e-4
        )
    state, batch = loaded.state_dict(), {"input_ids": ids(3, 9), "decoder_input_ids": ids(3, 7)}
    assert loaded.config.model_type == "pegasus" and "model.encoder.layer_norm.weight" in state
    with torch.no_grad():
        assert torch.allclose(loaded(**batch).logits, model(**batch).logits, atol=1e-4)
