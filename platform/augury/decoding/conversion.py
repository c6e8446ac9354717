"""Models in CTranslate2's format, for `CTranslateDecoder` and other programs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from ctranslate2.converters.transformers import BartLoader
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation
from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec

from augury.core.errors import UserError

if TYPE_CHECKING:
    from transformers import MarianMTModel


def to_ctranslate2(model: MarianMTModel, directory: str | Path, vocabulary: Sequence[str], *, unk: int) -> None:
    """Write `model` to `directory` in CTranslate2's format, in 32-bit floats.

    `vocabulary` is the piece of each id, for sources and targets alike. CTranslate2's own loader for Marian
    is not used: it starts decoding from a zero embedding, where this starts from `decoder_start_token_id`.
    Raises UserError for other models and for a vocabulary that is not one distinct piece per embedding.
    """
    config = model.config
    pieces = list(vocabulary)
    _check_convertible(model, pieces)
    activation = {"relu": Activation.RELU, "swish": Activation.SWISH}[config.activation_function]
    spec = TransformerSpec(
        TransformerEncoderSpec(
            config.encoder_layers, config.encoder_attention_heads, pre_norm=False, activation=activation
        ),
        TransformerDecoderSpec(
            config.decoder_layers, config.decoder_attention_heads, pre_norm=False, activation=activation
        ),
    )
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token = pieces[unk]
    spec.config.eos_token = pieces[config.eos_token_id]
    spec.config.decoder_start_token = pieces[config.decoder_start_token_id]
    spec.config.add_source_eos = True
    spec.config.add_attribute("pad_token", pieces[config.pad_token_id])
    spec.config.add_attribute("max_positions", config.max_position_embeddings)

    with torch.no_grad():
        weights = _on_cpu(model)
        loader = BartLoader()
        loader.set_encoder(spec.encoder, weights.model.encoder)
        loader.set_decoder(spec.decoder, weights.model.decoder)
        loader.set_linear(spec.decoder.projection, weights.lm_head)
        if weights.final_logits_bias.any():
            spec.decoder.projection.bias = weights.final_logits_bias.squeeze(0)
        spec.validate()
        spec.optimize()
        Path(directory).mkdir(parents=True, exist_ok=True)
        spec.save(str(directory))


def _check_convertible(model: MarianMTModel, pieces: Sequence[str]) -> None:
    config = model.config
    plain = config.model_type == "marian" and all(
        isinstance(stack.embed_tokens, torch.nn.Embedding) for stack in (model.model.encoder, model.model.decoder)
    )
    if not plain or config.activation_function not in ("relu", "swish"):
        raise UserError(
            "CTranslate2 takes Marian models with relu or swish and ordinary embeddings only, not this "
            f"'{config.model_type}' model: decode it with augury.decoding.generate"
        )
    sizes = {len(pieces), len(set(pieces)), config.vocab_size, config.decoder_vocab_size}
    if len(sizes) > 1:
        raise UserError(
            f"the vocabulary has {len(pieces)} pieces, {len(set(pieces))} of them distinct, and the model "
            f"has {config.vocab_size} source and {config.decoder_vocab_size} target embeddings: "
            f"give the vocabulary that the model was trained with, all four are equal there"
        )


def _on_cpu(model: MarianMTModel) -> MarianMTModel:
    """Return `model` itself, or a copy of it, with 32-bit weights in the memory that CTranslate2 reads."""
    if model.device.type == "cpu" and model.dtype == torch.float32:
        return model
    return copy.deepcopy(model).to("cpu", torch.float32)
