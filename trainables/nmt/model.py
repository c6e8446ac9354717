"""The translation transformer: Hugging Face's `MarianMTModel` with fairseq's sizes and
initialisation, or a pretrained model with embeddings for new pieces and updates of low rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    GenerationConfig,
    MarianConfig,
    MarianMTModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedModel,
)
from transformers.initialization import no_init_weights
from transformers.models.pegasus.modeling_pegasus import PegasusDecoder, PegasusEncoder

from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.core.store import Folder
from augury.models.lora import adapt, merged
from augury.models.settings import attention
from augury.training.trained import load_weights
from trainables import sequence
from trainables.nmt.config import Config, ModelConfig, PretrainedTranslator, resolve
from trainables.nmt.embeddings import ComputedEmbedding, install, tabulated
from trainables.nmt.vocabulary import AnyVocabulary, PretrainedVocabulary


def untrained(experiment: Config, vocabulary: AnyVocabulary, seed: int) -> PreTrainedModel:
    """Return the model of an experiment before training, on the CPU and in training mode."""
    if isinstance(vocabulary, PretrainedVocabulary):
        assert isinstance(experiment.model, PretrainedTranslator)
        perturbable = experiment.regime.needs_embeddings
        return pretrained_model(experiment.model, vocabulary, seed=seed, perturbable=perturbable)
    size, pad, eos = len(vocabulary), vocabulary.pad, vocabulary.eos
    return build(experiment.transformer, size, pad=pad, eos=eos, seed=seed)


def trained(experiment: Config, vocabulary: AnyVocabulary, run: Folder) -> PreTrainedModel:
    """Return the model with the weights that a run reports on, in the form of `plain`."""
    if isinstance(vocabulary, PretrainedVocabulary):
        assert isinstance(experiment.model, PretrainedTranslator)
        empty = sequence.empty(vocabulary.config)
        model = _extended(empty, experiment.model, vocabulary, seed=0).eval()
        return plain(load_weights(run, model))
    return plain(load_weights(run, untrained(experiment, vocabulary, seed=0)))


def plain(model: PreTrainedModel) -> PreTrainedModel:
    """Return an equal model as `transformers` knows it: embeddings in tables, updates of low rank
    in the weights; may be `model`."""
    return merged(tabulated(model))


def build(
    config: ModelConfig, vocabulary_size: int, *, pad: int, eos: int, seed: int
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


def parameters(config: ModelConfig, vocabulary_size: int) -> int:
    """Return how many parameters a model would train; nothing of its size is allocated."""
    with torch.device("meta"):
        model = _uninitialised(config, vocabulary_size, pad=0, eos=1)
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _uninitialised(config: ModelConfig, vocabulary_size: int, pad: int, eos: int) -> MarianMTModel:
    with no_init_weights():
        kind = PreNormTranslator if config.norm == "pre" else MarianMTModel
        model = kind(_marian(config, vocabulary_size, pad, eos))
        model.tie_weights()
        if not config.has_tables:
            install(model, config.embeddings)
    return model


def _marian(config: ModelConfig, vocabulary_size: int, pad: int, eos: int) -> MarianConfig:
    sizes = resolve(config)
    return MarianConfig(
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
        attn_implementation=attention(config.attention),
    )


@torch.no_grad()
def _initialise(model: MarianMTModel, pad: int, seed: int) -> None:
    """Initialise as fairseq does: embeddings by N(0, 1/D), pads by zero, norms by 1 and 0, linear
    layers by `_initialise_linear`."""

    def generator(name: str) -> torch.Generator:
        return torch.Generator().manual_seed(seed_of("nmt", "model", seed, name))

    computed = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, ComputedEmbedding)
    }

    def generator_of(prefix: str) -> Callable[[str], torch.Generator]:
        return lambda name: generator(f"{prefix}.{name}")

    for prefix, module in computed.items():
        module.initialise(generator_of(prefix))
    for name, parameter in model.named_parameters():
        if name.startswith(tuple(computed)):
            continue
        if name.endswith("embed_positions.weight"):
            parameter.copy_(_positions(*parameter.shape))
        elif name.endswith(("embed_tokens.weight", "shared.weight")):
            parameter.normal_(0, parameter.shape[1] ** -0.5, generator=generator(name))
            parameter[pad].zero_()
        elif name.endswith("norm.weight"):
            nn.init.ones_(parameter)
        elif name.endswith("norm.bias"):
            nn.init.zeros_(parameter)
        else:
            linear, _, kind = name.rpartition(".")
            fan_in = model.get_submodule(linear).in_features
            _initialise_linear(
                f"{linear.rpartition('.')[2]}.{kind}", parameter, fan_in, generator(name)
            )


def _initialise_linear(
    name: str, parameter: Tensor, fan_in: int, generator: torch.Generator
) -> None:
    """Initialise a weight or bias by its name in its layer.

    Matrices of attention by Xavier, those of queries, keys and values by its 1/√2; the output's
    bias is zero. All else, the feed-forward layers too, by torch's own: uniform in ±1/√fan-in.
    Larger weights beside the residual learn much more slowly under dropout.
    """
    if name == "out_proj.weight":
        nn.init.xavier_uniform_(parameter, generator=generator)
    elif name == "out_proj.bias":
        nn.init.zeros_(parameter)
    elif name in ("q_proj.weight", "k_proj.weight", "v_proj.weight"):
        nn.init.xavier_uniform_(parameter, gain=2**-0.5, generator=generator)
    else:
        bound = fan_in**-0.5
        nn.init.uniform_(parameter, -bound, bound, generator=generator)


def _positions(positions: int, size: int) -> Tensor:
    """The sinusoids of Marian's own initialisation, which computes each value in Python in a
    second."""
    index = np.arange(size)
    angles = np.arange(positions)[:, None] / np.power(10000, 2 * (index // 2) / size)
    return torch.from_numpy(
        np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=1)
    ).float()


def pretrained_model(
    config: PretrainedTranslator,
    vocabulary: PretrainedVocabulary,
    *,
    seed: int,
    perturbable: bool = False,
) -> PreTrainedModel:
    """Return the model before fine-tuning, on the CPU, in training mode and 32-bit floats.

    `seed` determines what is not pretrained; the global random state is left as it was. Raises
    UserError where `sequence.check` does, as for a model of another family.
    """
    directory, tokenizer = vocabulary.directory, vocabulary.tokenizer
    model = sequence.load(config, directory, tokenizer, perturbable=perturbable)
    return _extended(model, config, vocabulary, seed).train()


def _extended(
    model: PreTrainedModel,
    config: PretrainedTranslator,
    vocabulary: PretrainedVocabulary,
    seed: int,
) -> PreTrainedModel:
    # Search is ours: of the model's own settings, only those that say where it begins and ends.
    start = vocabulary.generation.decoder_start_token_id
    model.generation_config = GenerationConfig(
        decoder_start_token_id=model.config.decoder_start_token_id if start is None else start,
        eos_token_id=vocabulary.eos,
        pad_token_id=vocabulary.pad,
    )
    if vocabulary.added:
        if config.lora:
            raise UserError(
                f"model.lora leaves embeddings as they are, and {len(vocabulary.added):,} new "
                "pieces of views need some: set model.new_pieces: 0, or leave out model.lora"
            )
        add_embeddings(model, vocabulary.constituents())
    if config.lora:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("nmt", "lora", seed))
            adapt(model, config.lora)
    return model


@torch.no_grad()
def add_embeddings(model: PreTrainedModel, constituents: list[list[int]]) -> None:
    """Append an embedding for every new piece: the mean of those of its constituents.

    A piece without any has the mean of all embeddings. The output layer is extended alike; the
    others are left as they are.
    """
    size = len(model.get_input_embeddings().weight)
    model.resize_token_embeddings(size + len(constituents), mean_resizing=False)
    if getattr(model.config, "share_encoder_decoder_embeddings", True) is False:
        model.resize_decoder_token_embeddings(size + len(constituents))
    layers = (
        model.get_input_embeddings(),
        model.get_decoder().get_input_embeddings(),
        model.get_output_embeddings(),
    )
    for layer in layers:
        weight = layer.weight
        for row, ids in enumerate(constituents, start=size):
            weight[row] = weight[ids or slice(size)].mean(0)
        if getattr(layer, "bias", None) is not None:
            layer.bias[size:] = 0


@torch.no_grad()
def without_new_pieces(model: PreTrainedModel, size: int) -> PreTrainedModel:
    """Cut the embeddings of a model back to its first `size`; return it."""
    if len(model.get_input_embeddings().weight) > size:
        model.resize_token_embeddings(size)
        if getattr(model.config, "share_encoder_decoder_embeddings", True) is False:
            model.resize_decoder_token_embeddings(size)
    return model


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


def convert(model: PreTrainedModel, vocabulary: AnyVocabulary, directory: Path) -> None:
    """Write a model in CTranslate2's format."""
    # Training without validation by translations runs where CTranslate2 is not installed.
    from augury.decoding.conversion import to_ctranslate2

    if isinstance(vocabulary, PretrainedVocabulary):
        to_ctranslate2(plain(model), directory)
    else:
        to_ctranslate2(plain(model), directory, vocabulary.pieces, unk=vocabulary.unk)
