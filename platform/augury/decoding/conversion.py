"""Models in CTranslate2's format, for decoding and for other programs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from ctranslate2.converters.transformers import (
    BartLoader,
    M2M100Loader,
    MBartLoader,
    ModelLoader,
    T5Loader,
)
from ctranslate2.specs.model_spec import OPTIONAL

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class _Kind(NamedTuple):
    """How CTranslate2 reads a kind of checkpoint."""

    loader: type[ModelLoader]
    pre_norm: bool
    normalised_embeddings: bool


KINDS = {
    # Not by CTranslate2's own loader for Marian, which starts decoding from a zero embedding
    # instead of `decoder_start_token_id`.
    "marian": _Kind(BartLoader, False, False),
    "m2m_100": _Kind(M2M100Loader, True, False),
    "mbart": _Kind(MBartLoader, True, True),
    "bart": _Kind(BartLoader, False, True),
    "pegasus": _Kind(BartLoader, True, False),
    "t5": _Kind(T5Loader, True, False),
    "mt5": _Kind(T5Loader, True, False),
}
"""How CTranslate2 reads the `settings.FAMILIES`."""


def to_ctranslate2(model: PreTrainedModel, directory: str | Path) -> None:
    """Write an encoder-decoder of one of the `settings.FAMILIES` to `directory`, in 32-bit floats.

    Subwords are named by their ids, `0`, `1`, ..., as tokenizers extend and reorder vocabularies.
    Sources are ids without the end of sentence.
    """
    settings, generation = model.config, model.generation_config
    pieces = [str(index) for index in range(settings.vocab_size)]
    kind = KINDS[settings.model_type]
    # Weights in the memory that CTranslate2 reads, and settings that may be added to.
    on_cpu = model.device.type == "cpu" and model.dtype == torch.float32
    weights = copy.copy(model) if on_cpu else copy.deepcopy(model).to("cpu", torch.float32)
    weights.config = copy.deepcopy(settings)
    # Only stacks that normalise before their sublayers do so once more at their end.
    own_pre_norm = settings.model_type == "marian" and hasattr(model.model.encoder, "layer_norm")
    weights.config.normalize_before = kind.pre_norm or own_pre_norm
    weights.config.normalize_embedding = kind.normalised_embeddings
    with torch.no_grad():
        spec = kind.loader().get_model_spec(weights)
        if heads := getattr(settings, "decoder_attention_heads", None):
            spec.decoder.num_heads = np.int16(heads)  # the loader takes those of the encoder
        if not getattr(settings, "scale_decoder_outputs", False):
            spec.decoder.scale_outputs = OPTIONAL  # the loader scales those of T5 v1.1 and mT5 too
        spec.register_source_vocabulary(pieces)
        spec.register_target_vocabulary(pieces)
        pad = pieces[settings.pad_token_id]
        spec.config.unk_token = spec.config.bos_token = pad  # neither is ever asked for
        start = generation.decoder_start_token_id
        if start is None:
            start = settings.decoder_start_token_id
        spec.config.decoder_start_token = pieces[start]
        spec.config.eos_token = pieces[settings.eos_token_id]
        spec.config.add_source_eos = True
        spec.config.add_attribute("pad_token", pad)
        spec.validate()
        spec.optimize()
        Path(directory).mkdir(parents=True, exist_ok=True)
        spec.save(str(directory))
