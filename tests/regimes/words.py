"""A small classifier of sentences that regimes can attack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.regimes.regime import Embedded, Rows
from augury.training.batching import padded

PAD, VOCABULARY, SIZE = 0, 30, 16


class Batch(NamedTuple):
    ids: Tensor  # (examples, length)
    labels: Tensor  # (examples)


def sentences(count: int, longest: int = 8, seed: int = 0) -> Batch:
    random = np.random.default_rng(seed)
    rows = [random.integers(1, VOCABULARY, random.integers(2, longest + 1)) for _ in range(count)]
    return Batch(
        torch.from_numpy(padded(rows, PAD)), torch.tensor([int(row.sum()) % 3 for row in rows])
    )


class Words:
    """Embeddings, positions, one layer of attention, the mean over the words; three classes."""

    def __init__(self, dropout: float = 0.0):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            layer = nn.TransformerEncoderLayer(SIZE, 2, 32, dropout, batch_first=True)
            self.module: nn.Module = nn.ModuleDict(
                {
                    "words": nn.Embedding(VOCABULARY, SIZE, padding_idx=PAD),
                    "positions": nn.Embedding(32, SIZE),
                    "layer": layer,
                    "head": nn.Linear(SIZE, 3),
                }
            )
        self.perturbations: list[Tensor | None] = []

    def embedded(self, batch: Batch, view: int) -> Embedded:
        return Embedded(self.module["words"](batch.ids).detach(), batch.ids != PAD)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        self.perturbations.append(None if perturbation is None else perturbation.detach())
        mask = batch.ids != PAD
        words = self.module["words"](batch.ids)
        if perturbation is not None:
            words = words + perturbation
        positions = self.module["positions"].weight[: batch.ids.shape[1]]
        states = self.module["layer"](words + positions, src_key_padding_mask=~mask)
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return Rows(mean[None], self.module["head"].weight, self.module["head"].bias, batch.labels)
