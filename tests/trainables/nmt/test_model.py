from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import MarianMTModel

from tests.tiny import parameters_of
from trainables.nmt.config import Alone, ModelSettings
from trainables.nmt.model import build
from trainables.sequence import hidden_states

PAD, EOS, VOCABULARY = 1, 2, 60
TINY = ModelSettings(architecture="tiny", max_positions=64)


def tiny(**changes: Any) -> MarianMTModel:
    return build(TINY.model_copy(update=changes), VOCABULARY, pad=PAD, eos=EOS, seed=3)


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(
        3, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed)
    )


@pytest.mark.parametrize(
    ("architecture", "network"),
    [("transformer_iwslt_de_en", 31_543_296), ("transformer_wmt_en_de", 44_138_496)],
)
def test_counts_of_the_papers_architectures(architecture: Any, network: int) -> None:
    config = ModelSettings(architecture=architecture, max_positions=16)
    assert parameters_of(config, 1_000) == network + 2 * 1_000 * 512
    pre = config.model_copy(update={"norm": "pre", "share_all_embeddings": True})
    assert parameters_of(pre, 1_000) == network + 2 * 2 * 512 + 1_000 * 512


def test_initialisation_is_fairseqs() -> None:
    """MultiheadAttention.reset_parameters, and nn.Linear's own in TransformerEncoderLayer."""
    built = build(TINY, 2000, pad=PAD, eos=EOS, seed=3)
    for side in (built.model.encoder, built.model.decoder):
        rows = side.embed_tokens.weight[PAD + 1 :].detach()
        assert side.embed_tokens.weight[PAD].count_nonzero() == 0
        assert rows.mean().item() == pytest.approx(0, abs=1e-3)
        assert rows.std().item() == pytest.approx(128**-0.5, rel=0.01)
    for norm in (module for module in built.modules() if isinstance(module, nn.LayerNorm)):
        assert torch.equal(norm.weight, torch.ones(128)) and norm.bias.count_nonzero() == 0
    drawn = [weight for weight in built.parameters() if weight.requires_grad and weight.dim() == 2]
    assert len({weight.flatten()[-1].item() for weight in drawn}) == len(drawn)
    linears = [
        (name.rpartition(".")[2], module)
        for name, module in built.model.named_modules()
        if isinstance(module, nn.Linear)
    ]
    assert len(linears) == 2 * (4 + 2) + 2 * (8 + 2)
    for name, linear in linears:
        xavier = math.sqrt(6 / (linear.in_features + linear.out_features))
        default = linear.in_features**-0.5
        bounds = {"out_proj": xavier, "fc1": default, "fc2": default}
        bound = bounds.get(name, xavier / math.sqrt(2))
        assert 0.99 * bound < linear.weight.abs().max().item() <= bound
        assert linear.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
        largest = linear.bias.abs().max().item()
        assert largest == 0 if name == "out_proj" else 0.9 * default < largest <= default


@pytest.mark.parametrize("changes", [{}, {"embeddings": Alone()}])
def test_the_seed_alone_decides_the_initialisation(changes: dict[str, Any]) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = tiny(**changes).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    second = tiny(**changes).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    other = build(TINY.model_copy(update=changes), VOCABULARY, pad=PAD, eos=EOS, seed=4)
    name = next(name for name in first if ".embed_tokens." in name)
    assert not torch.equal(other.state_dict()[name], first[name])


def test_positions_follow_the_formula_and_are_not_trained() -> None:
    built = tiny(hidden_size=8, feedforward_size=8, attention_heads=2, max_positions=40)
    position = torch.arange(40, dtype=torch.float64)[:, None]
    angle = position / 10000 ** (2 * torch.arange(4, dtype=torch.float64) / 8)
    expected = torch.cat([angle.sin(), angle.cos()], dim=1).float()
    for stack in (built.model.encoder, built.model.decoder):
        assert torch.allclose(stack.embed_positions.weight, expected, atol=1e-6)
        assert not stack.embed_positions.weight.requires_grad


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_hidden_states_are_those_of_pytorchs_layers_with_the_same_weights(norm: str) -> None:
    model = moved(tiny(norm=norm))
    source, target = ids(3, 9), ids(3, 7, seed=1)
    source[1:, 6:] = PAD
    pads, causal = source == PAD, torch.ones(7, 7, dtype=torch.bool).triu(1)
    shape: dict[str, Any] = {"activation": "relu", "batch_first": True, "norm_first": norm == "pre"}
    encoder, decoder = model.model.encoder, model.model.decoder
    with torch.no_grad():
        memory = _embedded(encoder, source)
        for layer in encoder.layers:
            reference = _loaded(nn.TransformerEncoderLayer(128, 4, 512, **shape), layer)
            memory = reference(memory, src_key_padding_mask=pads)
        memory = encoder.layer_norm(memory) if norm == "pre" else memory
        expected = _embedded(decoder, model.prepare_decoder_input_ids_from_labels(target))
        for layer in decoder.layers:
            reference = _loaded(nn.TransformerDecoderLayer(128, 4, 512, **shape), layer)
            expected = reference(expected, memory, causal, memory_key_padding_mask=pads)
        expected = decoder.layer_norm(expected) if norm == "pre" else expected
        for attention in ("eager", "sdpa"):
            model.config._attn_implementation = attention
            states = hidden_states(model, source, target)
            assert torch.allclose(states, expected, atol=1e-4)


def moved(model: MarianMTModel) -> MarianMTModel:
    """The model with other norms than 1 and 0, and stronger layers than at the start."""
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and "embed" not in name and "shared" not in name:
                parameter.add_(0.2 * torch.randn(parameter.shape, generator=random))
    return model.eval()


def _embedded(stack: nn.Module, rows: Tensor) -> Tensor:
    return (
        stack.embed_tokens.weight[rows] * math.sqrt(128)
        + stack.embed_positions.weight[: rows.shape[1]]
    )


def _loaded(reference: nn.Module, layer: nn.Module) -> nn.Module:
    """PyTorch's layer in evaluation mode with the parameters of Marian's."""
    attentions = {"self_attn": layer.self_attn}
    norms = [layer.self_attn_layer_norm, layer.final_layer_norm]
    if hasattr(layer, "encoder_attn"):
        attentions["multihead_attn"] = layer.encoder_attn
        norms.insert(1, layer.encoder_attn_layer_norm)
    state = {}
    for name, attention in attentions.items():
        projections = [attention.q_proj, attention.k_proj, attention.v_proj]
        for kind in ("weight", "bias"):
            state[f"{name}.in_proj_{kind}"] = torch.cat(
                [getattr(part, kind) for part in projections]
            )
            state[f"{name}.out_proj.{kind}"] = getattr(attention.out_proj, kind)
    parts = {"linear1": layer.fc1, "linear2": layer.fc2}
    parts |= {f"norm{number}": norm for number, norm in enumerate(norms, start=1)}
    for name, part in parts.items():
        state |= {f"{name}.{kind}": value for kind, value in part.state_dict().items()}
    reference.load_state_dict(state)
    return reference.eval()
