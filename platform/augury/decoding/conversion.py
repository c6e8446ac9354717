"""Models in CTranslate2's format, for decoding and for other programs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from ctranslate2.converters.transformers import (
    BartLoader,
    M2M100Loader,
    MBartLoader,
    ModelLoader,
    T5Loader,
)
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation
from ctranslate2.specs.model_spec import OPTIONAL
from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec

from augury.core.errors import UserError
from augury.decoding.search import positions

if TYPE_CHECKING:
    from transformers import MarianMTModel, PreTrainedConfig, PreTrainedModel

M = TypeVar("M", bound="PreTrainedModel")


class _Kind(NamedTuple):
    """How CTranslate2 reads a kind of checkpoint."""

    loader: type[ModelLoader]
    pre_norm: bool
    normalised_embeddings: bool


KINDS = {
    "marian": _Kind(BartLoader, False, False),
    "m2m_100": _Kind(M2M100Loader, True, False),
    "mbart": _Kind(MBartLoader, True, True),
    "bart": _Kind(BartLoader, False, True),
    "pegasus": _Kind(BartLoader, True, False),
    "t5": _Kind(T5Loader, True, False),
    "mt5": _Kind(T5Loader, True, False),
}
"""The kinds of checkpoints that can be converted, by model type; NLLB is an M2M-100."""


def to_ctranslate2(
    model: MarianMTModel, directory: str | Path, vocabulary: Sequence[str], *, unk: int
) -> None:
    """Write `model` to `directory` in CTranslate2's format, in 32-bit floats.

    `vocabulary` lists the subwords by id, for sources and targets alike. CTranslate2's own loader
    for Marian is not used, as it starts decoding from a zero embedding instead of
    `decoder_start_token_id`. Raises UserError for other models and for a vocabulary that is not one
    distinct subword per embedding.
    """
    config = model.config
    pieces = list(vocabulary)
    _check_convertible(model, pieces)
    activation = {"relu": Activation.RELU, "swish": Activation.SWISH}[config.activation_function]
    # Only stacks that normalise before their sublayers do so once more at their end.
    pre_norm = hasattr(model.model.encoder, "layer_norm")
    spec = TransformerSpec(
        TransformerEncoderSpec(
            config.encoder_layers,
            config.encoder_attention_heads,
            pre_norm=pre_norm,
            activation=activation,
        ),
        TransformerDecoderSpec(
            config.decoder_layers,
            config.decoder_attention_heads,
            pre_norm=pre_norm,
            activation=activation,
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
        _save(spec, directory)


def reads(settings: PreTrainedConfig) -> bool:
    """Return whether `checkpoint_to_ctranslate2` converts checkpoints with this configuration."""
    sizes = {
        settings.vocab_size,
        getattr(settings, "decoder_vocab_size", None) or settings.vocab_size,
    }
    return (
        settings.model_type in KINDS and len(sizes) == 1 and isinstance(settings.eos_token_id, int)
    )


def checkpoint_to_ctranslate2(model: PreTrainedModel, directory: str | Path) -> None:
    """Write an encoder-decoder that `reads` knows to `directory`.

    Its subwords are named by their ids, `0`, `1`, ..., so that no vocabulary is needed, which
    tokenizers extend and reorder. Sources are ids of its tokenizer without the end of sentence.

    So it needs no vocabulary, which tokenizers extend and reorder. Sources are ids of its tokenizer
    without the end of sentence.
    """
    kind, settings = KINDS[model.config.model_type], model.config
    pieces = [str(index) for index in range(settings.vocab_size)]
    with torch.no_grad():
        weights = _on_cpu(model)
        weights.config.normalize_before = kind.pre_norm
        weights.config.normalize_embedding = kind.normalised_embeddings
        spec = kind.loader().get_model_spec(weights)
        if not getattr(settings, "scale_decoder_outputs", False):
            spec.decoder.scale_outputs = OPTIONAL  # the loader scales those of T5 v1.1 and mT5 too
        spec.register_source_vocabulary(pieces)
        spec.register_target_vocabulary(pieces)
        start = model.generation_config.decoder_start_token_id
        # Neither is ever asked for.
        spec.config.unk_token = spec.config.bos_token = pieces[settings.pad_token_id]
        spec.config.eos_token = pieces[settings.eos_token_id]
        spec.config.decoder_start_token = pieces[
            settings.decoder_start_token_id if start is None else start
        ]
        spec.config.add_source_eos = True
        spec.config.add_attribute("pad_token", pieces[settings.pad_token_id])
        spec.config.add_attribute("max_positions", positions(settings))
        _save(spec, directory)


def _save(spec: TransformerSpec, directory: str | Path) -> None:
    spec.validate()
    spec.optimize()
    Path(directory).mkdir(parents=True, exist_ok=True)
    spec.save(str(directory))


def _check_convertible(model: MarianMTModel, pieces: Sequence[str]) -> None:
    config = model.config
    plain = config.model_type == "marian" and all(
        isinstance(stack.embed_tokens, torch.nn.Embedding)
        for stack in (model.model.encoder, model.model.decoder)
    )
    if not plain or config.activation_function not in ("relu", "swish"):
        raise UserError(
            "CTranslate2 takes Marian models with relu or swish and ordinary embeddings only, not "
            f"this '{config.model_type}' model: decode it with augury.decoding.generate"
        )
    sizes = {len(pieces), len(set(pieces)), config.vocab_size, config.decoder_vocab_size}
    if len(sizes) > 1:
        raise UserError(
            f"the vocabulary has {len(pieces)} pieces, {len(set(pieces))} of them distinct, and "
            f"the model has {config.vocab_size} source and {config.decoder_vocab_size} target "
            "embeddings: give the vocabulary that the model was trained with, all four are equal "
            "there"
        )


def _on_cpu(model: M) -> M:
    """Return the model, or a copy, with 32-bit weights in the memory that CTranslate2 reads."""
    if model.device.type == "cpu" and model.dtype == torch.float32:
        return model
    return copy.deepcopy(model).to("cpu", torch.float32)
