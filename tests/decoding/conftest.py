from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import MarianMTModel

from tests.learning import learn
from trainables.nmt.config import ModelSettings
from trainables.nmt.model import build
from trainables.sequence import head, hidden_states

PAD, EOS, FIRST, VOCABULARY = 1, 2, 3, 48


def _pairs(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Sentences of 1 to 11 pieces and the same with every piece renamed, ended and padded."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 12, (rows, 1), generator=generator)
    source = torch.randint(FIRST, VOCABULARY, (rows, 12), generator=generator)
    target = source * 7 % (VOCABULARY - FIRST) + FIRST
    position = torch.arange(12)
    pair = [side.masked_fill(position == lengths, EOS) for side in (source, target)]
    source, target = (side.masked_fill(position > lengths, PAD) for side in pair)
    return source, target


@pytest.fixture(scope="session")
def trained() -> MarianMTModel:
    """A model that has begun to learn to rename pieces: neither flat nor certain, and ending
    sentences."""
    layers = {"encoder_layers": 1, "decoder_layers": 1, "attention_heads": 2}
    sizes = {"hidden_size": 32, "feedforward_size": 64, "max_positions": 64}
    config = ModelSettings.model_validate(
        {"architecture": "tiny", "dropout": 0.0, **layers, **sizes}
    )
    model = build(config, VOCABULARY, pad=PAD, eos=EOS, seed=1)
    seeds = itertools.count()

    def loss() -> Tensor:
        source, target = _pairs(64, seed=next(seeds))
        logits = (hidden_states(model, source, target) @ head(model)[0].T).flatten(0, 1)
        return cross_entropy(logits, target.flatten(), ignore_index=PAD, label_smoothing=0.1)

    learn(model, loss, rate=3e-3, until=lambda loss: loss < 3.3)  # before the first update: 4.5
    return model.eval()


@pytest.fixture(scope="session")
def sources() -> list[list[int]]:
    rows, _ = _pairs(64, seed=1000)
    return [[index for index in row if index >= FIRST] for row in rows.tolist()]
