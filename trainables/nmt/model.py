"""The translation transformer: Hugging Face's `MarianMTModel` with fairseq's sizes and
initialisation."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    MarianConfig,
    MarianMTModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
)
from transformers.initialization import no_init_weights
from transformers.models.pegasus.modeling_pegasus import PegasusDecoder, PegasusEncoder

from augury.core.rng import seed_of
from augury.models.settings import attention
from trainables.nmt.config import ModelSettings
from trainables.nmt.embeddings import computed, install


def build(
    config: ModelSettings, vocabulary_size: int, *, pad: int, eos: int, seed: int
) -> MarianMTModel:
    """Return a freshly initialised model on the CPU, in training mode.

    ReLU, sinusoidal positions, embeddings scaled by the root of the hidden size;
    decoding starts from `eos`, as in fairseq. `final_logits_bias` is a buffer of zeros. A parameter
    is determined by `seed`, its name and its shape; the global random state is left as it was.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        model = _uninitialised(config, vocabulary_size, pad, eos)
    _initialise(model, pad, seed)
    return model.train()


def _uninitialised(
    config: ModelSettings, vocabulary_size: int, pad: int, eos: int
) -> MarianMTModel:
    sizes = config.sizes
    marian = MarianConfig(
        vocab_size=vocabulary_size,
        decoder_vocab_size=vocabulary_size,
        max_position_embeddings=config.max_positions,
        d_model=sizes.hidden_size,
        encoder_layers=sizes.encoder_layers,
        decoder_layers=sizes.decoder_layers,
        encoder_ffn_dim=sizes.feedforward_size,
        decoder_ffn_dim=sizes.feedforward_size,
        encoder_attention_heads=sizes.attention_heads,
        decoder_attention_heads=sizes.attention_heads,
        dropout=sizes.dropout,
        attention_dropout=sizes.attention_dropout,
        activation_dropout=sizes.activation_dropout,
        activation_function="relu",
        scale_embedding=True,
        # The decoder's input and output embeddings are always tied; by default the source's would
        # be too.
        tie_word_embeddings=True,
        share_encoder_decoder_embeddings=config.share_all_embeddings,
        pad_token_id=pad,
        eos_token_id=eos,
        decoder_start_token_id=eos,
        bos_token_id=None,
        forced_eos_token_id=None,
        attn_implementation=attention(),
    )
    with no_init_weights():
        model = (PreNormTranslator if config.norm == "pre" else MarianMTModel)(marian)
        model.tie_weights()
        if not config.has_tables:
            install(model, config.embeddings)
    return model


@torch.no_grad()
def _initialise(model: MarianMTModel, pad: int, seed: int) -> None:
    """Initialise as fairseq does: embeddings by N(0, 1/D), pads by zero, norms by 1 and 0.

    Matrices of attention by Xavier, those of queries, keys and values by its 1/√2; the output's
    bias is zero. All else, the feed-forward layers too, by torch's own: uniform in ±1/√fan-in.
    """

    def generator(*name: str) -> torch.Generator:
        return torch.Generator().manual_seed(seed_of("nmt", "model", seed, ".".join(name)))

    embeddings = computed(model)
    for prefix, module in embeddings.items():
        module.initialise(partial(generator, prefix))
    for name, parameter in model.named_parameters():
        if name.startswith(tuple(embeddings)):
            continue
        if name.endswith("embed_positions.weight"):
            parameter.copy_(_positions(*parameter.shape))
        elif name.endswith(("embed_tokens.weight", "shared.weight")):
            parameter.normal_(0, parameter.shape[1] ** -0.5, generator=generator(name))
            parameter[pad].zero_()
        elif name.endswith("norm.weight"):
            nn.init.ones_(parameter)
        elif name.endswith(("norm.bias", "out_proj.bias")):
            nn.init.zeros_(parameter)
        elif name.endswith("out_proj.weight"):
            nn.init.xavier_uniform_(parameter, generator=generator(name))
        elif name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight")):
            nn.init.xavier_uniform_(parameter, gain=2**-0.5, generator=generator(name))
        else:
            # Larger weights beside the residual learn much more slowly under dropout.
            bound = model.get_submodule(name.rpartition(".")[0]).in_features ** -0.5
            nn.init.uniform_(parameter, -bound, bound, generator=generator(name))


def _positions(positions: int, size: int) -> Tensor:
    """The sinusoids of Marian's own initialisation, which computes each value in Python in a
    second."""
    index = np.arange(size)
    angles = np.arange(positions)[:, None] / np.power(10000, 2 * (index // 2) / size)
    return torch.from_numpy(
        np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=1)
    ).float()


class PreNormTranslator(MarianMTModel):
    """Marian with the stacks of Pegasus, whose parameters have the same names: normalisation is
    before every sublayer and after the last one."""

    def __init__(self, config: MarianConfig):
        super().__init__(config)
        self.model.encoder, self.model.decoder = PegasusEncoder(config), PegasusDecoder(config)


@torch.no_grad()
def known_elsewhere(model: PreTrainedModel) -> PreTrainedModel:
    """Return an equal model of a class that `transformers` loads by itself; may be `model`."""
    if not isinstance(model, PreNormTranslator):
        return model
    shared = model.config.share_encoder_decoder_embeddings
    settings = {
        key: value
        for key, value in model.config.to_dict().items()
        if key != "model_type" and hasattr(PegasusConfig, key)
    }
    with no_init_weights():
        pegasus = PegasusForConditionalGeneration(
            PegasusConfig(**settings | {"tie_word_embeddings": shared})
        )
    state = model.state_dict()
    # Without tied embeddings, Pegasus has a matrix that it does not read.
    state.setdefault("model.shared.weight", state["model.encoder.embed_tokens.weight"])
    pegasus.load_state_dict({name: tensor.clone() for name, tensor in state.items()})
    pegasus.tie_weights()
    return pegasus.train(model.training)
