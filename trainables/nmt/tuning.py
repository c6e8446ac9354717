"""A pretrained translation model before fine-tuning: embeddings for new pieces."""

from __future__ import annotations

import torch
from transformers import GenerationConfig, PreTrainedModel

from trainables.nmt.pretrained_vocabulary import PretrainedVocabulary


def extended(model: PreTrainedModel, vocabulary: PretrainedVocabulary) -> PreTrainedModel:
    """Return a model with the search that its vocabulary knows, and with embeddings for new
    pieces."""
    # Search is ours: of the model's own settings, only those that say where it begins and ends.
    start = vocabulary.generation.decoder_start_token_id
    model.generation_config = GenerationConfig(
        decoder_start_token_id=model.config.decoder_start_token_id if start is None else start,
        eos_token_id=vocabulary.eos,
        pad_token_id=vocabulary.pad,
    )
    if vocabulary.added:
        add_embeddings(model, vocabulary.constituents())
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
