"""A pretrained model before fine-tuning: new embeddings for new pieces, updates of low rank."""

from __future__ import annotations

import torch
from transformers import GenerationConfig, PreTrainedModel

from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.core.store import Folder
from augury.models.lora import adapt
from trainables import sequence
from trainables.nmt.architecture import PretrainedTranslator
from trainables.nmt.config import Config
from trainables.nmt.subwords import PretrainedVocabulary
from trainables.nmt.vocabulary import positions


def check(experiment: Config, config: PretrainedTranslator, folder: Folder) -> None:
    """Raise UserError for a model that cannot translate, by its configuration and tokenizer.

    Its vocabulary is in `folder`.
    """
    vocabulary = PretrainedVocabulary.load(folder)
    if not vocabulary.config.is_encoder_decoder:
        raise UserError(
            f"'{config.name}' ({vocabulary.config.model_type}) is no encoder-decoder: take a model "
            "of the families of Marian, M2M-100, mBART-50 or T5"
        )
    around = max(len(vocabulary.before), len(vocabulary.first)) + 1
    most = positions(experiment, vocabulary) - around
    if experiment.max_pieces > most:
        raise UserError(
            f"max_pieces={experiment.max_pieces} and the symbols around a text exceed the "
            f"positions of '{config.name}': set max_pieces to {most:,} at most"
        )


def build(
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
    model = sequence.load(config, vocabulary.directory)
    sequence.check(model, vocabulary.tokenizer, config.name, perturbable=perturbable)
    return _extended(model, config, vocabulary, seed).train()


def empty(config: PretrainedTranslator, vocabulary: PretrainedVocabulary) -> PreTrainedModel:
    """Return the model in evaluation mode with random weights, to be replaced by those of a run."""
    return _extended(sequence.empty(vocabulary.config), config, vocabulary, seed=0).eval()


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
