"""The encoder's states of a finished run, one vector for every sentence and layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.core.progress import Stage
from augury.decoding.search import batches_by_length
from augury.experiments.run import Run
from augury.text.vocabulary import Vocabulary
from augury.training.batching import padded
from trainables.nmt.config import Config
from trainables.nmt.evaluation import prefix
from trainables.nmt.model import trained_model

BATCH_TOKENS = 4096


@torch.inference_mode()
def encoder_states(run: Run, sources: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
    """Return the mean of the states of a source's pieces, (sources, hidden) for the embeddings and every layer.

    Sources are ids without tag and end of sentence, not empty; these two are read, and left out of the mean.
    """
    assert all(sources), "a source without pieces has no states"
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    before, device = prefix(experiment, vocabulary), experiment.execution.local_device
    model = trained_model(run.folder, experiment, vocabulary).to(device)
    longest = max(map(len, sources)) + len(before) + 1
    if longest > experiment.model.max_positions:
        raise UserError(f"a source of {longest} pieces exceeds model.max_positions={experiment.model.max_positions}")
    means: list[NDArray[np.float32]] = []
    with Stage("encoder states", len(sources), "sentences") as stage:
        for rows in batches_by_length(sources, BATCH_TOKENS):
            ids = padded([[*before, *sources[row], vocabulary.eos] for row in rows], vocabulary.pad)
            batch = torch.from_numpy(ids).to(device)
            read = batch != vocabulary.pad
            layers = model.model.encoder(batch, attention_mask=read, output_hidden_states=True).hidden_states
            pieces = (read & (batch != vocabulary.eos))[:, len(before) :, None]
            if not means:
                means = [np.zeros((len(sources), layer.shape[2]), np.float32) for layer in layers]
            for mean, layer in zip(means, layers, strict=True):
                mean[rows] = ((layer[:, len(before) :] * pieces).sum(1) / pieces.sum(1)).cpu().numpy()
            stage.advance(len(rows))
    return means
