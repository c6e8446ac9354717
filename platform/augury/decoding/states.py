"""States of an encoder: one vector for every sentence and layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from augury.core.progress import Stage
from augury.decoding.search import batches_by_length

if TYPE_CHECKING:
    from transformers import PreTrainedModel

BATCH_TOKENS = 4096


@torch.inference_mode()
def mean_states(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], *, before: int = 0, after: int = 0
) -> list[NDArray[np.float32]]:
    """Return the mean encoder state of every source, (sources, hidden), for embeddings and layers.

    Sources are ids as the encoder of a `transformers` model reads them. The first `before` and the
    last `after` of each are left out of the mean, of which something must remain.
    """
    assert all(len(source) > before + after for source in sources), (
        "a source without pieces has no states"
    )
    encoder, pad = model.get_encoder(), model.config.pad_token_id
    means: list[NDArray[np.float32]] = []
    with Stage("encoder states", len(sources), "sentences") as stage:
        for rows in batches_by_length(sources, BATCH_TOKENS):
            ids = [torch.tensor(sources[row], device=model.device) for row in rows]
            batch = pad_sequence(ids, batch_first=True, padding_value=pad)
            lengths = torch.tensor([[len(source)] for source in ids], device=model.device)
            positions = torch.arange(batch.shape[1], device=model.device)
            read = positions < lengths
            layers = encoder(batch, attention_mask=read, output_hidden_states=True).hidden_states
            counted = ((positions >= before) & (positions < lengths - after)).unsqueeze(2)
            if not means:
                means = [np.zeros((len(sources), layer.shape[2]), np.float32) for layer in layers]
            for mean, layer in zip(means, layers, strict=True):
                mean[rows] = ((layer * counted).sum(1) / counted.sum(1)).cpu().numpy()
            stage.advance(len(rows))
    return means
